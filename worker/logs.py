"""The worker's log: one format for our own messages, Celery's and the libraries'."""

import logging
import sys
import warnings

import structlog
from celery.platforms import SecurityWarning
from structlog.typing import Processor

from worker.settings import WorkerSettings

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure_logging(settings: WorkerSettings) -> None:
    """Send every log record of this process and of those forked from it to stderr."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    renderer: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings.log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), sort_keys=False)]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    # Celery warns root about pickle, which is never accepted here; containers do run as root.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # They announce every step, task and message; a job's own lines say more.
    for name in ("alembic", "celery.worker.strategy", "celery.app.trace", "kombu", "numba"):
        logging.getLogger(name).setLevel(logging.WARNING)
