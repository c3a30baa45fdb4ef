"""Configure one log format for the worker, Celery and libraries."""

import logging
import sys
import warnings

from celery.platforms import SecurityWarning

from core.logs import log_formatter
from worker.settings import WorkerSettings


def configure_logging(settings: WorkerSettings) -> None:
    """Send every log record of this process and of those forked from it to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(log_formatter(settings.log_format))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    # Celery warns root about pickle, which is never accepted here; containers do run as root.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # They announce every step, task and message; a job's own lines say more.
    for name in (
        "aiobotocore",
        "alembic",
        "botocore",
        "celery.worker.strategy",
        "celery.app.trace",
        "kombu",
        "numba",
    ):
        logging.getLogger(name).setLevel(logging.WARNING)
