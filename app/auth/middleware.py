"""Authentication middleware: check host, origin, caller and scope of every request."""

from http import HTTPStatus
from urllib.parse import quote

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.auth import refusals
from app.auth.authenticator import Authenticator
from app.auth.credentials import Hosts, credential_of, is_foreign
from app.auth.refusals import Refusal
from app.auth.scopes import HEALTH, METRICS, SIGN_IN, rule_of
from app.http.caller import ANONYMOUS, OWNER, Caller, caller_in, rate_limit_key, set_caller
from app.http.middleware import HttpMiddleware
from app.http.problems import KINDS, UNAUTHENTICATED, http_problem, problem
from app.http.services import registered
from app.http.thread_pools import AFTER_RESPONSE
from app.settings import ApiSettings
from core.errors import StoreUnavailable
from core.store.visibility import limited_to
from rankery.loopback import is_loopback

_log = structlog.stdlib.get_logger("rankery.access")


class AuthMiddleware(HttpMiddleware):
    """ASGI middleware that authenticates callers and sets `request.state.key`.

    Requests are refused before any of their body is read. With a key that is bound to projects, the request
    and its threads and tasks can read only objects of these projects in the store.
    """

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        super().__init__(app)
        self._hosts = Hosts(settings.allowed_hosts)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["path"] in HEALTH:
            await self.app(scope, receive, send)
            return
        authenticator = registered(scope["app"], Authenticator)
        answer = await self._refusal(Request(scope), authenticator)
        with limited_to(caller_in(scope).projects):
            await (answer or self.app)(scope, receive, send)
        key_id = caller_in(scope).key_id
        if key_id is not None and authenticator.key_cache.should_record_use(key_id):
            await AFTER_RESPONSE.run(lambda: authenticator.key_cache.record_use(key_id))

    async def _refusal(self, request: Request, authenticator: Authenticator) -> Response | None:
        """Return the error response, or the redirect to the sign-in page; None for an authorized request."""
        try:
            return await self._admit(request, authenticator)
        except Refusal as refusal:
            wants_page = refusal.kind is UNAUTHENTICATED and expects_page(request)
            return _redirect_to_sign_in(request) if wants_page else refusal.answer()
        except StoreUnavailable:
            if _is_known_monitor(request, authenticator):
                return None
            # No detail for unauthenticated callers: it may contain the address of the database.
            _log.exception("auth.store_unavailable")
            return problem(KINDS[StoreUnavailable], None)

    async def _admit(self, request: Request, authenticator: Authenticator) -> Response | None:
        """Set the caller of an authorized request; return a 404 response for a path without a rule."""
        keys_exist = await authenticator.keys_exist()
        if not self._hosts.matches_host_header(request.headers, by_address=keys_exist):
            raise refusals.foreign_host()
        if is_foreign(request.headers, request.method):
            raise refusals.foreign_origin()
        rule = rule_of(request.scope["path"])
        needed = rule.scope(request.method) if rule else None
        if rule is not None and needed is None:
            set_caller(request.scope, ANONYMOUS)
            return None
        caller = await _identify(request, authenticator) if keys_exist else _owner(request)
        set_caller(request.scope, caller)
        if needed is None:
            return http_problem(HTTPStatus.NOT_FOUND)
        if not caller.may(needed):
            raise refusals.forbidden(caller, needed)
        if rule is not None and rule.shows_all_projects and caller.projects is not None:
            raise refusals.bound_to_projects(caller)
        return None


async def _identify(request: Request, authenticator: Authenticator) -> Caller:
    credential = credential_of(request)
    if credential is None:
        raise refusals.unauthenticated(refusals.NO_KEY)
    return await authenticator.identify(credential, rate_limit_key(request.scope))


def _owner(request: Request) -> Caller:
    """Return the owner for callers on loopback; refuse callers that a proxy on loopback forwards."""
    address = (request.scope.get("server") or ("", None))[0]
    forwarded = ",".join(request.headers.getlist("x-forwarded-for"))
    clients = [client.strip() for client in forwarded.split(",") if client.strip()]
    if not all(map(is_loopback, [address, *clients])):
        raise refusals.unauthenticated(refusals.NO_KEY_YET)
    return OWNER


def _is_known_monitor(request: Request, authenticator: Authenticator) -> bool:
    """Return whether a cached key requests the metrics, which report a database outage."""
    credential = credential_of(request)
    if request.method != "GET" or request.scope["path"] != METRICS or credential is None:
        return False
    caller = authenticator.key_cache.last_known_caller(credential)
    return caller is not None and caller.projects is None


def expects_page(request: Request) -> bool:
    """Return whether the request comes from a browser that expects a page."""
    return (
        request.method in ("GET", "HEAD")
        and not request.scope["path"].startswith(("/v1/", "/v2/"))
        and "text/html" in request.headers.get("accept", "")
    )


def _redirect_to_sign_in(request: Request) -> Response:
    # Path and query as sent, percent-encoded.
    path, query = request.scope.get("raw_path") or b"/", request.scope["query_string"]
    target = path + (b"?" + query if query else b"")
    return RedirectResponse(f"{SIGN_IN}?next={quote(target, safe='')}", HTTPStatus.SEE_OTHER)
