"""Sign in to the dashboard with an API key, and sign out."""

from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app.auth import refusals
from app.auth.authenticator import Authenticator, UseAuthenticator
from app.auth.credentials import Credential, clear_session, session_of, set_session
from app.auth.refusals import Refusal
from app.auth.scopes import SIGN_IN, SIGN_OUT
from app.dashboard.assets import templates
from app.http.bodies import too_large
from app.http.caller import READ, Caller, rate_limit_key, set_caller
from app.http.root_path import root_path_of
from app.http.route import Router
from app.http.services import Services, UseServices

router = Router(include_in_schema=False)

MAX_FORM_BYTES = 2**14
_MAX_FIELDS = 8


@router.get(SIGN_IN)
async def sign_in_page(
    request: Request, authenticator: UseAuthenticator, target: Annotated[str, Query(alias="next")] = "/"
) -> Response:
    """Show the sign-in form; redirect to the target if no key is needed."""
    if not await authenticator.keys_exist():
        return _redirect_to(target)
    return _form_page(request, target)


@router.post(SIGN_IN)
async def sign_in(request: Request, services: UseServices, authenticator: UseAuthenticator) -> Response:
    """Start a session for a key with the read scope and redirect; show the form again for another key."""
    fields = await _form_fields(request)
    target = fields.get("next", "/")
    try:
        caller = await authenticator.identify(
            Credential.of_key(fields.get("key", "").strip()), rate_limit_key(request.scope)
        )
        if not caller.may(READ):
            raise refusals.forbidden(caller, READ)
    except Refusal as refusal:
        return _form_page(request, target, refusal)
    set_caller(request.scope, caller)
    return await run_in_threadpool(_begin_session, request, services, authenticator, caller, target)


@router.post(SIGN_OUT)
async def sign_out(request: Request, services: UseServices, authenticator: UseAuthenticator) -> Response:
    """End the browser's session, if there is one."""
    if session := session_of(request):
        with suppress(Refusal):
            set_caller(request.scope, await authenticator.identify(session, rate_limit_key(request.scope)))
            await run_in_threadpool(_end_session, services, authenticator, session)
    answer = RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER)
    clear_session(answer, path=_cookie_path(request), https=request.url.scheme == "https")
    return answer


def same_site_url(target: str) -> str:
    """Return the requested URL if it is a path of this service, else `/`.

    This prevents open redirects: browsers read backslashes as slashes and drop control characters, and two
    slashes begin a host.
    """
    try:
        parts = urlsplit(target)
    except ValueError:
        return "/"
    plain = target.isascii() and target.isprintable() and "\\" not in target and " " not in target
    is_path = target.startswith("/") and not target.startswith("//") and not parts.scheme and not parts.netloc
    is_sign_in = parts.path in (SIGN_IN, SIGN_OUT)
    return target if plain and is_path and not is_sign_in else "/"


def _begin_session(
    request: Request, services: Services, authenticator: Authenticator, caller: Caller, target: str
) -> Response:
    lifetime = timedelta(hours=services.settings.session_hours)
    earlier = session_of(request)
    with services.store.begin() as tx:
        if earlier is not None:
            tx.api_keys.end_session(earlier.sha256)
        token = tx.api_keys.begin_session(str(caller.key_id), lifetime)
    if earlier is not None:
        authenticator.key_cache.invalidate_session(earlier)
    answer = _redirect_to(target)
    https = request.url.scheme == "https"
    set_session(answer, token, lifetime, path=_cookie_path(request), https=https)
    return answer


def _cookie_path(request: Request) -> str:
    return root_path_of(request.scope) or "/"


def _end_session(services: Services, authenticator: Authenticator, session: Credential) -> None:
    with services.store.begin() as tx:
        tx.api_keys.end_session(session.sha256)
    authenticator.key_cache.invalidate_session(session)


def _redirect_to(target: str) -> Response:
    return RedirectResponse(same_site_url(target), HTTPStatus.SEE_OTHER)


def _form_page(request: Request, target: str, refusal: Refusal | None = None) -> Response:
    headers = (refusal.headers or {}) if refusal else {}
    return templates().TemplateResponse(
        request,
        "sign_in.html",
        {"next": same_site_url(target), "error": refusal.detail if refusal else None},
        status_code=int(refusal.kind.status if refusal else HTTPStatus.OK),
        headers={**headers, "cache-control": "no-store"},
    )


async def _form_fields(request: Request) -> dict[str, str]:
    """Parse the sign-in form."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_FORM_BYTES:
            raise too_large(MAX_FORM_BYTES)
    try:
        fields = parse_qs(content.decode("utf-8", "replace"), max_num_fields=_MAX_FIELDS)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}
