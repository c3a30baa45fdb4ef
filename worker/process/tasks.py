"""The Celery task: claim jobs, run them and record their outcome."""

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

import structlog
from opentelemetry.trace import Span, SpanKind, StatusCode

from core.errors import JobCancelled, LeaseLost, StoreUnavailable
from core.jobs import JobKind, parse
from core.store import Store
from core.telemetry import TRACER, parent_context
from worker.job.lease import WorkerStopping
from worker.job.limits import LimitReached
from worker.job.run import RETRY_LATER, JobRun
from worker.process.heartbeat import Heartbeat
from worker.process.problems import problem_of
from worker.process.shutdown import StopFlag
from worker.runners.automatic_training import run_auto_train, run_candidates
from worker.runners.clicks import run_click_model, run_click_simulation, run_judging, run_propensity
from worker.runners.comparison import run_comparison
from worker.runners.conclusion import run_conclusion
from worker.runners.drift import run_drift
from worker.runners.experiment_report import run_report
from worker.runners.imports import run_import, run_model_import
from worker.runners.ingestion import run_click_log_ingestion, run_ingestion
from worker.runners.measuring import run_counterfactual, run_evaluation, run_inspection, run_ranking
from worker.runners.promotion import run_promotion
from worker.runners.reproduction import run_reproduction
from worker.runners.training import run_training
from worker.runners.trial import run_trial
from worker.settings import WorkerSettings

# Each runner takes the claimed job and its specification, parsed by its kind in `core.jobs`.
RUNNERS: Mapping[JobKind, Callable[[JobRun, Any], None]] = MappingProxyType(
    {
        JobKind.TRAIN: run_training,
        JobKind.REPRODUCE: run_reproduction,
        JobKind.AUTO_TRAIN: run_auto_train,
        JobKind.TRY_CANDIDATES: run_candidates,
        JobKind.TRIAL: run_trial,
        JobKind.CONCLUDE: run_conclusion,
        JobKind.EVALUATE: run_evaluation,
        JobKind.COMPARE: run_comparison,
        JobKind.PROMOTE: run_promotion,
        JobKind.INSPECT: run_inspection,
        JobKind.COUNTERFACTUAL: run_counterfactual,
        JobKind.DRIFT: run_drift,
        JobKind.RANK: run_ranking,
        JobKind.REPORT: run_report,
        JobKind.INGEST: run_ingestion,
        JobKind.INGEST_CLICKS: run_click_log_ingestion,
        JobKind.CLICK_MODEL: run_click_model,
        JobKind.JUDGE: run_judging,
        JobKind.PROPENSITY: run_propensity,
        JobKind.SIMULATE_CLICKS: run_click_simulation,
        JobKind.IMPORT: run_import,
        JobKind.IMPORT_MODEL: run_model_import,
    }
)
_POLL_SECONDS = 0.1
_LOG = structlog.stdlib.get_logger(__name__)


def run_jobs(
    store: Store, settings: WorkerSettings, stop: StopFlag, worker: str, kinds: Collection[str]
) -> None:
    """Run queued jobs of these kinds until none is left.

    Pause after a transient error, longer with each attempt, since it may affect all jobs.
    """
    while not stop.is_set():
        run = JobRun.claim_next(store, settings, kinds, worker)
        if run is None:
            return
        if run_job(run, settings, stop) == RETRY_LATER:
            _pause(settings.retry_seconds * 2 ** (run.attempt - 1), stop)


def _pause(seconds: float, stop: StopFlag) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not stop.is_set():
        time.sleep(min(_POLL_SECONDS, seconds))


def run_job(run: JobRun, settings: WorkerSettings, stop: StopFlag) -> str:
    """Run a claimed job, record its outcome and return it."""
    with (
        _span(run) as span,
        structlog.contextvars.bound_contextvars(
            job_id=run.id, kind=run.kind, attempt=run.attempt, token=run.lease.token, worker=run.worker
        ),
    ):
        started = time.monotonic()
        if run.reporter.checkpoint:
            _LOG.info("job.resumed", iteration=run.reporter.checkpoint["iteration"])
        else:
            _LOG.info("job.started")
        with run.reporter.phases.sampling(), Heartbeat(run, stop, settings.heartbeat_seconds, record_outcome):
            outcome = _execute(run)
        _LOG.info(f"job.{outcome}", duration_seconds=round(time.monotonic() - started, 3))
        span.set_attribute("rankery.job.ending", outcome)
        if outcome == "failed":
            span.set_status(StatusCode.ERROR)
    return outcome


def _span(run: JobRun) -> AbstractContextManager[Span]:
    """Start the span of an attempt at a job, in the trace of the request that submitted the job."""
    attributes: dict[str, str | int] = {
        "rankery.job.id": run.id,
        "rankery.job.kind": run.kind,
        "rankery.job.attempt": run.attempt,
        "rankery.job.worker": run.worker or "",
    }
    return TRACER.start_as_current_span(
        f"job {run.kind}",
        context=parent_context(run.trace_context),
        kind=SpanKind.CONSUMER,
        attributes=attributes,
    )


def run_runner(run: JobRun) -> None:
    """Parse the specification of a claimed job and run it."""
    RUNNERS[JobKind(run.kind)](run, parse(run.kind, run.spec))


def _execute(run: JobRun) -> str:
    try:
        run_runner(run)
    except Exception as error:  # noqa: BLE001 - the job must end with any error
        return record_outcome(run, error)
    return run.outcome


def record_outcome(run: JobRun, error: Exception) -> str:
    """Record the outcome of a job that raised an error and return it.

    Nothing is written for a job whose lease is lost.
    """
    try:
        outcome = _record(run, error)
    except LeaseLost:
        outcome = "lost"
    except StoreUnavailable:
        # The lease expires, and the sweep of a worker that reaches the database requeues the job. Its
        # artifacts stay: the result may still be committed.
        _LOG.exception("job.outcome_not_recorded")
        return "lost"
    run.discard_artifacts()
    return outcome


def _record(run: JobRun, error: Exception) -> str:
    if isinstance(error, LeaseLost):
        raise error
    if isinstance(error, WorkerStopping):
        run.release()
        return "handed_back"
    if isinstance(error, JobCancelled):
        run.cancel()
        return "cancelled"
    problem = error.problem if isinstance(error, LimitReached) else problem_of(error, run.kind)
    if isinstance(error, StoreUnavailable):
        return run.retry_later(problem)
    run.fail(problem)
    return "failed"
