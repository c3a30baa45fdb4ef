"""The one task: claim a job, carry it out, and write how it ended."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import structlog

from core.errors import JobCancelled, LeaseLost
from core.store import Store
from worker.comparison import run_comparison
from worker.evaluation import run_evaluation
from worker.heartbeat import Heartbeat
from worker.importing import run_import
from worker.ingestion import run_ingestion
from worker.jobs import JobRun, WorkerStopping
from worker.problems import problem_of
from worker.ranking import run_ranking
from worker.settings import WorkerSettings
from worker.stopping import StopFlag
from worker.training import run_training

RUNNERS: Mapping[str, Callable[[JobRun], None]] = MappingProxyType(
    {
        "ingest": run_ingestion,
        "import": run_import,
        "train": run_training,
        "evaluate": run_evaluation,
        "rank": run_ranking,
        "compare": run_comparison,
    }
)
_LOG = structlog.stdlib.get_logger(__name__)


def run_job(store: Store, settings: WorkerSettings, stop: StopFlag, worker: str, job_id: str) -> None:
    """Carry out a job if it still waits; do nothing where another worker has it or it has ended."""
    if stop.is_set():
        return
    run = JobRun.claim(store, settings, job_id, worker)
    if run is None:
        _LOG.info("job.nothing_to_do", job_id=job_id)
        return
    with structlog.contextvars.bound_contextvars(job_id=run.id, kind=run.kind):
        _LOG.info("job.started", token=run.token)
        with Heartbeat(run, stop, settings.heartbeat_seconds):
            ending = _carry_out(run)
        _LOG.info(f"job.{ending}")


def _carry_out(run: JobRun) -> str:
    try:
        return _settle(run)
    except (LeaseLost, WorkerStopping) as error:
        # The job is no longer ours: not a word about it may be written.
        run.discard_artifacts()
        return "lost" if isinstance(error, LeaseLost) else "handed_back"


def _settle(run: JobRun) -> str:
    try:
        RUNNERS[run.kind](run)
    except (LeaseLost, WorkerStopping):
        raise
    except JobCancelled:
        run.discard_artifacts()
        run.cancel()
        return "cancelled"
    except Exception as error:  # noqa: BLE001 - whatever it is, the job must end with it
        run.discard_artifacts()
        run.fail(problem_of(error))
        return "failed"
    return "succeeded"
