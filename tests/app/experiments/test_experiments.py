"""Papers and experiments over HTTP."""

import hashlib
import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from app import ApiSettings
from app.experiments.submission import folders_of
from core.experiments import PAPERS
from core.store import Store
from core.store.artifacts.keys import experiment_report_key
from tests.app.conftest import TestClient

REQUEST = {"paper": "lambda-ex-2023", "tables": ["table-5"]}
FOLDERS = ("web/Fold1", "web/Fold2", "lacking")


@pytest.fixture
def settings(settings: ApiSettings, tmp_path: Path) -> ApiSettings:
    """Settings that allow a corpus of two folds, and a folder without a test part."""
    root = tmp_path / "corpora"
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True)
        for part in ("train", "vali", "test")[: 2 if folder == "lacking" else 3]:
            (root / folder / f"{part}.txt").write_text("1 qid:1 1:0.5\n")
    return settings.model_copy(update={"data_roots": [root]})


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_shown_with_all_its_tables(client: TestClient, name: str) -> None:
    """The answer has the tables in order, each with its claims, methods and printed numbers."""
    shown, paper = client.get(f"/v1/papers/{name}").json(), PAPERS[name]
    listed = {each["name"]: each for each in client.get("/v1/papers").json()["items"]}
    assert [table["name"] for table in listed[name]["tables"]] == [table.name for table in paper.tables]
    for table, expected in zip(shown["tables"], paper.tables, strict=True):
        assert [claim["name"] for claim in table["claims"]] == [claim.name for claim in expected.claims]
        assert set(table["printed"]) == set(expected.printed)
        assert {method["row"] for method in table["methods"]} <= set(table["rows"])


def test_generated_datasets_are_made_once(client: TestClient) -> None:
    """Two experiments on the same generated data use the same datasets."""
    first, second = (client.post("/v1/experiments", json=REQUEST) for _ in range(2))
    assert first.status_code == second.status_code == 202, first.text
    assert first.json()["datasets"] == second.json()["datasets"]
    assert [each["part"] for each in first.json()["datasets"]] == ["train", "validation", "test"]
    assert len(client.get("/v1/jobs?kind=ingest").json()["items"]) == 3
    assert (first.json()["status"], first.json()["report"]) == ("preparing", None)
    listed = client.get("/v1/experiments?paper=lambda-ex-2023").json()["items"]
    assert [each["id"] for each in listed] == [second.json()["id"], first.json()["id"]]
    assert "report" not in listed[0]


class TestQuota:
    """Experiments that need more jobs than the quota allows."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Settings that allow two active jobs."""
        return settings.model_copy(update={"max_active_jobs": 2})

    @pytest.mark.parametrize("data", [{}, {"data": "web/Fold1"}])
    def test_jobs_of_the_datasets_count_towards_the_quota(
        self, client: TestClient, data: dict[str, Any]
    ) -> None:
        """Three datasets need three jobs; a refused experiment creates none of them."""
        refused = client.post("/v1/experiments", json=REQUEST | data)
        assert (refused.status_code, refused.json().get("type")) == (409, "/problems/job-quota-too-small")
        assert client.get("/v1/datasets").json()["items"] == []


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"paper": "unknown"}, "/paper"),
        ({"tables": ["table-99"]}, "/tables/0"),
        (
            {"data": "synthetic", "dataset_ids": {"train": "a", "validation": "b", "test": "c"}},
            "/dataset_ids",
        ),
        ({"folds": [1]}, "/folds"),
        ({"scale": "huge"}, "/scale"),
        ({"distribution": {}}, "/distribution"),
        ({"data": "nowhere"}, "/data"),
        ({"data": "lacking"}, "/data"),
        ({"data": "web/Fold1", "folds": [1, 7]}, "/data"),
        ({"data": "x" * 1_000, "folds": [1]}, "/data"),
    ],
)
def test_an_invalid_experiment_is_refused(client: TestClient, changed: dict[str, Any], pointer: str) -> None:
    """422 points at the invalid field."""
    refused = client.post("/v1/experiments", json=REQUEST | changed)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


def test_folds_are_read_in_place(client: TestClient) -> None:
    """Any of the folders names the corpus; a part that was read before is not read again."""
    request = REQUEST | {"data": "web/Fold1", "folds": [2, 1]}
    first, second = (client.post("/v1/experiments", json=request).json() for _ in range(2))
    assert first["datasets"] == second["datasets"]
    assert {(each["fold"], each["name"]) for each in first["datasets"]} == {(1, "main"), (2, "main")}
    assert (first["data"], first["folds"]) == ("web/Fold1", [1, 2])
    names = {each["name"] for each in client.get("/v1/datasets").json()["items"]}
    assert names == {f"web/Fold{fold} {part}" for fold in (1, 2) for part in ("train", "validation", "test")}
    assert folders_of("web", [3]) == [(3, "web/Fold3")]
    assert folders_of("web", None) == [(0, "web")]


@pytest.mark.parametrize(
    ("statistics", "detail"),
    [
        ({"labels": [{"label": -1.0, "documents": 9}]}, "the smallest label is -1"),
        ({"labels": [{"label": 2000.0, "documents": 9}]}, "ndcg@5: "),
        ({"features": 0}, "judgments without features"),
    ],
)
def test_datasets_that_no_training_can_use_are_refused(
    client: TestClient,
    store: Store,
    ready_dataset: Callable[[], str],
    statistics: dict[str, Any],
    detail: str,
) -> None:
    """422 points at the dataset, instead of one failed job for each training."""
    ids = {part: ready_dataset() for part in ("train", "validation", "test")}
    with store.begin() as tx:
        tx.datasets.get(ids["validation"]).statistics = statistics
    refused = client.post("/v1/experiments", json={"paper": "lambdaloss-2018", "dataset_ids": ids})
    assert refused.status_code == 422, refused.text
    assert {error["pointer"] for error in refused.json()["errors"]} == {"/dataset_ids/validation"}
    assert detail in refused.json()["errors"][0]["detail"]
    assert client.get("/v1/experiments").json()["items"] == []


def test_categorical_features_are_refused_for_networks(
    client: TestClient, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """Trees use them, and networks accept numeric features only."""
    ids = {part: ready_dataset() for part in ("train", "validation", "test")}
    with store.begin() as tx:
        tx.datasets.get(ids["train"]).statistics = {"categorical_features": ["brand"]}
    papers = {"lambdaloss-2018": 202, "lambdarank-2006": 422}
    for paper, expected in papers.items():
        answer = client.post("/v1/experiments", json={"paper": paper, "dataset_ids": ids})
        assert answer.status_code == expected, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/dataset_ids/train"]


def test_unusable_datasets_of_a_folder_are_refused_at_the_folder(client: TestClient, store: Store) -> None:
    """A part that was read before is checked, and the detail names it."""
    request = REQUEST | {"data": "web/Fold1"}
    datasets = client.post("/v1/experiments", json=request).json()["datasets"]
    with store.begin() as tx:
        tx.datasets.get(datasets[2]["dataset_id"]).statistics = {"labels": [{"label": -2.0, "documents": 1}]}
    (error,) = client.post("/v1/experiments", json=request).json()["errors"]
    assert error["pointer"] == "/data"
    assert error["detail"].startswith("test: the smallest label is -2")


def test_an_invalid_dataset_is_refused(
    client: TestClient, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """An invalid dataset is refused with 409; an experiment waits for a pending dataset."""
    ids = {part: ready_dataset() for part in ("train", "validation", "test")}
    request = {"paper": "lambdaloss-2018", "dataset_ids": ids}
    for status, expected in (("pending", 202), ("invalid", 409)):
        with store.begin() as tx:
            tx.datasets.get(ids["test"]).status = status
        assert client.post("/v1/experiments", json=request).status_code == expected


def test_an_experiment_is_cancelled_and_resumed(client: TestClient) -> None:
    """409 unless the status allows it; there is no report before the first complete table."""
    path = f"/v1/experiments/{client.post('/v1/experiments', json=REQUEST).json()['id']}"
    assert client.get(f"{path}/report").status_code == 409
    assert client.get(f"{path}/trainings").json() == {"items": []}
    assert client.post(f"{path}/resume").status_code == 409
    assert client.post(f"{path}/cancel").json()["status"] == "cancelled"
    assert client.post(f"{path}/cancel").status_code == 409
    assert client.post(f"{path}/resume").json()["status"] == "preparing"
    assert client.get("/v1/experiments/exp_none").status_code == 404


def test_a_slow_storage_delays_no_polled_list(
    client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Responses of polled routes are computed one at a time, so none of them may read a report."""
    with store.begin() as tx:
        row = tx.experiments.add(
            paper="lambdaloss-2018", scale="quick", data="synthetic", folds=[], dry_run=False, datasets=[]
        )
        row.report_key = experiment_report_key(row.id, "job_1", 1)
    is_reading, may_end = threading.Event(), threading.Event()

    def read_slowly(_key: str) -> BinaryIO:
        is_reading.set()
        may_end.wait(30)
        return io.BytesIO(b'{"report": null, "estimate": null}')

    monkeypatch.setattr(store.verified, "open", read_slowly)
    with ThreadPoolExecutor(2) as pool:
        shown = pool.submit(client.get, f"/v1/experiments/{row.id}")
        assert is_reading.wait(30)
        listed = pool.submit(client.get, "/v1/jobs")
        try:
            assert listed.result(10).status_code == 200
        finally:
            may_end.set()
    assert shown.result().status_code == 200


def test_a_report_is_verified_before_it_is_shown(client: TestClient, store: Store) -> None:
    """The answer for a damaged report is an error with its key, and has no numbers."""
    with store.begin() as tx:
        row = tx.experiments.add(
            paper="lambdaloss-2018", scale="quick", data="synthetic", folds=[], dry_run=False, datasets=[]
        )
        row.report_key = experiment_report_key(row.id, "job_1", 1)
        tx.artifacts.record_checksum(row.report_key, hashlib.sha256(b"{}").hexdigest(), 2)
    store.artifacts.write_bytes(row.report_key, b"[]")
    answer = client.get(f"/v1/experiments/{row.id}")
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/artifact-damaged")
    assert row.report_key in answer.json()["detail"]
