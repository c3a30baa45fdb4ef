"""Cache the callers of API keys and sessions, to save a database read per request."""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from app.auth.credentials import Credential
from app.http.caller import Caller
from core.errors import StoreUnavailable
from core.store import Store
from core.store.repositories.api_keys import LAST_USE_INTERVAL

FRESH_SECONDS = 1.0
MAX_CACHED = 1_000


@dataclass(frozen=True)
class _CachedCaller:
    caller: Caller
    read_at: float


class ApiKeyCache:
    """Cache of the callers of accepted keys and sessions. Thread-safe.

    An entry is fresh for one second: a key that another process revokes is refused within that time.
    Older entries show only that a credential was accepted before.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._callers: dict[Credential, _CachedCaller] = {}
        self._recorded_at: dict[str, float] = {}
        self._lock = threading.Lock()
        self._keys_exist = False
        self._existence_read_at = float("-inf")

    @property
    def keys_exist(self) -> bool | None:
        """Whether a key was ever created, or None if the database must be read again."""
        is_fresh = self._keys_exist or time.monotonic() - self._existence_read_at < FRESH_SECONDS
        return self._keys_exist if is_fresh else None

    def read_keys_exist(self) -> bool:
        """Read from the database whether a key exists; a positive result is cached for ever.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        read_at = time.monotonic()
        with self._store.read() as tx:
            self._keys_exist = tx.api_keys.any_exists() or self._keys_exist
        self._existence_read_at = read_at
        return self._keys_exist

    def fresh_caller(self, credential: Credential) -> Caller | None:
        """Return the cached caller of a credential, if it was read within the last second."""
        cached = self._callers.get(credential)
        return cached.caller if cached and time.monotonic() - cached.read_at < FRESH_SECONDS else None

    def last_known_caller(self, credential: Credential) -> Caller | None:
        """Return the caller of a credential at its last database read, None if it was not accepted."""
        cached = self._callers.get(credential)
        return None if cached is None else cached.caller

    def read(self, credential: Credential) -> Caller | None:
        """Read the caller of a credential from the database; None if it is unknown, expired or revoked.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        read_at = time.monotonic()
        with self._store.read() as tx:
            if credential.kind == "key":
                key, session_sha256 = tx.api_keys.find(credential.sha256), None
            else:
                key, session_sha256 = tx.api_keys.of_session(credential.sha256), credential.sha256
        caller = None if key is None else Caller.of(key, session_sha256)
        self._remember(credential, caller, read_at)
        return caller

    def invalidate_keys_exist(self) -> None:
        """Invalidate the cached value of `keys_exist` after a key was created."""
        self._existence_read_at = float("-inf")

    def invalidate_key(self, key_id: str) -> None:
        """Invalidate a revoked key and its sessions."""
        with self._lock:
            self._callers = {
                credential: cached
                for credential, cached in self._callers.items()
                if cached.caller.key_id != key_id
            }

    def invalidate_session(self, session: Credential) -> None:
        """Invalidate an ended session."""
        with self._lock:
            self._callers.pop(session, None)

    def should_record_use(self, key_id: str) -> bool:
        """Return True for the first use of the key in each minute, even if recording it fails."""
        recorded_at, now = self._recorded_at.get(key_id), time.monotonic()
        if recorded_at is not None and now - recorded_at < LAST_USE_INTERVAL.total_seconds():
            return False
        with self._lock:
            if len(self._recorded_at) >= MAX_CACHED:
                self._recorded_at.clear()
            self._recorded_at[key_id] = now
        return True

    def record_use(self, key_id: str) -> None:
        """Record a use of the key; ignore a database failure."""
        with suppress(StoreUnavailable), self._store.begin() as tx:
            tx.notifies_clients = False
            tx.api_keys.record_use(key_id)

    def _remember(self, credential: Credential, caller: Caller | None, read_at: float) -> None:
        with self._lock:
            self._callers.pop(credential, None)
            if caller is None:
                return
            self._callers[credential] = _CachedCaller(caller, read_at)
            if len(self._callers) > MAX_CACHED:
                del self._callers[next(iter(self._callers))]
