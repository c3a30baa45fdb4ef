"""API keys and the audit log."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Body, Query
from starlette.responses import Response

from app.auth.authenticator import UseAuthenticator
from app.auth.schemas import AuditPage, Key, KeyPage, KeyRequest, NewKey
from app.http.caller import UseCaller
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import JsonRoute, Router
from app.http.schemas import Cursor, Id, Limit
from app.http.services import UseServices
from core.errors import InvalidInput

audit_router = Router(prefix="/v1/audit", tags=["keys"], route_class=JsonRoute)


@audit_router.get("", summary="List the audit log", responses=etag_responses(422))
def list_audit(
    services: UseServices,
    key_id: Annotated[Id | None, Query(description="Only requests with this API key")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """List the audit log, newest first: requests that changed something or tried to.

    Refused requests are included. Scoring requests, click events and pieces of uploads are listed only if
    they were refused.
    """
    with services.store.read() as tx:
        page = tx.audit.page(cursor, limit, key_id=key_id)
    return AuditPage.model_validate(page)


keys_router = Router(prefix="/v1/keys", tags=["keys"], route_class=JsonRoute)

_EXAMPLES: Any = {
    "worker": {
        "summary": "Submits jobs and ranks documents, until a date",
        "value": {
            "name": "nightly training",
            "scopes": ["write", "score"],
            "expires_at": "2100-01-01T00:00:00Z",
            "max_active_jobs": 20,
        },
    },
    "project": {
        "summary": "Works within one project",
        "value": {"name": "web search team", "scopes": ["write", "score"], "projects": ["web"]},
    },
    "reader": {"summary": "Reads only", "value": {"name": "dashboard", "scopes": ["read"]}},
}


@keys_router.post("", summary="Create a key", status_code=HTTPStatus.CREATED, responses=body_problems())
def create_key(
    body: Annotated[KeyRequest, Body(openapi_examples=_EXAMPLES)],
    services: UseServices,
    authenticator: UseAuthenticator,
    caller: UseCaller,
    response: Response,
) -> NewKey:
    """Create an API key and return its secret once; only the hash is stored.

    The first key needs the scope `admin`; then every request needs a key. `Idempotency-Key` is not used.
    """
    if caller.key_id is None and "admin" not in body.scopes:
        raise InvalidInput.at("/scopes", "must include admin: without it, no key could create other keys")
    values = body.model_dump(exclude={"name", "scopes"})
    with services.store.begin() as tx:
        key, secret = tx.api_keys.create(body.name, body.scopes, created_by=caller.key_id, **values)
    authenticator.key_cache.invalidate_keys_exist()
    response.headers["Cache-Control"] = "no-store"
    return NewKey(**Key.model_validate(key).model_dump(), secret=secret)


@keys_router.get("", summary="List keys", responses=etag_responses(422))
def list_keys(services: UseServices, cursor: Cursor = None, limit: Limit = 50) -> KeyPage:
    """List API keys, newest first, expired and revoked ones included."""
    with services.store.read() as tx:
        page = tx.api_keys.page(cursor, limit)
    return KeyPage.model_validate(page)


@keys_router.delete(
    "/{key_id}", summary="Revoke a key", status_code=HTTPStatus.NO_CONTENT, responses=problems(404)
)
def revoke_key(key_id: str, services: UseServices, authenticator: UseAuthenticator) -> None:
    """Revoke an API key within a second and end its browser sessions.

    Jobs of the key continue. The request may be repeated.
    """
    with services.store.begin() as tx:
        tx.api_keys.revoke(key_id)
    authenticator.key_cache.invalidate_key(key_id)
