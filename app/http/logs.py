"""Configure one log format for the service, uvicorn and libraries."""

import logging

from core.logs import LogFormat, log_formatter

# alembic and botocore greet at every start; python_multipart warns of bodies that the client is told about.
_CHATTY = ("alembic", "aiobotocore", "botocore", "python_multipart")


def configure_logging(level: str, log_format: LogFormat) -> None:
    """Send every log record of the process to stderr in one format.

    Runs when the application starts rather than when it is built, because uvicorn installs its own
    handlers in between. Calling it again replaces what the earlier call installed.
    """
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _Stderr)]:
        root.removeHandler(handler)
    root.addHandler(_Stderr(log_format))
    root.setLevel(level.upper())
    _quiet_uvicorn()
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.NOTSET if level == "debug" else logging.ERROR)


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg] # generic in the stubs only
    """The handler that `configure_logging` owns, so that it can find its own again."""

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self.setFormatter(log_formatter(log_format, self.stream))


def _quiet_uvicorn() -> None:
    for name in ("uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # The access log has one line a request with its id; uvicorn's would be a second.
    access = logging.getLogger("uvicorn.access")
    access.handlers.clear()
    access.propagate = False
