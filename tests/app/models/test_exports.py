"""Exports over HTTP: the file, the archive, the parity report, and the catalogue of formats."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.models.exports import MAX_DOCUMENTS
from core.data import RankingDataset, write_parquet
from core.data.query_index import write_query_index
from core.export import TREE_FORMATS
from core.store import Model, Store
from core.store.artifacts.keys import model_key, queries_key
from tests.app.conftest import FEATURE_NAMES, TestClient

AddModel = Callable[..., Model]
AddDataset = Callable[..., str]
# "age/days" is a division to Vespa.
NAMED = {"feature_names": {"bm25": "bm25(title)", "age/days": "attribute(age)"}}


@pytest.fixture
def add_dataset(store: Store) -> AddDataset:
    """Function that stores datasets as a worker does and returns their ids."""

    def add(queries: int = 3, documents: int = 4, names: list[str] = FEATURE_NAMES) -> str:
        random, rows = np.random.default_rng(0), queries * documents
        dataset = RankingDataset.from_arrays(
            random.random((rows, len(names))),
            random.integers(3, size=rows),
            np.arange(0, rows + 1, documents),
            feature_names=names,
        )
        with store.begin() as tx:
            row = tx.datasets.add("judged", {"kind": "upload", "filename": "x", "format": "letor"})
            key = f"data/{row.id}/data.parquet"
            tx.datasets.mark_ready(row.id, statistics={"documents": rows}, digest=row.id, data_key=key)
        with store.artifacts.writing(key) as file:
            write_parquet(dataset, file)
        with store.artifacts.writing(queries_key(key)) as file:
            write_query_index(dataset, file)
        return row.id

    return add


def _parity(client: TestClient, query: str = "format=solr") -> dict[str, Any]:
    response = client.get(f"/v1/models/web/export/parity?{query}")
    assert response.status_code == 200, response.text
    report: dict[str, Any] = response.json()
    return report


@pytest.mark.long
def test_each_format_has_its_file_name_and_media_type(
    client: TestClient, store: Store, add_model: AddModel, openapi_document: dict[str, Any]
) -> None:
    """The file is named after the model and its version; the default format is LightGBM's text."""
    model = add_model("web")
    plain = client.get("/v1/models/web/export")
    assert plain.content == store.artifacts.read_bytes(model_key(model.id))
    assert plain.headers["content-disposition"] == 'attachment; filename="web-1-model.txt"'
    operation = openapi_document["paths"]["/v1/models/{ref}/export"]["get"]
    documented = operation["responses"]["200"]["content"]
    for name, target in TREE_FORMATS.items():
        if name != "vespa":
            response = client.get(f"/v1/models/web/export?format={name}")
            assert response.status_code == 200, response.text
            assert response.headers["content-type"].startswith(target.media_type)
            assert target.media_type.partition(";")[0] in documented
            assert response.headers["content-disposition"].endswith(f'web-1-{target.filename}"')
    solr = client.get("/v1/models/web/export?format=solr&score_shift=true&feature_set=shop").json()
    assert (solr["name"], solr["store"]) == ("web-1", "shop")
    assert len(solr["params"]["trees"]) == 3


@pytest.mark.long
def test_an_export_is_conditional(client: TestClient, add_model: AddModel) -> None:
    """A request with the ETag of the file, the archive or the parity report gets 304."""
    add_model("web")
    for path in ("export?format=c", "export/archive?format=onnx", "export/parity?format=solr"):
        etag = client.get(f"/v1/models/web/{path}").headers["etag"]
        again = client.get(f"/v1/models/web/{path}", headers={"If-None-Match": etag})
        assert again.status_code == 304


@pytest.mark.long
@pytest.mark.parametrize("part", ["", "/archive", "/parity"])
def test_head_checks_an_export_without_making_it(
    client: TestClient,
    add_model: AddModel,
    add_dataset: AddDataset,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
) -> None:
    """HEAD has the media type and the file name of GET, and refuses the same formats, models and datasets."""
    add_model("web")
    url = f"/v1/models/web/export{part}?format=solr"
    got = client.get(url)
    monkeypatch.setattr("app.models.export_routes._at_low_priority", None)
    head = client.head(url)
    assert (head.status_code, head.content, head.headers.get("content-length")) == (200, b"", None)
    for name in ("content-type", "cache-control", "content-disposition"):
        assert head.headers.get(name) == got.headers.get(name)
    assert client.head(f"/v1/models/other/export{part}").status_code == 404
    assert client.head(f"/v1/models/web/export{part}?format=word").status_code == 422
    assert client.head(f"/v1/models/web/export{part}?format=c&feature_set=x").status_code == 422
    if part:
        assert client.head(f"{url}&dataset_id=ds_none").status_code == 404
        assert client.head(f"{url}&dataset_id={add_dataset()}").status_code == 200


def test_features_get_the_engines_names(client: TestClient, add_model: AddModel) -> None:
    """Names are sent by POST, because they may be too long for a URL."""
    add_model("web")
    refused = client.get("/v1/models/web/export?format=vespa")
    assert refused.status_code == 422
    assert "'age/days' is neither a rank feature" in refused.json()["errors"][0]["detail"]
    response = client.post("/v1/models/web/export", json={"format": "vespa", **NAMED})
    assert response.json()["feature_names"] == ["bm25(title)", "pagerank", "attribute(age)"]
    report = client.post("/v1/models/web/export/parity", json={"format": "vespa", **NAMED}).json()
    assert report["options"] == NAMED
    packed = client.post("/v1/models/web/export/archive", json={"format": "vespa", **NAMED})
    (golden, *_) = zipfile.ZipFile(io.BytesIO(packed.content)).read("golden.jsonl").decode().splitlines()
    assert list(json.loads(golden)["features"]) == ["bm25(title)", "pagerank", "attribute(age)"]


@pytest.mark.long
def test_parity_is_compared_on_the_test_dataset(
    client: TestClient, add_model: AddModel, add_dataset: AddDataset
) -> None:
    """Without a test dataset, parity is compared on the training dataset; any other may be named."""
    training, test, other = add_dataset(), add_dataset(5), add_dataset(2)
    model = add_model("web", training, test_dataset_id=test)
    report = _parity(client)
    assert report["model"] == {"id": model.id, "name": "web", "version": 1}
    assert report["dataset_id"] == test
    assert report["exact"]
    (engine,) = report["engines"]
    assert (engine["data"]["queries"], engine["data"]["documents"]) == (5, 20)
    assert engine["data"]["leaves"] == 40
    assert engine["slack_residue"] == {"splits": 0, "widest_range": 0.0}
    assert _parity(client, f"format=c&dataset_id={other}")["engines"][0]["data"]["queries"] == 2
    client.delete(f"/v1/datasets/{test}")
    assert _parity(client)["dataset_id"] == training


@pytest.mark.long
def test_without_a_dataset_the_parity_report_has_a_note(client: TestClient, add_model: AddModel) -> None:
    """Thresholds are compared, and the golden vectors are synthetic."""
    add_model("web")
    report = _parity(client)
    assert report["dataset_id"] is None
    assert report["engines"][0]["data"] is None
    assert report["engines"][0]["neighbours"]["decisions"] > 0
    assert "No dataset was compared: the model has no dataset that can be read" in report["notes"][-1]
    packed = client.get("/v1/models/web/export/archive?format=solr").content
    assert b'"id": "synthetic-1"' in zipfile.ZipFile(io.BytesIO(packed)).read("golden.jsonl")


@pytest.mark.long
@pytest.mark.parametrize(
    ("queries", "documents", "read"), [(4, 3000, 9000), (1, 10_001, 10_000), (1, 10_000, 10_000)]
)
def test_parity_is_compared_on_a_limited_number_of_documents(
    client: TestClient,
    add_model: AddModel,
    add_dataset: AddDataset,
    queries: int,
    documents: int,
    read: int,
) -> None:
    """Whole queries are read, or the first documents of a query that is too large."""
    add_model("web", add_dataset(queries, documents))
    data = _parity(client)["engines"][0]["data"]
    assert data["documents"] == read <= MAX_DOCUMENTS
    assert data["queries"] == max(1, read // documents)


def test_an_archive_has_the_parity_report(
    client: TestClient, add_model: AddModel, add_dataset: AddDataset
) -> None:
    """The archive has the parity report that `export/parity` returns."""
    add_model("web", add_dataset())
    response = client.get("/v1/models/web/export/archive?format=solr&score_shift=1")
    assert response.headers["content-type"] == "application/zip"
    assert response.headers["content-disposition"] == 'attachment; filename="web-1-solr.zip"'
    packed = zipfile.ZipFile(io.BytesIO(response.content))
    assert json.loads(packed.read("parity.json")) == _parity(client, "format=solr&score_shift=1")
    assert packed.read("model.json") == client.get("/v1/models/web/export?format=solr&score_shift=1").content


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "status", "pointer"),
    [
        ("export?format=pmml", 422, "/format"),
        ("export?format=solr&target_version=new", 422, "/target_version"),
        ("export?format=solr&colour=red", 422, "/colour"),
        ("export?format=solr&dataset_id=ds_1", 422, "/dataset_id"),
        ("export?format=c&score_shift=true", 422, "/score_shift"),
        ("export?format=solr&score_shift=perhaps", 422, "/score_shift"),
        ("export?format=solr&model_name=a%20b", 422, "/model_name"),
        ("export/parity?format=solr&dataset_id=ds_1", 404, None),
        ("export/archive?dataset_id=%00", 422, "/dataset_id"),
    ],
)
def test_the_error_of_a_bad_request_has_its_pointer(
    client: TestClient, add_model: AddModel, path: str, status: int, pointer: str | None
) -> None:
    """The error points at the name of the option."""
    add_model("web")
    response = client.get(f"/v1/models/web/{path}")
    assert response.status_code == status
    if pointer:
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert client.get(f"/v1/models/none/{path}").status_code in (404, 422)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"format": "solr", "score_shift": "true"}, "/score_shift"),
        ({"format": "solr", "feature_names": {"bm26": "x"}}, "/feature_names/bm26"),
        ({"format": "solr", "feature_names": {"age/days": ""}}, "/feature_names/age~1days"),
        ({"format": "solr", "feature_names": {"bm25": 1}}, "/feature_names/bm25"),
        ({"format": "solr", "feature_names": ["bm25"]}, "/feature_names"),
    ],
)
def test_the_error_of_a_bad_name_has_its_pointer(
    client: TestClient, add_model: AddModel, body: dict[str, Any], pointer: str
) -> None:
    """The error points at the name in the body."""
    add_model("web")
    for path in ("export", "export/archive", "export/parity"):
        response = client.post(f"/v1/models/web/{path}", json=body)
        assert response.status_code == 422
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_a_dataset_that_lacks_features_is_refused_where_it_is_named(
    client: TestClient, add_model: AddModel, add_dataset: AddDataset
) -> None:
    """A dataset of the model that lacks features is skipped instead."""
    other = add_dataset(names=["bm25", "colour"])
    add_model("web", other)
    response = client.get(f"/v1/models/web/export/parity?format=c&dataset_id={other}")
    assert (response.status_code, response.json()["type"]) == (422, "/problems/features-absent")
    assert "pagerank" in response.json()["detail"]
    assert _parity(client)["dataset_id"] is None


def test_a_model_that_cannot_be_expressed_is_refused(
    client: TestClient, store: Store, add_model: AddModel
) -> None:
    """The error names the split and a remedy."""
    model = add_model("web")
    text = store.artifacts.read_bytes(model_key(model.id)).decode()
    missing = text.replace("decision_type=2 2", "decision_type=8 8")  # NaN goes right
    store.artifacts.write_bytes(model_key(model.id), missing.encode())
    with store.begin() as tx:
        tx.models.get(model.id).sha256 = hashlib.sha256(missing.encode()).hexdigest()
    response = client.get("/v1/models/web/export?format=ranklib")
    assert (response.status_code, response.json()["type"]) == (422, "/problems/unfit-model")
    assert "'bm25' <=" in response.json()["detail"]
    assert "never_missing" in response.json()["detail"]
    assert client.get("/v1/models/web/export?format=ranklib&never_missing=true").status_code == 200


def test_formats_are_listed(client: TestClient) -> None:
    """Each format has its options and limits."""
    items = client.get("/v1/export-formats").json()["items"]
    assert [item["name"] for item in items] == list(TREE_FORMATS)
    for item in items:
        assert set(item["options"]) == TREE_FORMATS[item["name"]].options
        assert item["limits"] == list(TREE_FORMATS[item["name"]].limits)
