"""Exports of linear scorers and networks over HTTP."""

import io
import json
import zipfile
from collections.abc import Callable

import pytest

from core.export import FORMATS
from core.store import Model
from tests.app.conftest import TestClient
from tests.core.scorers.networks import random_network

AddNetwork = Callable[..., Model]


@pytest.mark.long
@pytest.mark.parametrize("hidden", [(), (4,)])
def test_every_format_that_fits_is_exported(
    client: TestClient, add_network: AddNetwork, hidden: tuple[int, ...]
) -> None:
    """Each parity report is exact; the catalogue lists the formats of a kind of model."""
    add_network("net", random_network(3, hidden))
    kind = "mlp" if hidden else "linear"
    items = client.get(f"/v1/export-formats?scorer={kind}").json()["items"]
    assert [item["name"] for item in items] == list(FORMATS[kind])
    for item in items:
        body = {"format": item["name"]}
        if item["name"] == "vespa":
            body["feature_names"] = {"age/days": "age"}
        if "never_missing" in item["options"]:
            body["never_missing"] = True
        response = client.post("/v1/models/net/export", json=body)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith(item["media_type"])
        assert response.headers["content-disposition"].endswith(f'net-1-{item["filename"]}"')
        report = client.post("/v1/models/net/export/parity", json=body).json()
        assert (report["exact"], report["scorer"], report["trees"]) == (True, kind, 0)
        (engine,) = report["engines"]
        assert engine["edge_cases"]["differing_documents"] == 0
        assert engine["neighbours"]["decisions"] == 0


def test_an_archive_has_the_parity_report_and_scores(client: TestClient, add_network: AddNetwork) -> None:
    """The archive has the report that `export/parity` returns, and the scores of the service."""
    add_network("net", random_network(3, (4,)))
    response = client.get("/v1/models/net/export/archive?format=c")
    packed = zipfile.ZipFile(io.BytesIO(response.content))
    assert (
        json.loads(packed.read("parity.json")) == client.get("/v1/models/net/export/parity?format=c").json()
    )
    assert b'"rankery"' in packed.read("golden.jsonl")


def test_formats_of_other_kinds_of_models_are_refused(client: TestClient, add_network: AddNetwork) -> None:
    """The error has the pointer `/format` and lists the suitable formats, also if no format is requested."""
    add_network("net", random_network(3, (4,)))
    for query in ("", "?format=ranklib", "?format=elasticsearch-linear"):
        response = client.get(f"/v1/models/net/export{query}")
        assert response.status_code == 422
        (error,) = response.json()["errors"]
        assert error["pointer"] == "/format"
        assert "use one of vespa, solr, onnx, c, python, safetensors" in error["detail"]


def test_a_network_that_cannot_be_expressed_is_refused(client: TestClient, add_network: AddNetwork) -> None:
    """The error names the unsupported layer norm and a format that supports it."""
    add_network("net", random_network(3, (4,), layer_norm=True))
    response = client.get("/v1/models/net/export?format=solr")
    assert (response.status_code, response.json()["type"]) == (422, "/problems/unfit-model")
    assert "the layer norm" in response.json()["detail"]
    assert "export the model as onnx" in response.json()["detail"]


def test_trees_are_the_default_of_formats(client: TestClient) -> None:
    """Without `scorer`, the catalogue lists the formats of trees, as in earlier releases."""
    sums = client.get("/v1/export-formats?scorer=sum").json()["items"]
    assert [one["name"] for one in sums] == ["vespa", "onnx", "c", "python", "safetensors"]
    trees = client.get("/v1/export-formats?scorer=trees").json()
    assert client.get("/v1/export-formats").json() == trees
    assert client.get("/v1/export-formats?scorer=magic").status_code == 422
