"""Audit log: record requests that may change something."""

import time
from http import HTTPStatus

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.auth.rate_limit import TokenBuckets
from app.auth.scopes import rule_of
from app.http.access_log import CLIENT_LEFT
from app.http.caller import ANONYMOUS, READ, SCORE, caller_in, rate_limit_key, recorded_address
from app.http.middleware import HttpMiddleware
from app.http.services import Services, registered
from app.http.thread_pools import AFTER_RESPONSE, AUDIT, ThreadPool
from core.errors import StoreUnavailable

RECORDED = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST})
# Limit of recorded unauthenticated requests per address, so that they cannot fill the database.
# The access log has all of them.
_UNAUTHENTICATED_PER_MINUTE = 60
# PATCH requests below this path are not recorded, since a file may take thousands.
# The creation and the use of an upload are recorded.
_UPLOADS = "/v1/uploads/"

_log = structlog.stdlib.get_logger("rankery.audit")


class AuditMiddleware(HttpMiddleware):
    """ASGI middleware that records requests that may change something, before their responses are sent.

    A 503 is recorded after the response, since the database may be unavailable. Requests that need only the
    scope `read` or `score`, such as click events, are recorded only where they are refused.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._unauthenticated = TokenBuckets(_UNAUTHENTICATED_PER_MINUTE / 60, _UNAUTHENTICATED_PER_MINUTE)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["method"] not in RECORDED:
            await self.app(scope, receive, send)
            return
        answered = unavailable = False

        async def send_recorded(message: Message) -> None:
            nonlocal answered, unavailable
            if message["type"] == "http.response.start":
                answered = True
                # Record a 503 later: a locked database would make the caller wait a second time.
                unavailable = message["status"] == HTTPStatus.SERVICE_UNAVAILABLE
                if not unavailable:
                    await self._record(scope, message["status"], AUDIT)
            await send(message)

        try:
            await self.app(scope, receive, send_recorded)
            if unavailable:
                await self._record(scope, HTTPStatus.SERVICE_UNAVAILABLE, AFTER_RESPONSE)
        except Exception as error:
            if not answered:
                disconnected = isinstance(error, ClientDisconnect)
                await self._record(
                    scope, CLIENT_LEFT if disconnected else HTTPStatus.INTERNAL_SERVER_ERROR, AFTER_RESPONSE
                )
            raise

    async def _record(self, scope: Scope, status: int, pool: ThreadPool) -> None:
        if not self._is_recorded(scope, status):
            return
        try:
            await pool.run(lambda: _add_entry(scope, int(status)))
        except StoreUnavailable as error:
            entry = {"method": scope["method"], "path": scope["path"], "status": status, "reason": str(error)}
            _log.error("audit.not_recorded", **entry)

    def _is_recorded(self, scope: Scope, status: int) -> bool:
        rule = rule_of(scope["path"])
        if rule is not None and rule.writing in (READ, SCORE) and status not in _REFUSED:
            return False
        if scope["method"] == "PATCH" and scope["path"].startswith(_UPLOADS) and status not in _REFUSED:
            return False
        caller = caller_in(scope)
        is_unauthenticated = caller is ANONYMOUS or (
            caller.key_id is None and status >= HTTPStatus.BAD_REQUEST
        )
        if not is_unauthenticated:
            return True
        wait_seconds = self._unauthenticated.take(rate_limit_key(scope), time.monotonic())
        return wait_seconds == 0


def _add_entry(scope: Scope, status: int) -> None:
    with registered(scope["app"], Services).store.begin() as tx:
        tx.audit.add(
            method=scope["method"],
            # The path as sent, percent-encoded: printable characters only.
            path=(scope.get("raw_path") or scope["path"].encode()).decode("ascii", "backslashreplace"),
            status=status,
            request_id=structlog.contextvars.get_contextvars().get("request_id", ""),
            key_id=caller_in(scope).key_id,
            address=recorded_address(scope),
        )
