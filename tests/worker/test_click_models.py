"""Jobs that estimate click models of a log, and jobs that derive judgments from a log."""

from io import BytesIO
from typing import Any

import numpy as np
import pytest

from core.clicks.joining import COLUMNS, judged_dataset, pairs_of
from core.clicks.judgment_options import JudgmentSpec
from core.clicks.judgments import judge_clicks
from core.clicks.models import ClickModelSpec, fit_click_model
from core.data import RankingDataset, write_parquet
from core.store import Job
from tests.core.clicks.models.sessions import draw_sessions
from tests.worker.inline_worker import InlineWorker
from tests.worker.test_click_logs import ingested
from worker.job.caches import Caches
from worker.job.datasets import load_click_log, load_dataset
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_job

QUICK: dict[str, Any] = {"model": "pbm", "iterations": 5, "resamples": 3}
FEATURES = RankingDataset.from_arrays(
    np.random.default_rng(4).random((36, 2)),
    np.tile([0.0, 1.0, 2.0], 12),
    [0, 12, 24, 36],
    query_ids=["q0", "q1", "q2"],
    document_ids=[f"d{document}" for document in range(12)] * 3,
)


@pytest.fixture
def log_id(inline_worker: InlineWorker) -> str:
    """A log of sixty lists."""
    lines = ["session,query,document,rank,clicked"]
    for number, session in enumerate(draw_sessions()):
        rows = zip(session.documents, session.clicks, strict=True)
        lines += [
            f"s{number},q{session.query},d{document},{index},{click:d}"
            for index, (document, click) in enumerate(rows, 1)
        ]
    log = ingested(inline_worker, "\n".join(lines) + "\n")
    assert log.status == "ready", log.problem
    return log.id


def judge(inline_worker: InlineWorker, log_id: str, features_id: str, **spec: Any) -> Job:
    """Queue a job that derives judgments, as the API does."""
    with inline_worker.store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "clicks"})
        inputs = {"click_log_id": log_id, "dataset_id": dataset.id, "features_dataset_id": features_id}
        request = {"kind": "judge", "name": "judged", **inputs, "options": QUICK}
        judgments = {"min_impressions": 3}
        ids = [dataset.id, features_id]
        job = tx.jobs.add("judge", {**request, "judgments": judgments, **spec}, dataset_ids=ids)
        tx.datasets.attach_job(dataset.id, job.id)
    return job


def test_models_are_compared_and_the_best_is_reported(inline_worker: InlineWorker, log_id: str) -> None:
    """The result has the comparison, the best model and the sentence."""
    with inline_worker.store.begin() as tx:
        spec = {"click_log_id": log_id, "log_name": "clicks", "models": ["pbm", "sdbn"], "options": QUICK}
        job = tx.jobs.add("click-model", {"kind": "click-model", **spec, "held_out": 0.3})
    ended = inline_worker.run_queued(job.id)
    assert ended.status == "succeeded", ended.problem
    assert ended.result is not None
    assert {row["model"] for row in ended.result["comparison"]["models"]} == {"pbm", "sdbn"}
    assert ended.result["best"] == ended.result["comparison"]["models"][0]["model"]
    assert ended.result["click_model"]["model"] == ended.result["best"]
    assert ended.result["sentence"]


def test_grades_become_an_ordinary_dataset(inline_worker: InlineWorker, log_id: str) -> None:
    """The dataset has the uncertainty of each grade; the result has the agreement with judges."""
    features_id = inline_worker.add(FEATURES, "features")
    job = inline_worker.run_queued(
        judge(inline_worker, log_id, features_id, judged_dataset_id=features_id).id
    )
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    assert job.result["agreement"]["pairs"] > 20
    dataset_id = job.result["dataset_id"]
    with inline_worker.store.read() as tx:
        row = tx.datasets.get(dataset_id)
    assert (row.status, row.source["kind"]) == ("ready", "clicks")
    dataset = load_dataset(inline_worker.store, Caches.of(inline_worker.settings), dataset_id).dataset
    assert dataset.n_documents == job.result["judgments"]["judged"]
    assert set(COLUMNS) <= set(dataset.document_columns)
    for number in range(dataset.n_documents):
        relevance, lower, upper = (float(dataset.document_columns[name][number]) for name in COLUMNS[1:])
        assert lower <= relevance <= upper


def test_judged_pairs_without_features_are_reported(inline_worker: InlineWorker, log_id: str) -> None:
    """Without the finding, misspelt ids would silently leave grades out."""
    features_id = inline_worker.add(FEATURES.select_queries([0]), "features")
    job = inline_worker.run_queued(judge(inline_worker, log_id, features_id).id)
    assert job.status == "succeeded", job.problem
    (finding,) = job.findings or []
    assert finding["code"] == "documents-without-features"
    assert "impressions are of documents without features, and are left out" in finding["title"]


def test_a_killed_job_makes_the_same_bytes(inline_worker: InlineWorker, log_id: str) -> None:
    """The next attempt starts from the beginning and removes the artifacts of the first attempt."""
    features_id = inline_worker.add(FEATURES, "features")
    store = inline_worker.store
    first = judge(inline_worker, log_id, features_id)
    lost = JobRun.claim_next(store, inline_worker.settings, {"judge"}, "w1")
    assert lost is not None
    store.artifacts.write_bytes(f"data/{first.id}-1/data.parquet", b"half")
    with store.begin() as tx:
        for job in tx.jobs.running_on("w1"):
            tx.jobs.recover(job, 3)
    again = JobRun.claim_next(store, inline_worker.settings, {"judge"}, "w2")
    assert again is not None
    assert run_job(again, inline_worker.settings, StopFlag()) == "succeeded"
    assert not store.artifacts.exists(f"data/{first.id}-1/data.parquet")
    with store.read() as tx:
        row = tx.datasets.get(str(first.spec["dataset_id"]))
    model = fit_click_model(load_click_log(again, log_id), ClickModelSpec(**QUICK), threads=2)
    judgments = judge_clicks(model, JudgmentSpec(min_impressions=3))
    stored_features = load_dataset(store, Caches.of(inline_worker.settings), features_id).dataset
    expected = BytesIO()
    pairs = pairs_of(stored_features, load_click_log(again, log_id))
    write_parquet(judged_dataset(stored_features, pairs, judgments), expected)
    assert store.artifacts.read_bytes(str(row.data_key)) == expected.getvalue()


def test_judgments_without_enough_impressions_make_the_dataset_invalid(
    inline_worker: InlineWorker, log_id: str
) -> None:
    """The job fails, too; its problem has the pointer of the option to lower."""
    features_id = inline_worker.add(FEATURES, "features")
    job = judge(inline_worker, log_id, features_id, judgments={"min_impressions": 10_000})
    ended = inline_worker.run_queued(job.id)
    assert ended.status == "failed"
    assert ended.problem is not None
    assert ended.problem["errors"][0]["pointer"] == "/min_impressions"
    with inline_worker.store.read() as tx:
        assert tx.datasets.get(job.spec["dataset_id"]).status == "invalid"
