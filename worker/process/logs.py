"""Configure one log format for the worker, Celery and libraries."""

import logging
import warnings

from celery.platforms import SecurityWarning

from core.logs import install_handler
from worker.settings import WorkerSettings


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
