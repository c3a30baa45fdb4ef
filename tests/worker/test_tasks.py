"""The task: claims, dispatch and the outcomes of errors."""

import logging
import time
from collections.abc import Callable

import pytest

from core.errors import StoreFull
from core.jobs import JobKind, JobSpec
from core.store import Store
from worker import WorkerSettings
from worker.job.run import JobRun
from worker.process import tasks
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

Queue = Callable[..., str]


def outcome(store: Store, settings: WorkerSettings, job_id: str) -> dict[str, object]:
    """Run a job in this process; return its status, problem and attempt."""
    run_jobs(store, settings, StopFlag(), "w1", RUNNERS)
    with store.read() as tx:
        job = tx.jobs.get(job_id)
    return {"status": job.status, "problem": job.problem, "attempt": job.attempt}


def upload(store: Store, queue_job: Queue, text: str) -> tuple[str, str]:
    """Store an uploaded dataset and queue its ingestion."""
    with store.begin() as tx:
        dataset = tx.datasets.add("d", {"kind": "upload", "filename": "d.txt", "format": "letor"})
        job = tx.jobs.add("ingest", {"dataset_id": dataset.id}, [dataset.id])
        tx.datasets.attach_job(dataset.id, job.id)
    store.artifacts.write_bytes(f"datasets/{dataset.id}/upload", text.encode())
    return dataset.id, job.id


def test_every_kind_of_job_has_its_runner() -> None:
    """The worker has a runner for each job kind that the API accepts."""
    assert set(RUNNERS) == set(JobKind)


def test_a_job_that_is_absent_or_ended_is_left_alone(
    store: Store, settings: WorkerSettings, queue_job: Queue
) -> None:
    """A late or repeated message has no effect."""
    run_jobs(store, settings, StopFlag(), "w1", RUNNERS)
    job_id = queue_job()
    with store.begin() as tx:
        tx.jobs.request_cancel(job_id)
    assert outcome(store, settings, job_id)["status"] == "cancelled"


def test_nothing_is_claimed_during_a_shutdown(
    store: Store, settings: WorkerSettings, queue_job: Queue
) -> None:
    """A worker that shuts down does not start another job."""
    stop = StopFlag()
    stop.set()
    job_id = queue_job()
    run_jobs(store, settings, stop, "w1", RUNNERS)
    with store.read() as tx:
        assert tx.jobs.get(job_id).status == "queued"


def test_a_good_upload_becomes_a_ready_dataset(
    store: Store, settings: WorkerSettings, queue_job: Queue
) -> None:
    """Statistics and Parquet are stored when the job has succeeded."""
    dataset_id, job_id = upload(store, queue_job, "1 qid:1 1:2\n0 qid:1 1:1\n")
    assert outcome(store, settings, job_id)["status"] == "succeeded"
    with store.read() as tx:
        dataset = tx.datasets.get(dataset_id)
    assert dataset.status == "ready"
    assert dataset.statistics is not None
    assert dataset.statistics["documents"] == 2
    assert dataset.data_key is not None
    assert store.artifacts.exists(dataset.data_key)


def test_a_rankery_error_becomes_the_problem_of_job_and_dataset(
    store: Store, settings: WorkerSettings, queue_job: Queue
) -> None:
    """The job and the dataset have the same problem, and no Parquet is left."""
    dataset_id, job_id = upload(store, queue_job, "1 qid:1 1:2\nnonsense\n")
    ending = outcome(store, settings, job_id)
    assert ending["status"] == "failed"
    with store.read() as tx:
        dataset = tx.datasets.get(dataset_id)
    assert dataset.status == "invalid"
    assert dataset.problem == ending["problem"]
    assert dataset.problem is not None
    assert dataset.problem["errors"][0]["line"] == 2
    assert not store.artifacts.exists("data")
    assert not store.artifacts.exists(f"datasets/{dataset_id}")


def test_the_text_of_an_unexpected_error_is_not_shown_to_the_user(
    store: Store, settings: WorkerSettings, queue_job: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    """The problem of the job does not contain the text of the exception."""
    job_id = queue_job("ingest", dataset_id={"secret": "no id at all"})
    with caplog.at_level(logging.ERROR):
        ending = outcome(store, settings, job_id)
    problem = ending["problem"]
    assert isinstance(problem, dict)
    assert problem["title"] == "Internal error"
    assert "dataset_id" not in problem["detail"]
    assert ending["status"] == "failed"


def test_a_transient_error_is_retried_after_a_pause(
    store: Store, settings: WorkerSettings, queue_job: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pauses between attempts double; after the last attempt, the job fails with the error."""
    begun: list[float] = []

    def find_the_disk_full(_: JobRun, spec: JobSpec) -> None:
        begun.append(time.monotonic())
        raise StoreFull("there is no room")

    monkeypatch.setattr(tasks, "RUNNERS", dict.fromkeys(RUNNERS, find_the_disk_full))
    ending = outcome(
        store, settings.model_copy(update={"retry_seconds": 0.2}), queue_job("ingest", dataset_id="ds_1")
    )
    first, second, third = begun
    assert second - first >= 0.2
    assert third - second >= 0.4
    assert ending["status"] == "failed"
    assert ending["problem"] == {"title": "Storage full", "detail": "there is no room"}


def test_a_shutdown_ends_the_pause(
    store: Store, settings: WorkerSettings, queue_job: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that waits for its store stops immediately."""
    stop = StopFlag()

    def find_the_disk_full(_: JobRun, spec: JobSpec) -> None:
        stop.set()
        raise StoreFull("there is no room")

    monkeypatch.setattr(tasks, "RUNNERS", dict.fromkeys(RUNNERS, find_the_disk_full))
    job_id = queue_job("ingest", dataset_id="ds_1")
    run_jobs(store, settings.model_copy(update={"retry_seconds": 3600.0}), stop, "w1", RUNNERS)
    with store.read() as tx:
        assert tx.jobs.get(job_id).status == "queued"
