"""Authorization of requests that last, checked again."""

from starlette.requests import Request

from app.auth.authenticator import Authenticator
from app.auth.credentials import credential_of
from app.auth.refusals import Refusal
from app.auth.scopes import rule_of
from app.http.caller import caller_of
from core.errors import StoreUnavailable


async def is_still_authorized(request: Request, authenticator: Authenticator) -> bool:
    """Return whether a request would be authorized now; its key may have been revoked, or the first one made.

    While the database does not answer, it is.
    """
    rule = rule_of(request.scope["path"])
    needed = rule.scope(request.method) if rule else None
    try:
        if needed is None or not await authenticator.keys_exist():
            return True
        credential = credential_of(request)
        if credential is None:
            return False
        return (await authenticator.identify(credential, caller_of(request.scope))).may(needed)
    except Refusal:
        return False
    except StoreUnavailable:
        return True
