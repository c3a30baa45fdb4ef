"""Exports of linear scorers and networks over HTTP: paths, archives and errors are those of forests."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable

import pytest

from core.export import FORMATS
from core.scorers import write_network
from core.store import Model, Store
from core.store.artifacts.keys import model_key
from tests.app.conftest import FEATURE_NAMES, TestClient
from tests.core.scorers.networks import random_network

AddModel = Callable[..., Model]
AddNetwork = Callable[..., Model]


@pytest.fixture
def add_network(store: Store, add_model: AddModel) -> AddNetwork:
    """Record a version of a model that is a linear scorer, or a network with hidden layers."""

    def add(name: str, hidden: tuple[int, ...] = (), **inputs: object) -> Model:
        content = write_network(random_network(len(FEATURE_NAMES), hidden, **inputs))  # type: ignore[arg-type]
        model = add_model(name)
        store.artifacts.write_bytes(model_key(model.id), content)
        with store.begin() as tx:
            tx.models.get(model.id).sha256 = hashlib.sha256(content).hexdigest()
        return model

    return add


@pytest.mark.long
@pytest.mark.parametrize("hidden", [(), (4,)])
def test_every_format_that_fits_is_exported(
    client: TestClient, add_network: AddNetwork, hidden: tuple[int, ...]
) -> None:
    """Each parity report is exact; the catalogue lists the formats of a kind of model."""
    add_network("net", hidden)
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


def test_an_archive_has_the_parity_report(client: TestClient, add_network: AddNetwork) -> None:
    """The archive has the report that `export/parity` returns; a request with its ETag gets 304."""
    add_network("net", (4,))
    response = client.get("/v1/models/net/export/archive?format=c")
    packed = zipfile.ZipFile(io.BytesIO(response.content))
    assert (
        json.loads(packed.read("parity.json")) == client.get("/v1/models/net/export/parity?format=c").json()
    )
    assert b'"rankery"' in packed.read("golden.jsonl")
    again = client.get(
        "/v1/models/net/export/archive?format=c", headers={"If-None-Match": response.headers["etag"]}
    )
    assert again.status_code == 304


def test_formats_of_other_models_are_pointed_at(client: TestClient, add_network: AddNetwork) -> None:
    """The error points at `format` and lists the suitable formats, also if the request names no format."""
    add_network("net", (4,))
    for query in ("", "?format=ranklib", "?format=elasticsearch-linear"):
        response = client.get(f"/v1/models/net/export{query}")
        assert response.status_code == 422
        (error,) = response.json()["errors"]
        assert error["pointer"] == "/format"
        assert "use one of vespa, solr, onnx, c, python, safetensors" in error["detail"]


def test_a_network_that_cannot_be_expressed_is_refused(client: TestClient, add_network: AddNetwork) -> None:
    """The error names the unsupported layer norm and a format that supports it."""
    add_network("net", (4,), layer_norm=True)
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
