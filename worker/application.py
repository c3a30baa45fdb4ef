"""Configure the Celery application and its process signals."""

import logging
import os
import socket
import warnings
from typing import Any

import structlog
from celery import Celery, signals
from celery.apps.worker import Worker, install_worker_term_handler
from celery.platforms import SecurityWarning

from core.logs import install_handler
from core.store import RUN_JOB, Store, queue_of
from worker.process.messages import TRANSPORT
from worker.process.pool import PoolProcess
from worker.process.shutdown import StopFlag
from worker.process.sweeper import Sweeper
from worker.settings import WorkerSettings

# Redis delivers an unacknowledged message again after this time. A pool process acknowledges a message when
# its jobs have ended; the job of a killed process is requeued by its lease.
_VISIBILITY_SECONDS = 24 * 3600
# A pool process is ready only after it has compiled the kernels that it cannot load from the cache.
_POOL_START_SECONDS = 900.0
_LOG = structlog.stdlib.get_logger(__name__)


def make_celery(settings: WorkerSettings, lane: str) -> Any:
    """Build the Celery application of a lane with its one task, `rankery.run_job`."""
    celery = Celery("rankery", broker=settings.broker_url, set_as_current=False)
    celery.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        result_backend=None,
        task_default_queue=queue_of(lane),
        # With `worker_prefetch_multiplier=1`, a process takes its next message after its present job, so that
        # no message waits at a busy worker while another is idle.
        task_acks_late=True,
        # An expired lease requeues the job of a killed process, so its message may be dropped.
        task_reject_on_worker_lost=False,
        task_track_started=False,
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.concurrency_of(lane),
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_proc_alive_timeout=_POOL_START_SECONDS,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_transport=TRANSPORT,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={"visibility_timeout": _VISIBILITY_SECONDS},
    )
    stop = StopFlag()
    worker = f"{socket.gethostname()}:{os.getpid()}"
    process = PoolProcess(settings, stop, worker, lane)
    celery.task(name=RUN_JOB)(process.run_jobs)
    _connect(settings, stop, process, Sweeper(settings, worker, lane))
    return celery


def prepare(settings: WorkerSettings) -> None:
    """Set up the log of this process and the database.

    Raises:
        StoreUnavailable: The database or the artifact storage cannot be used.
    """
    configure_logging(settings)
    store = Store.open(settings)
    store.migrate()
    store.close()


def run_lane(settings: WorkerSettings, lane: str) -> None:
    """Run the worker of a lane in this process until SIGINT or SIGTERM; running jobs are requeued."""
    concurrency, threads = settings.concurrency_of(lane), settings.threads_per_job
    _LOG.info("worker.starting", lane=lane, concurrency=concurrency, threads=threads)
    celery = make_celery(settings, lane)
    worker = _LaneWorker(
        app=celery,
        pool="prefork",
        loglevel=settings.log_level.upper(),
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    _LOG.info("worker.stopped", lane=lane)


class _LaneWorker(Worker):  # type: ignore[misc]
    """A Celery worker that prints no banner at a shutdown."""

    def install_platform_tweaks(self, worker: Any) -> None:
        """Install Celery's signal handlers; the handler of SIGTERM prints no banner."""
        super().install_platform_tweaks(worker)
        install_worker_term_handler(worker, verbose=False)


def _connect(settings: WorkerSettings, stop: StopFlag, process: PoolProcess, sweeper: Sweeper) -> None:
    """Connect receivers to Celery's signals; a second application replaces those of the first."""

    def on_logging(**_: Any) -> None:
        configure_logging(settings)

    def on_process_init(**_: Any) -> None:
        process.start()

    def on_process_shutdown(**_: Any) -> None:
        process.flush_traces()

    def on_ready(sender: Any, **_: Any) -> None:
        sweeper.start(sender.timer)

    def on_shutting_down(**_: Any) -> None:
        stop.set()

    def on_shutdown(**_: Any) -> None:
        sweeper.deregister()

    receivers = (
        (signals.setup_logging, on_logging),
        (signals.worker_process_init, on_process_init),
        (signals.worker_process_shutdown, on_process_shutdown),
        (signals.worker_ready, on_ready),
        (signals.worker_shutting_down, on_shutting_down),
        (signals.worker_shutdown, on_shutdown),
    )
    for signal, receiver in receivers:
        signal.disconnect(dispatch_uid="rankery")
        signal.connect(receiver, weak=False, dispatch_uid="rankery")


def configure_logging(settings: WorkerSettings) -> None:
    """Send every log record of this process and of those forked from it to stderr."""
    logging.getLogger().handlers.clear()
    install_handler(settings.log_level, settings.log_format)
    # Celery warns root about pickle, which is never accepted here; containers do run as root.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # These libraries log every step, task and message.
    for name in (
        "aiobotocore",
        "alembic",
        "botocore",
        "celery.worker.strategy",
        "celery.app.trace",
        "httpx",
        "httpx2",
        "kombu",
        "numba",
    ):
        logging.getLogger(name).setLevel(logging.WARNING)
