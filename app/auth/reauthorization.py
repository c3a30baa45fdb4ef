"""Repeat the authorization of long-lived requests, such as event streams."""

from starlette.requests import Request

from app.auth.authenticator import Authenticator
from app.auth.credentials import credential_of
from app.auth.refusals import Refusal
from app.auth.scopes import rule_of
from app.http.caller import rate_limit_key
from core.errors import StoreUnavailable


async def is_still_authorized(request: Request, authenticator: Authenticator) -> bool:
    """Return whether a long-lived request is still authorized.

    The key of the request may have been revoked meanwhile. Without any key in the service, requests need
    none, but a first key may have been created meanwhile. While the database does not answer, the request
    stays authorized.
    """
    rule = rule_of(request.scope["path"])
    needed = rule.scope(request.method) if rule else None
    try:
        if needed is None or not await authenticator.keys_exist():
            return True
        credential = credential_of(request)
        if credential is None:
            return False
        return (await authenticator.identify(credential, rate_limit_key(request.scope))).may(needed)
    except Refusal:
        return False
    except StoreUnavailable:
        return True
