"""One dataset of several files below data roots."""

from pathlib import Path
from typing import Any

import fsspec
import pytest

from app import ApiSettings
from core.store import Store
from tests.app.conftest import TestClient
from tests.invalid_datasets import mark_invalid
from tests.servers import S3Server

ROW = "1 qid:1 1:0.5\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Data root with a folder of three files, and the marker and checksum files of their writer."""
    folder = tmp_path / "corpora" / "clicks"
    folder.mkdir(parents=True)
    for name in ("part-10.txt", "part-2.txt", "part-1.txt", "_SUCCESS", ".part-1.txt.crc"):
        (folder / name).write_text(ROW)
    return folder.parent


@pytest.fixture
def settings(settings: ApiSettings, root: Path) -> ApiSettings:
    """Settings that allow the folder."""
    return settings.model_copy(update={"data_roots": [root]})


def test_files_become_one_dataset(client: TestClient) -> None:
    """One job reads the files, and the source names them in natural order."""
    response = client.post("/v1/datasets/folders", json={"folder": "clicks", "files": "part-*"})
    assert response.status_code == 202
    dataset = response.json()
    assert response.headers["location"] == f"/v1/datasets/{dataset['id']}"
    assert (dataset["name"], dataset["parts"]) == ("clicks/part-*", None)
    assert dataset["size_bytes"] == 3 * len(ROW)
    assert dataset["source"].pop("modified").endswith("+00:00")
    assert dataset["source"] == {
        "kind": "folder",
        "folder": "clicks",
        "files": "part-*",
        "filenames": ["part-1.txt", "part-2.txt", "part-10.txt"],
        "format": "auto",
    }
    assert len(client.get("/v1/jobs").json()["items"]) == 1


def test_options_are_those_of_an_upload(client: TestClient, store: Store) -> None:
    """The options are stored for the worker, and extended when the files are read again."""
    body = {
        "folder": "clicks",
        "files": "part-?.txt",
        "name": "May",
        "format": "csv",
        "columns": {"label": "clicked", "query": "search", "ignore": ["age"]},
        "non_contiguous_queries": "error",
        "feature_names": {"x": "bm25"},
    }
    dataset = client.post("/v1/datasets/folders", json=body).json()
    source = dataset["source"]
    assert (dataset["name"], source["format"], len(source["filenames"])) == ("May", "csv", 2)
    assert source["options"] == {
        name: body[name] for name in ("columns", "non_contiguous_queries", "feature_names")
    }
    with store.begin() as tx:
        mark_invalid(tx, dataset["id"], {"title": "no", "detail": "no"})
    again = client.post(f"/v1/datasets/{dataset['id']}/read-again", json={"ignore": ["price"]}).json()
    assert again["source"]["options"]["columns"]["ignore"] == ["age", "price"]
    assert again["source"]["filenames"] == source["filenames"]


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ({"files": "train-*"}, "/files", "matches no file"),
        ({"files": "../part-*"}, "/files", "must be a pattern of names of files"),
        ({"files": "part-*", "part": "train"}, "/part", "cannot be combined with files"),
        ({"columns": {"label": "y"}}, "/columns", "requires files"),
        ({"format": "csv"}, "/format", "requires files"),
        ({"files": "part-*", "columns": {"labels": "y"}}, "/columns/labels", "unknown"),
        ({"files": "part-*", "folder": "../clicks"}, "/folder", "must be a folder below RANKERY_DATA_ROOTS"),
        ({"files": "part-*", "folder": "s3://clicks/a"}, "/folder", "below RANKERY_DATA_ROOTS"),
        ({"files": "part-*", "folder": "s3://key:secret@clicks"}, "/folder", "below RANKERY_DATA_ROOTS"),
    ],
)
def test_an_invalid_request_is_refused(
    client: TestClient, body: dict[str, Any], pointer: str, detail: str
) -> None:
    """422 has a pointer and the reason; no dataset is created."""
    response = client.post("/v1/datasets/folders", json={"folder": "clicks", **body})
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == pointer
    assert detail in error["detail"]
    assert client.get("/v1/datasets").json()["items"] == []


def test_a_repeated_request_has_the_first_answer(client: TestClient, root: Path) -> None:
    """A repeated idempotency key gets the first answer, even if the files have been deleted since."""
    headers = {"Idempotency-Key": "once"}
    body = {"folder": "clicks", "files": "part-*"}
    first = client.post("/v1/datasets/folders", json=body, headers=headers).json()
    for path in (root / "clicks").glob("part-*"):
        path.unlink()
    assert client.post("/v1/datasets/folders", json=body, headers=headers).json() == first
    assert len(client.get("/v1/datasets").json()["items"]) == 1


@pytest.mark.long
class TestBuckets:
    """A service that may read a folder of a bucket."""

    @pytest.fixture
    def bucket(self, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
        """A folder of a bucket with two files."""
        url, environment = s3.new_bucket()
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        files = fsspec.filesystem("s3", skip_instance_cache=True)
        for number in (0, 1):
            files.pipe(f"{url}/clicks/part-{number}.txt", ROW.encode())
        return url

    @pytest.fixture
    def settings(self, settings: ApiSettings, bucket: str) -> ApiSettings:
        """Settings that allow the folder."""
        return settings.model_copy(update={"data_roots": [bucket]})

    def test_objects_become_one_dataset(self, client: TestClient, bucket: str) -> None:
        """The source holds the URL and the names, and nothing else of the bucket."""
        body = {"folder": f"{bucket}/clicks", "files": "part-*"}
        source = client.post("/v1/datasets/folders", json=body).json()["source"]
        assert source.pop("modified")
        assert source == {
            "kind": "folder",
            "folder": f"{bucket}/clicks",
            "files": "part-*",
            "filenames": ["part-0.txt", "part-1.txt"],
            "format": "auto",
        }
