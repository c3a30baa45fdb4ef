"""A claimed job: reports, interruptions and outcomes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from core.errors import JobCancelled, LeaseLost, StoreUnavailable
from core.store import Store, Transaction
from worker import WorkerSettings
from worker.job.lease import WorkerStopping
from worker.job.run import JobRun
from worker.process.tasks import RUNNERS, record_outcome

Claim = Callable[..., JobRun]


def take_away(store: Store, run: JobRun) -> None:
    """Take the job from its worker and claim it for another worker."""
    with store.begin() as tx:
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 10)
        assert tx.jobs.claim(run.id, "w2", 30.0) is not None


def test_only_one_claim_of_a_job_succeeds(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str]
) -> None:
    """A message delivered twice starts a job once."""
    queue_job()
    assert JobRun.claim_next(store, settings, RUNNERS, "w1") is not None
    assert JobRun.claim_next(store, settings, RUNNERS, "w2") is None


def test_reports_are_throttled_and_nothing_is_lost(store: Store, claim_job: Claim) -> None:
    """Iterations between two writes are all stored at the end."""
    run = claim_job(report_seconds=3600.0)
    for iteration in range(1, 6):
        run.reporter.report(iterations=[(iteration, {"train": {"ndcg@10": iteration / 10}})])
    with store.read() as tx:
        assert [row.iteration for row in tx.jobs.iterations(run.id)] == [1]
    with run.succeeding({"model_id": "mdl_x"}):
        pass
    with store.read() as tx:
        rows = tx.jobs.iterations(run.id)
    assert [(row.iteration, row.values["train"]["ndcg@10"]) for row in rows] == [
        (i, i / 10) for i in range(1, 6)
    ]


@pytest.mark.parametrize("ending", ["fail", "cancel"])
def test_a_job_that_ends_badly_keeps_its_last_report(store: Store, claim_job: Claim, ending: str) -> None:
    """Reports since the last write are written with the end of the job."""
    run = claim_job(report_seconds=3600.0)
    run.reporter.flush()
    run.reporter.report(iterations=[(1, {"train": {}})])
    if ending == "fail":
        run.fail({"title": "t", "detail": "d"})
    else:
        run.cancel()
    with store.read() as tx:
        assert [row.iteration for row in tx.jobs.iterations(run.id)] == [1]
        assert tx.jobs.get(run.id).status == {"fail": "failed", "cancel": "cancelled"}[ending]


def test_a_report_notices_a_cancel(store: Store, claim_job: Claim) -> None:
    """The report that detects the request raises JobCancelled, and so does every later check."""
    run = claim_job()
    run.reporter.report(iterations=[(1, {})])
    with store.begin() as tx:
        tx.jobs.request_cancel(run.id)
    with pytest.raises(JobCancelled):
        run.reporter.report(iterations=[(2, {})])
    with pytest.raises(JobCancelled):
        run.lease.check()
    with store.read() as tx:
        assert len(tx.jobs.iterations(run.id)) == 2


def test_a_lost_lease_stops_the_job_at_its_next_report(store: Store, claim_job: Claim) -> None:
    """A worker without a lease must not overwrite the reports of its successor."""
    run = claim_job()
    take_away(store, run)
    with pytest.raises(LeaseLost):
        run.reporter.report(iterations=[(1, {})])
    with store.read() as tx:
        assert tx.jobs.iterations(run.id) == []


def test_a_lost_lease_undoes_the_result(store: Store, claim_job: Claim) -> None:
    """Rows in the transaction of the job's end are rolled back with it."""
    run = claim_job()
    take_away(store, run)
    with pytest.raises(LeaseLost), run.succeeding({"dataset_id": "ds_x"}) as tx:
        tx.datasets.add("orphan", {"kind": "upload"})
    with store.read() as tx:
        assert tx.datasets.page(None, 10).items == []
        assert tx.jobs.get(run.id).status == "running"


def test_the_heartbeat_notices_a_lost_lease(store: Store, claim_job: Claim) -> None:
    """The next renewal and the next poll of a cancellation both raise."""
    run = claim_job()
    run.lease.renew()
    run.lease.poll_cancellation()
    run.lease.check()
    take_away(store, run)
    with pytest.raises(LeaseLost):
        run.lease.renew()
    with pytest.raises(LeaseLost):
        run.lease.poll_cancellation()


def test_the_first_interruption_counts(claim_job: Claim) -> None:
    """A cancelled job stays cancelled if the worker shuts down a moment later."""
    run = claim_job()
    run.lease.interrupt(JobCancelled(run.id))
    run.lease.interrupt(WorkerStopping())
    with pytest.raises(JobCancelled):
        run.lease.check()


def test_an_interruption_counts_as_ignored_after_the_grace_period(
    claim_job: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The heartbeat gets an interruption that the job has not raised within its grace period."""
    now = 0.0
    monkeypatch.setattr("worker.job.lease.time", SimpleNamespace(monotonic=lambda: now))
    run = claim_job(cancel_grace_seconds=10.0, stop_grace_seconds=3600.0)
    stopping = claim_job(cancel_grace_seconds=10.0, stop_grace_seconds=3600.0)
    run.lease.interrupt(JobCancelled(run.id))
    stopping.lease.interrupt(WorkerStopping())
    assert run.lease.ignored_interruption() is None
    now = 11.0
    assert isinstance(run.lease.ignored_interruption(), JobCancelled)
    assert stopping.lease.ignored_interruption() is None
    with pytest.raises(JobCancelled):
        run.lease.check()
    assert run.lease.ignored_interruption() is None


def test_a_released_job_goes_to_the_next_sweep(store: Store, claim_job: Claim) -> None:
    """At a shutdown, the job does not wait for the end of its lease, and the attempt does not count."""
    run = claim_job()
    run.reporter.report(iterations=[(1, {"train": {"ndcg@5": 0.5}})])
    run.release()
    with store.begin() as tx:
        assert tx.jobs.to_wake(datetime.now(UTC), 3600)[0].id == run.id
        assert tx.jobs.get(run.id).attempt == 0
        (attempt,) = tx.jobs.attempts(run.id)
    assert (attempt.attempt, attempt.ending) == (1, "handed_back")
    with pytest.raises(LeaseLost):
        run.reporter.flush()


def test_a_transient_error_is_retried(store: Store, settings: WorkerSettings, claim_job: Claim) -> None:
    """An unavailable storage costs an attempt; after the last one the job fails with the problem."""
    problem = {"title": "Storage unavailable", "detail": "away"}
    run = claim_job(attempts=2)
    assert run.retry_later(problem) == "retry_later"
    with store.read() as tx:
        assert tx.jobs.get(run.id).status == "queued"
    again = JobRun.claim_next(store, settings.model_copy(update={"attempts": 2}), RUNNERS, "w2")
    assert again is not None
    assert again.retry_later(problem) == "failed"
    with store.read() as tx:
        assert tx.jobs.get(run.id).problem == problem
        endings = [(row.ending, row.detail) for row in tx.jobs.attempts(run.id)]
    assert endings == [("handed_back", "away"), ("failed", "away")]


def test_artifacts_of_a_job_without_result_are_removed(store: Store, claim_job: Claim) -> None:
    """No artifact of an unfinished result remains."""
    run = claim_job()
    write_model(run)
    assert store.artifacts.exists("models/mdl_x/model.txt")
    run.artifacts.discard()
    assert not store.artifacts.exists("models/mdl_x")


@pytest.mark.parametrize("ending", ["succeed", "fail", "cancel"])
def test_registered_artifacts_are_deleted_with_the_end(store: Store, claim_job: Claim, ending: str) -> None:
    """The artifacts are kept until the end of the job, since another worker may need them."""
    run = claim_job()
    store.artifacts.write_bytes("datasets/ds_x/upload", b"1 qid:1 1:1")
    run.artifacts.delete_on_end("datasets/ds_x")
    run.artifacts.discard()
    assert store.artifacts.exists("datasets/ds_x/upload")
    if ending == "fail":
        run.fail({"title": "t", "detail": "d"})
    elif ending == "cancel":
        run.cancel()
    else:
        with run.succeeding({}):
            pass
    assert not store.artifacts.exists("datasets/ds_x")


def test_registered_artifacts_of_a_lost_job_stay(store: Store, claim_job: Claim) -> None:
    """The artifacts belong to the worker that has the lease."""
    run = claim_job()
    store.artifacts.write_bytes("datasets/ds_x/upload", b"1 qid:1 1:1")
    run.artifacts.delete_on_end("datasets/ds_x")
    take_away(store, run)
    for end in (run.cancel, lambda: run.fail({})):
        with pytest.raises(LeaseLost):
            end()
    assert store.artifacts.exists("datasets/ds_x/upload")


def test_a_report_can_be_written_immediately(store: Store, claim_job: Claim) -> None:
    """An immediate report is written even if the previous report was recent."""
    run = claim_job(report_seconds=3600.0)
    run.reporter.flush()
    run.reporter.report(progress={"iteration": 1}, findings=[{"code": "shared-queries"}], immediately=True)
    run.reporter.report(progress={"iteration": 2})
    with store.read() as tx:
        job = tx.jobs.get(run.id)
    assert job.progress == {"iteration": 1}
    assert job.findings == [{"code": "shared-queries"}]


def test_a_phase_may_reset_the_count_of_the_previous_phase(store: Store, claim_job: Claim) -> None:
    """A training shows its last iteration while it stores the model; other counts are reset."""
    run = claim_job()
    run.reporter.report(progress={"phase": "reading", "iteration": 100, "total": 100, "eta_seconds": 0.0})
    for is_reset, iteration in ((False, 100), (True, 0)):
        run.reporter.phase("examining", reset_count=is_reset)
        with store.read() as tx:
            progress = tx.jobs.get(run.id).progress
        assert progress is not None
        assert (progress["phase"], progress["iteration"]) == ("examining", iteration)


def test_artifacts_of_a_result_are_kept(store: Store, claim_job: Claim) -> None:
    """The artifacts of a successful job belong to its result."""
    run = claim_job()
    write_model(run)
    with run.succeeding({"model_id": "mdl_x"}):
        pass
    run.artifacts.discard()
    assert store.artifacts.read_bytes("models/mdl_x/model.txt") == b"tree"


def test_artifacts_of_a_commit_whose_answer_is_lost_are_kept(
    store: Store, claim_job: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database commits a result and then fails: the job has succeeded, with all its artifacts."""
    run = claim_job()
    write_model(run)

    @contextmanager
    def lose_the_answer() -> Iterator[Transaction]:
        with Store.begin(store) as tx:
            yield tx
        raise StoreUnavailable("the database cuts connections")

    with monkeypatch.context() as patched:
        patched.setattr(store, "begin", lose_the_answer)
        with pytest.raises(StoreUnavailable) as lost, run.succeeding({"model_id": "mdl_x"}):
            pass
    assert record_outcome(run, lost.value) == "lost"
    with store.read() as tx:
        assert tx.jobs.get(run.id).status == "succeeded"
    assert store.artifacts.exists("models/mdl_x/model.txt")


def test_an_interruption_after_the_commit_leaves_the_artifacts(store: Store, claim_job: Claim) -> None:
    """The heartbeat gives up a job that commits its result at the same moment."""
    run = claim_job()
    write_model(run)
    with store.begin() as tx:
        run.artifacts.record_checksums(tx)
        tx.jobs.succeed(run.id, run.lease.token, {"model_id": "mdl_x"})
    assert record_outcome(run, JobCancelled(run.id)) == "lost"
    assert store.artifacts.exists("models/mdl_x/model.txt")


def test_a_lost_job_leaves_the_artifacts_of_the_next_claim(
    store: Store, settings: WorkerSettings, claim_job: Claim
) -> None:
    """Claims of a trial write the same key: the worker that lost the job does not remove the result."""
    run = claim_job()
    write_model(run)
    with store.begin() as tx:
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 10)
    again = JobRun.claim_next(store, settings, RUNNERS, "w2")
    assert again is not None
    write_model(again)
    with again.succeeding({"model_id": "mdl_x"}):
        pass
    assert record_outcome(run, LeaseLost(run.id)) == "lost"
    assert store.artifacts.exists("models/mdl_x/model.txt")


@pytest.mark.parametrize("error", [JobCancelled("job_x"), ValueError("a defect"), WorkerStopping()])
def test_an_unsuccessful_job_leaves_no_artifact(store: Store, claim_job: Claim, error: Exception) -> None:
    """The artifacts of an unfinished result are removed with the outcome."""
    run = claim_job()
    write_model(run)
    record_outcome(run, error)
    assert not store.artifacts.exists("models/mdl_x")


def write_model(run: JobRun) -> None:
    """Write a file of a model as an artifact of the job."""
    with run.artifacts.writing("models/mdl_x/model.txt") as file:
        file.write(b"tree")
