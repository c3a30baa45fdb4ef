"""Jobs that find the best model of a dataset."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.autotrain import AutoSpec, Candidate, Trials, Tried, portfolio
from core.data import synthetic_dataset
from core.errors import InvalidInput
from core.kernel_cache import processor
from core.scorers import read_model
from core.store import Job
from core.store.repositories.candidates import QUEUED
from core.store.visibility import limited_to
from tests.worker.inline_worker import InlineWorker
from tests.worker.interruption import shut_down_when
from worker.job.reporter import Reporter
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_jobs

# With at least 300 queries there is one repetition of five folds.
_TRAINING = synthetic_dataset(300, seed=1, documents_per_query=4, n_features=4, noise=0.5)
_TEST = synthetic_dataset(30, seed=2, documents_per_query=4, n_features=4, noise=0.5)
_CANDIDATES = [
    "linear by lambdarank",
    "linear by ranknet",
    "LightGBM's default trees",
    "stumps by lambdarank",
]
# A large time budget, so that the results do not depend on time.
_SPEC: dict[str, Any] = {
    "model_name": "web",
    "metric": "ndcg@5",
    "budget_seconds": 3_000,
    "prefer": "best",
    "candidates": _CANDIDATES,
}


@pytest.fixture(scope="module", autouse=True)
def _short_trainings() -> Iterator[None]:
    """Let each candidate train for a few iterations, which suffice to interrupt and continue trainings."""

    def short(names: Collection[str] | None) -> list[Candidate]:
        return [_shortened(candidate) for candidate in portfolio(names)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("worker.job.candidates.portfolio", short)
        yield


def _shortened(candidate: Candidate) -> Candidate:
    if candidate.scorer is not None:
        return replace(candidate, scorer={**candidate.scorer, "epochs": 10})
    assert isinstance(candidate.hyperparameters, Mapping)
    return replace(candidate, hyperparameters={**candidate.hyperparameters, "num_iterations": 20})


def _submit(inline_worker: InlineWorker, **changed: Any) -> Job:
    dataset_id = inline_worker.add(_TRAINING, "training")
    spec = {"kind": "auto-train", "dataset_id": dataset_id, **_SPEC, **changed}
    with inline_worker.store.begin() as tx:
        return tx.jobs.add("auto-train", spec)


@pytest.fixture(scope="module")
def whole(shared_worker: InlineWorker) -> bytes:
    """The model of an uninterrupted automatic training."""
    job = shared_worker.run_queued(_submit(shared_worker, model_name="uninterrupted").id)
    return shared_worker.model_bytes(job)


def test_a_candidate_that_cannot_be_trained_is_listed_with_the_reason(
    inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other candidates are tried; if no candidate can be trained, the job fails with the reasons."""
    try_candidate = Trials.try_candidate

    def diverge(self: Trials, number: int, candidate: Candidate, *given: Any, **named: Any) -> Tried:
        if candidate.name == "linear by ranknet":
            raise InvalidInput.at("/scorer/learning_rate", "scores were not finite")
        return try_candidate(self, number, candidate, *given, **named)

    monkeypatch.setattr(Trials, "try_candidate", diverge)
    job = inline_worker.run_queued(_submit(inline_worker, candidates=_CANDIDATES[:2]).id)
    assert inline_worker.model_bytes(job)
    with inline_worker.store.read() as tx:
        statuses = {row.name: (row.status, row.reason) for row in tx.candidates.of(job.id)}
    assert statuses["linear by lambdarank"] == ("complete", None)
    assert statuses["linear by ranknet"] == ("not-tried", "/scorer/learning_rate: scores were not finite")
    failed = inline_worker.run_queued(_submit(inline_worker, candidates=["linear by ranknet"]).id)
    assert failed.status == "failed"
    assert failed.problem is not None
    assert "scores were not finite" in failed.problem["detail"]


def test_the_model_is_stored_with_its_leaderboard(inline_worker: InlineWorker) -> None:
    """The model scores; each candidate has a row; the conclusion is based on the test data."""
    test_id = inline_worker.add(_TEST, "test")
    job = inline_worker.run_queued(_submit(inline_worker, test_dataset_id=test_id).id)
    model = read_model(inline_worker.model_bytes(job))
    assert job.result is not None
    with inline_worker.store.read() as tx:
        rows = tx.candidates.of(job.id)
        stored = tx.models.get(job.result["model_id"])
        evaluation = tx.evaluations.get(job.result["evaluation_id"])
    assert {row.name for row in rows} == set(_CANDIDATES)
    assert {row.status for row in rows} <= {"complete", "stopped"}
    assert sum(row.weight for row in rows) == pytest.approx(1.0)
    assert all((row.size_bytes is not None) == (row.weight > 0.0) for row in rows)
    assert any(row.tied_with_best for row in rows)
    conclusion = job.result["conclusion"]
    assert conclusion["data"] == "test"
    assert conclusion["value"] == pytest.approx(evaluation.summaries["ndcg@5"]["mean"])
    assert conclusion["held_out"]["data"] == "held-out"
    assert conclusion["sentence"].count("ndcg@5") == 1
    assert stored.size_bytes == len(inline_worker.model_bytes(job))
    assert len(model.score(_TEST.features)) == _TEST.n_documents
    assert not list(inline_worker.store.artifacts.sizes(f"candidates/{job.id}"))


def test_the_conclusion_is_on_held_out_queries_if_no_test_query_has_a_value(
    inline_worker: InlineWorker,
) -> None:
    """NDCG is undefined without relevant documents: the test data then give no value to conclude from."""
    test_id = inline_worker.add(_TEST.with_labels(np.zeros_like(_TEST.labels)), "test")
    submitted = _submit(inline_worker, candidates=_CANDIDATES[:1], test_dataset_id=test_id)
    job = inline_worker.run_queued(submitted.id)
    assert job.result is not None
    conclusion = job.result["conclusion"]
    assert conclusion["data"] == "held-out"
    assert conclusion["value"] == conclusion["held_out"]["value"] > 0.0
    with inline_worker.store.read() as tx:
        assert tx.evaluations.get(job.result["evaluation_id"]).summaries["ndcg@5"]["mean"] is None


@pytest.mark.parametrize("trainings", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_a_job_that_was_handed_back_makes_the_same_bytes(
    inline_worker: InlineWorker, whole: bytes, monkeypatch: pytest.MonkeyPatch, trainings: int
) -> None:
    """The worker stops after some trainings; the next attempt continues from their scores."""
    job = _submit(inline_worker)
    with monkeypatch.context() as patch:
        stop = shut_down_when(patch, lambda progress: progress.get("iteration") == trainings)
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", ["auto-train"])
    with inline_worker.store.read() as tx:
        assert tx.jobs.get(job.id).status == "queued"
        assert sum(row.folds for row in tx.candidates.of(job.id)) == trainings
    assert inline_worker.model_bytes(inline_worker.run_queued(job.id)) == whole


def test_damaged_scores_of_a_fold_are_computed_again(
    inline_worker: InlineWorker, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next attempt does not end with an unexpected error, and makes the same bytes."""
    job, artifacts = _submit(inline_worker), inline_worker.store.artifacts
    with monkeypatch.context() as patch:
        stop = shut_down_when(patch, lambda progress: progress.get("iteration") == 1)
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", ["auto-train"])
    (key,) = [key for key, _ in artifacts.sizes(f"candidates/{job.id}") if key.endswith(".npz")]
    damaged = bytearray(artifacts.read_bytes(key))
    damaged[damaged.index(b"PK\x01\x02") + 10] = 99  # an unknown method of compression
    artifacts.write_bytes(key, bytes(damaged))
    assert inline_worker.model_bytes(inline_worker.run_queued(job.id)) == whole


def test_progress_has_the_remaining_time(
    inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The remaining time falls to 0 with the last fold, and never exceeds the budget."""
    budget = 600  # too much to end a fold early, also on a busy machine
    reports: list[dict[str, Any]] = []
    report = Reporter.report

    def reporting(reporter: Reporter, **values: Any) -> None:
        reports.append(values.get("progress") or {})
        report(reporter, **values)

    monkeypatch.setattr(Reporter, "report", reporting)
    inline_worker.run_queued(_submit(inline_worker, budget_seconds=budget, candidates=_CANDIDATES[:1]).id)
    seconds = [each["eta_seconds"] for each in reports if each.get("eta_seconds") is not None]
    assert len(seconds) > 1
    assert seconds[-1] == 0.0
    assert all(0.0 <= each <= budget for each in seconds)


def test_the_progress_rises_to_the_total(
    inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folds of stopped candidates and of those that are not tried do not count; a new attempt goes on."""
    shares: list[float] = []
    report = Reporter.report

    def reporting(reporter: Reporter, **values: Any) -> None:
        if progress := values.get("progress"):
            shares.append(progress["iteration"] / progress["total"])
        report(reporter, **values)

    def refuse(trials: Trials, number: int, *given: Any, **named: Any) -> Tried:
        if number == 3:
            raise InvalidInput.at("/loss", "refused")
        return try_candidate(trials, number, *given, **named)

    try_candidate = Trials.try_candidate
    monkeypatch.setattr(Trials, "try_candidate", refuse)
    monkeypatch.setattr(Reporter, "report", reporting)
    job = _submit(inline_worker)
    with monkeypatch.context() as patch:
        stop = shut_down_when(patch, lambda progress: progress.get("iteration") == 6)
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", ["auto-train"])
    reports_before = len(shares)
    ended = inline_worker.run_queued(job.id)
    assert ended.status == "succeeded", ended.problem
    assert 0 < reports_before < len(shares)
    assert shares == sorted(shares)
    assert ended.progress is not None
    assert ended.progress["iteration"] == ended.progress["total"]


def test_a_low_time_limit_lowers_the_budget(
    inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four fifths of the limit are planned: a job that reaches it ends without a model."""
    budgets = []
    create = Trials.__init__

    def record(self: Trials, spec: AutoSpec, *given: Any, **named: Any) -> None:
        budgets.append(spec.budget_seconds)
        create(self, spec, *given, **named)

    monkeypatch.setattr(Trials, "__init__", record)
    inline_worker.run_queued(_submit(inline_worker, limits={"seconds": 600}, candidates=_CANDIDATES[:1]).id)
    assert budgets == [480]


def test_another_worker_tries_candidates_of_a_wave(
    inline_worker: InlineWorker, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Helper jobs try the queued candidates; the model has the same bytes, and the processors of both."""
    job = _submit(inline_worker)
    with monkeypatch.context() as patch:
        stop = shut_down_when(patch, lambda progress: progress.get("iteration") == 6)
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", ["auto-train"])
    with inline_worker.store.read() as tx:
        helpers = tx.candidates.helper_jobs(job.id)
        assert helpers
        assert [row for row in tx.candidates.of(job.id) if row.status == QUEUED]
    with monkeypatch.context() as patch:
        patch.setattr("worker.job.candidates.processor", lambda: ("znver0", ""))
        run_jobs(inline_worker.store, inline_worker.settings, StopFlag(), "w2", ["try-candidates"])
    with inline_worker.store.read() as tx:
        assert tx.candidates.is_settled(job.id)
        assert {tx.jobs.get(each).status for each in helpers} == {"succeeded"}
    assert inline_worker.model_bytes(inline_worker.run_queued(job.id)) == whole
    with inline_worker.store.read() as tx:
        lineage = tx.models.resolve("web").lineage
    assert lineage is not None
    assert lineage["processor"] == f"{processor()[0]}, znver0"


def test_the_end_of_the_job_cancels_helper_jobs(
    inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancelled automatic training cancels its queued helpers and closes the remaining candidates."""
    job = _submit(inline_worker)
    with monkeypatch.context() as patch:
        stop = shut_down_when(patch, lambda progress: progress.get("iteration") == 6)
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", ["auto-train"])
    with inline_worker.store.begin() as tx:
        helpers = tx.candidates.helper_jobs(job.id)
        tx.jobs.request_cancel(job.id)
    with inline_worker.store.read() as tx:
        assert {tx.jobs.get(each).status for each in helpers} == {"cancelled"}
        assert {row.reason for row in tx.candidates.of(job.id) if row.status == "not-tried"} == {
            "the automatic training ended"
        }


def test_helper_jobs_have_the_project_and_limits_of_the_training(
    inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller who is limited to the project sees them, and cancels them with the automatic training."""
    limits = {"seconds": 1_000.0, "memory_bytes": 2**33}
    job = _submit(inline_worker, limits=limits)
    with inline_worker.store.begin() as tx:
        tx.projects.move_job(tx.jobs.get(job.id), "search")
    with monkeypatch.context() as patch:
        stop = shut_down_when(patch, lambda progress: progress.get("iteration") == 6)
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", ["auto-train"])
    with limited_to(("search",)), inline_worker.store.begin() as tx:
        helpers = tx.candidates.helper_jobs(job.id)
        assert helpers
        assert [tx.jobs.get(each).spec["limits"] for each in helpers] == [limits] * len(helpers)
        tx.jobs.request_cancel(job.id)
    with inline_worker.store.read() as tx:
        assert {tx.jobs.get(each).status for each in helpers} == {"cancelled"}


def test_an_invalid_metric_is_refused(inline_worker: InlineWorker) -> None:
    """The problem names the metric."""
    job = inline_worker.run_queued(_submit(inline_worker, metric="ndcg@0").id)
    assert job.status == "failed"
    assert job.problem is not None
    assert "metric" in str(job.problem)
