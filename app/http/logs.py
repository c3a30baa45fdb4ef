"""Configure one log format for the service, uvicorn and libraries."""

import logging

from core.logs import LogFormat, install_handler

# alembic and botocore log at every start; python_multipart warns of bodies that get an error response; httpx
# logs the whole URL of each request, which may contain a secret of a webhook.
_CHATTY = ("alembic", "aiobotocore", "botocore", "httpx", "httpx2", "python_multipart")


def configure_logging(level: str, log_format: LogFormat) -> None:
    """Send every log record of the process to stderr in one format.

    Call it again when the application starts, because uvicorn installs its own handlers after the build.
    """
    install_handler(level, log_format)
    _quiet_uvicorn()
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.NOTSET if level == "debug" else logging.ERROR)


def _quiet_uvicorn() -> None:
    for name in ("uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # `AccessLog` writes one line per request; uvicorn's access log would duplicate it.
    access = logging.getLogger("uvicorn.access")
    access.handlers.clear()
    access.propagate = False
