"""Identify callers, also during long requests; require an API key before listening on a network."""

import time
from typing import Annotated

from starlette.requests import Request

from app.auth import refusals
from app.auth.credentials import Credential, credential_of
from app.auth.key_cache import ApiKeyCache
from app.auth.rate_limit import TokenBuckets
from app.auth.refusals import Refusal
from app.auth.scopes import rule_of
from app.http.caller import Caller, rate_limit_key
from app.http.services import injected
from app.http.thread_pools import LOOKUPS, UNKNOWN_CREDENTIALS
from core.errors import StoreUnavailable
from rankery.loopback import is_loopback

_MINUTE_SECONDS = 60.0


class Authenticator:
    """Identify callers by their credentials.

    In each process, an IP address may send `wrong_keys_per_minute` wrong keys in a burst, and the same number
    in each later minute. This limits load; keys of 256 random bits cannot be guessed. A valid key always
    passes, since many clients may share an address: every key is looked up, unseen keys in a separate thread
    pool.
    """

    def __init__(self, key_cache: ApiKeyCache, wrong_keys_per_minute: int) -> None:
        self.key_cache = key_cache
        self._wrong_keys = TokenBuckets(wrong_keys_per_minute / _MINUTE_SECONDS, wrong_keys_per_minute)

    async def keys_exist(self) -> bool:
        """Return whether an API key was ever created: if so, every request needs one.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        cached = self.key_cache.keys_exist
        return await LOOKUPS.run(self.key_cache.read_keys_exist) if cached is None else cached

    async def identify(self, credential: Credential, address: str) -> Caller:
        """Return the caller of a credential.

        Raises:
            Refusal: The credential is not accepted; 429 for too many wrong keys from the address.
            StoreUnavailable: The database does not answer.
        """
        if caller := self.key_cache.fresh_caller(credential):
            return caller
        threads = LOOKUPS if self.key_cache.last_known_caller(credential) else UNKNOWN_CREDENTIALS
        caller = await threads.run(lambda: self.key_cache.read(credential))
        if caller is not None:
            return caller
        if credential.kind == "session":
            raise refusals.unauthenticated(refusals.SESSION_ENDED)
        if wait_seconds := self._wrong_keys.take(address, time.monotonic()):
            raise refusals.too_many_wrong_keys(wait_seconds)
        raise refusals.unauthenticated(refusals.BAD_KEY)


UseAuthenticator = Annotated[Authenticator, injected(Authenticator)]


class UnprotectedNetwork(Exception):
    """Raised when the service would listen beyond loopback before an API key was ever created."""


async def require_key_beyond_loopback(host: str, authenticator: Authenticator) -> None:
    """Refuse to listen beyond loopback before an API key was ever created.

    Raises:
        UnprotectedNetwork: The service would listen beyond loopback, and never had an API key.
    """
    if not is_loopback(host) and not await authenticator.keys_exist():
        raise UnprotectedNetwork(
            f"without an API key the service listens on loopback only, not on {host};"
            " create one with `rankery keys create NAME --scope admin`"
        )


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
