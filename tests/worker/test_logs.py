"""Log lines of a job."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from core.store import Store
from tests.integration.waiting import wait_for
from worker import WorkerSettings
from worker.application import configure_logging
from worker.job.run import JobRun
from worker.process.heartbeat import Heartbeat
from worker.process.shutdown import StopFlag
from worker.process.tasks import record_outcome, run_job

Claim = Callable[..., JobRun]
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines(settings: WorkerSettings) -> Iterator[Lines]:
    """A function that returns the parsed lines of the worker's log so far."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    configure_logging(settings.model_copy(update={"log_format": "json"}))
    stream = io.StringIO()
    (handler,) = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_the_start_and_the_end_of_a_job_are_log_lines(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str], lines: Lines
) -> None:
    """Both lines have the job, attempt and worker; the last one has the duration."""
    queue_job("ingest", dataset_id="ds_gone")
    run = JobRun.claim_next(store, settings, {"ingest"}, "w1")
    assert run is not None
    run_job(run, settings, StopFlag())
    logged = [line for line in lines() if str(line["event"]).startswith("job.")]
    assert [line["event"] for line in logged] == ["job.started", "job.failed"]
    for line in logged:
        assert line["job_id"] == run.id
        assert (line["kind"], line["attempt"], line["token"], line["worker"]) == ("ingest", 1, 1, "w1")
    assert logged[1]["duration_seconds"] >= 0


def test_a_resumed_job_logs_its_iteration(
    store: Store, settings: WorkerSettings, claim_job: Claim, lines: Lines
) -> None:
    """A claim with a checkpoint is logged as a resumption, not as a start."""
    run = claim_job("train")
    checkpoint = {"key": "checkpoints/gone", "sha256": "0" * 64, "iteration": 12, "total": 50}
    run.reporter.keep_checkpoint(checkpoint)
    run.release()
    again = JobRun.claim_next(store, settings, {"train"}, "w2")
    assert again is not None
    run_job(again, settings, StopFlag())
    (resumed,) = [line for line in lines() if line["event"] == "job.resumed"]
    assert (resumed["iteration"], resumed["token"], resumed["worker"]) == (12, 2, "w2")


def test_the_heartbeat_thread_logs_the_id_of_its_job(
    store: Store, settings: WorkerSettings, claim_job: Claim, lines: Lines
) -> None:
    """Context variables of the thread that runs the job are copied into the heartbeat's thread."""
    run = claim_job("train")
    with (
        structlog.contextvars.bound_contextvars(job_id=run.id),
        Heartbeat(run, StopFlag(), 0.01, record_outcome),
    ):
        store.close()
        run.lease.store = Store.open(
            settings.model_copy(update={"database_url": "postgresql://127.0.0.1:1/x"})
        )
        wait_for(lambda: any(line["event"] == "job.heartbeat_missed" for line in lines()))
    missed = next(line for line in lines() if line["event"] == "job.heartbeat_missed")
    assert missed["job_id"] == run.id
