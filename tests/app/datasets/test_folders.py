"""Datasets of folders below data roots, and the corpora of those folders."""

from pathlib import Path
from typing import Any

import pytest

from app import ApiSettings
from app.datasets.folders import add_folder
from core.store import Store
from tests.app.conftest import TestClient
from tests.invalid_datasets import mark_invalid

ROW = "1 qid:1 1:0.5\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Data root with a corpus of two folds, a corpus of two sets, and a link to a folder outside."""
    root = tmp_path / "corpora"
    for name in (
        *("web/Fold1/train.txt", "web/Fold1/vali.txt", "web/Fold1/test.txt", "web/Fold3/train.txt"),
        *("Yahoo/set1.train.txt", "Yahoo/set1.test.txt", "Yahoo/set2.train.txt"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(ROW)
    (root / "out").symlink_to(tmp_path)
    return root


@pytest.fixture
def settings(settings: ApiSettings, root: Path) -> ApiSettings:
    """Settings that allow the data root."""
    return settings.model_copy(update={"data_roots": [root]})


def test_a_folder_shows_its_parts_and_folders(client: TestClient, root: Path) -> None:
    """The root is the default; the answer has names and sizes of files but no path of the disk."""
    shown = client.get("/v1/datasets/folders").json()
    assert shown == {"folder": ".", "parts": {}, "folders": ["Yahoo", "out", "web"]}
    fold = client.get("/v1/datasets/folders", params={"folder": "web/Fold1"})
    assert fold.json() == {
        "folder": "web/Fold1",
        "parts": {
            "train": {"file": "train.txt", "size_bytes": len(ROW)},
            "validation": {"file": "vali.txt", "size_bytes": len(ROW)},
            "test": {"file": "test.txt", "size_bytes": len(ROW)},
        },
        "folders": [],
    }
    assert str(root) not in fold.text


def test_a_fold_becomes_three_datasets(client: TestClient) -> None:
    """One request creates a dataset and a job for each part; each dataset lists all parts."""
    response = client.post("/v1/datasets/folders", json={"folder": "web/Fold1"})
    assert response.status_code == 202
    first = response.json()
    assert response.headers["location"] == f"/v1/datasets/{first['id']}"
    assert first["name"] == "web/Fold1 train"
    assert list(first["parts"]) == ["train", "validation", "test"]
    assert first["parts"]["train"] == first["id"]
    test = client.get(f"/v1/datasets/{first['parts']['test']}").json()
    assert test["source"].pop("modified").endswith("+00:00")
    assert test["source"] == {
        "kind": "folder",
        "folder": "web/Fold1",
        "filename": "test.txt",
        "part": "test",
        "format": "auto",
    }
    assert (test["status"], test["size_bytes"], test["parts"]) == ("pending", len(ROW), first["parts"])
    assert len(client.get("/v1/jobs").json()["items"]) == 3


def test_only_names_of_several_parts_end_with_the_part(client: TestClient) -> None:
    """A single part lists no other parts; the names of several parts end with the part."""
    body = {"folder": "Yahoo/set1", "part": "test", "name": "judged"}
    single = client.post("/v1/datasets/folders", json=body).json()
    assert (single["name"], single["parts"]) == ("judged", None)
    assert single["source"]["filename"] == "set1.test.txt"
    several = client.post("/v1/datasets/folders", json={"folder": "Yahoo/set1", "name": "judged"}).json()
    assert several["name"] == "judged train"
    assert set(several["parts"]) == {"train", "test"}


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ({"folder": "web"}, "/folder", "no file named train, vali or test"),
        ({"folder": "web"}, "/folder", "folders in it: Fold1, Fold3"),
        ({"folder": "Yahoo"}, "/folder", "folders in it: set1, set2"),
        ({"folder": "web/Fold3", "part": "test"}, "/part", "the folder has only the parts train"),
        ({"folder": "../corpora/web/Fold1"}, "/folder", "must be a folder below RANKERY_DATA_ROOTS"),
        ({"folder": "out/corpora/web/Fold9"}, "/folder", "must be a folder below RANKERY_DATA_ROOTS"),
        ({"folder": "/etc"}, "/folder", "must be a folder below RANKERY_DATA_ROOTS"),
        ({"folder": ""}, "/folder", "at least 1"),
        ({"folder": "web/Fold1", "part": "dev"}, "/part", "train"),
        ({}, "/folder", "required"),
    ],
)
def test_an_invalid_request_is_refused(
    client: TestClient, body: dict[str, Any], pointer: str, detail: str
) -> None:
    """422 points at the field and describes valid values; no dataset is created."""
    response = client.post("/v1/datasets/folders", json=body)
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == pointer
    assert detail in error["detail"]
    assert client.get("/v1/datasets").json()["items"] == []


def test_datasets_of_unchanged_files_are_reused(
    client: TestClient, store: Store, settings: ApiSettings, root: Path
) -> None:
    """Changed files and failed jobs get new datasets; experiments read folders in this way."""

    def add_parts() -> dict[str, tuple[str, str | None]]:
        with store.begin() as tx:
            datasets = add_folder(tx, settings, "Yahoo/set1", None, None)
            return {part: (dataset.id, job.id if job else None) for part, (dataset, job) in datasets.items()}

    first = add_parts()
    assert list(first) == ["train", "test"]
    assert add_parts() == first
    with store.begin() as tx:
        for dataset_id, _ in first.values():
            tx.datasets.mark_ready(dataset_id, statistics={"queries": 1}, format="letor")
    assert add_parts() == {part: (dataset_id, None) for part, (dataset_id, _) in first.items()}
    (root / "Yahoo" / "set1.test.txt").write_text(2 * ROW)
    second = add_parts()
    assert {dataset_id for dataset_id, _ in first.values()}.isdisjoint(one for one, _ in second.values())
    with store.begin() as tx:
        mark_invalid(tx, second["train"][0], {"title": "no", "detail": "no"})
    assert add_parts()["train"] != second["train"]
    assert client.get("/v1/jobs").json()["items"]


def test_an_invalid_dataset_of_a_folder_is_read_again(client: TestClient, store: Store) -> None:
    """No upload is needed, and the source has the columns to ignore."""
    dataset = client.post("/v1/datasets/folders", json={"folder": "web/Fold3"}).json()
    with store.begin() as tx:
        mark_invalid(tx, dataset["id"], {"title": "The dataset cannot be read", "detail": "no"})
    again = client.post(f"/v1/datasets/{dataset['id']}/read-again", json={"ignore": ["price"]})
    assert again.status_code == 202
    assert again.json()["source"]["options"] == {"columns": {"ignore": ["price"]}}


def test_deleting_a_dataset_of_a_folder_leaves_its_files(client: TestClient, root: Path) -> None:
    """The files do not belong to the service."""
    dataset = client.post("/v1/datasets/folders", json={"folder": "web/Fold3"}).json()
    client.post(f"/v1/jobs/{dataset['job_id']}/cancel")
    assert client.delete(f"/v1/datasets/{dataset['id']}").status_code == 204
    assert (root / "web" / "Fold3" / "train.txt").read_text() == ROW


def _mark_ready(store: Store, dataset_id: str, queries: int, documents: int) -> None:
    with store.begin() as tx:
        statistics = {"queries": queries, "documents": documents, "features": 136}
        tx.datasets.mark_ready(dataset_id, statistics=statistics | {"label_range": {"maximum": 4.0}})


def test_the_corpus_of_a_folder_is_identified_by_all_parts(client: TestClient, store: Store) -> None:
    """A ready part is identified alone, and all ready parts as a fold; other counts match no corpus."""
    first = client.post("/v1/datasets/folders", json={"folder": "web/Fold1"}).json()
    path = f"/v1/datasets/{first['id']}/corpus"
    assert client.get(path).status_code == 409
    _mark_ready(store, first["parts"]["train"], 18_919, 2_270_296)
    alone = client.get(path).json()
    assert (alone["corpus"], alone["fold"], alone["part"]) == ("MSLR-WEB30K", 1, "train")
    _mark_ready(store, first["parts"]["validation"], 6_306, 747_218)
    _mark_ready(store, first["parts"]["test"], 6_306, 753_611)
    assert client.get(path).json() == {
        "corpus": "MSLR-WEB30K",
        "fold": 1,
        "part": None,
        "as_printed": True,
        "sentence": "This is MSLR-WEB30K Fold1 as printed (Wang et al. 2018, table 1).",
        "sources": ["Wang et al. 2018, table 1"],
    }
    other = client.post("/v1/datasets/folders", json={"folder": "web/Fold3"}).json()
    _mark_ready(store, other["id"], 5, 40)
    corpus = client.get(f"/v1/datasets/{other['id']}/corpus").json()
    assert (corpus["corpus"], corpus["as_printed"]) == (None, False)
    assert corpus["sentence"].endswith("Printed numbers are for orientation only.")
    assert client.get("/v1/datasets/ds_none/corpus").status_code == 404


class TestWithoutRoots:
    """A service that reads no folders."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Settings without data roots, the default."""
        return settings.model_copy(update={"data_roots": []})

    def test_no_folder_is_shown_or_read(self, client: TestClient, root: Path) -> None:
        """The answer names the setting."""
        answers = (
            client.get("/v1/datasets/folders"),
            client.post("/v1/datasets/folders", json={"folder": str(root / "web" / "Fold1")}),
        )
        for answer in answers:
            assert answer.status_code == 422
            assert "RANKERY_DATA_ROOTS is not set" in answer.text
