"""Access log middleware: request ids, a log line per request, unhandled exceptions; the format of logs."""

import logging
import re
import time
import uuid

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from app.http.caller import address_of
from app.http.middleware import HttpMiddleware
from app.http.problems import internal_error
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


HEADER = "X-Request-ID"
# nginx's status for a client that disconnected before its response; logged but never sent.
CLIENT_LEFT = 499
_ACCEPTABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_log = structlog.stdlib.get_logger("rankery.access")


class AccessLog(HttpMiddleware):
    """ASGI middleware that assigns a request id, logs each request and answers unhandled exceptions with 500.

    An `X-Request-ID` of the caller is kept if it has 1 to 128 letters, digits and `._:-`: one id follows a
    request through proxies. Log lines written while the request is handled have the request id, and after
    authentication the id of the API key.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        request_id = _request_id(Headers(scope=scope))
        started = time.perf_counter()
        status: int | None = None

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])  # an `HTTPStatus` is logged as its name
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        # Drop the variables of the previous request, such as the key of its caller.
        structlog.contextvars.clear_contextvars()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, send_with_id)
            except ClientDisconnect:
                status = CLIENT_LEFT
            except Exception:
                _log.exception("unhandled exception", method=scope["method"], path=scope["path"])
                if status is not None:
                    raise  # the response has begun: the server must cut the connection
                await internal_error()(scope, receive, send_with_id)
            finally:
                _log.info(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    address=address_of(scope),
                    duration_ms=round((time.perf_counter() - started) * 1000, 1),
                )


def _request_id(headers: Headers) -> str:
    offered = headers.get(HEADER, "")
    return offered if _ACCEPTABLE_ID.fullmatch(offered) else uuid.uuid4().hex
