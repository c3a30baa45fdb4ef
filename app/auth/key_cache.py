"""Cache the callers of API keys and sessions, to save a database read per request."""

import threading
import time
from dataclasses import dataclass

from app.auth.credentials import Credential
from app.http.caller import Caller
from core.errors import StoreUnavailable
from core.store import Store
from core.store.repositories.api_keys import LAST_USE_INTERVAL

FRESH_SECONDS = 1.0
MAX_CACHED = 1_000


@dataclass(frozen=True)
class _Answer:
    caller: Caller
    asked_at: float


class ApiKeyCache:
    """Cache of accepted keys and sessions, valid for one second. Thread-safe.

    Keys that another process revokes are refused within that second. Only accepted credentials are cached.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._answers: dict[Credential, _Answer] = {}
        self._noted_at: dict[str, float] = {}
        self._lock = threading.Lock()
        self._keys_exist = False
        self._asked_at = float("-inf")

    @property
    def keys_exist(self) -> bool | None:
        """Whether a key was ever created, or None if the database must be read again."""
        fresh = self._keys_exist or time.monotonic() - self._asked_at < FRESH_SECONDS
        return self._keys_exist if fresh else None

    def ask_whether_keys_exist(self) -> bool:
        """Read from the database whether a key exists; a positive result is cached for ever.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        asked_at = time.monotonic()
        with self._store.read() as tx:
            self._keys_exist = tx.api_keys.any_exists() or self._keys_exist
        self._asked_at = asked_at
        return self._keys_exist

    def fresh(self, credential: Credential) -> Caller | None:
        """Return the cached caller of a credential, if it was read within the last second."""
        answer = self._answers.get(credential)
        return answer.caller if answer and time.monotonic() - answer.asked_at < FRESH_SECONDS else None

    def was_accepted(self, credential: Credential) -> bool:
        """Return whether a credential was accepted at the last database read."""
        return credential in self._answers

    def last_known(self, credential: Credential) -> Caller | None:
        """Return the caller of a credential at the last database read, or None."""
        answer = self._answers.get(credential)
        return None if answer is None else answer.caller

    def ask(self, credential: Credential) -> Caller | None:
        """Read the caller of a credential from the database; None if it is unknown, expired or revoked.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        asked_at = time.monotonic()
        with self._store.read() as tx:
            if credential.kind == "key":
                key, session_sha256 = tx.api_keys.find(credential.sha256), None
            else:
                key, session_sha256 = tx.api_keys.of_session(credential.sha256), credential.sha256
        caller = None if key is None else Caller.of(key, session_sha256)
        self._remember(credential, caller, asked_at)
        return caller

    def key_made(self) -> None:
        """Invalidate the cached absence of keys after one was created."""
        self._asked_at = float("-inf")

    def key_revoked(self, key_id: str) -> None:
        """Invalidate a revoked key and its sessions."""
        with self._lock:
            self._answers = {
                credential: answer
                for credential, answer in self._answers.items()
                if answer.caller.key_id != key_id
            }

    def session_ended(self, session: Credential) -> None:
        """Invalidate an ended session."""
        with self._lock:
            self._answers.pop(session, None)

    def begin_note(self, key_id: str) -> bool:
        """Return whether to record a use of the key: once per minute, even if recording fails."""
        noted_at, now = self._noted_at.get(key_id), time.monotonic()
        if noted_at is not None and now - noted_at < LAST_USE_INTERVAL.total_seconds():
            return False
        with self._lock:
            if len(self._noted_at) >= MAX_CACHED:
                self._noted_at.clear()
            self._noted_at[key_id] = now
        return True

    def note_use(self, key_id: str) -> None:
        """Record a use of the key; ignore a database failure."""
        try:
            with self._store.begin() as tx:
                tx.announced = False
                tx.api_keys.note_use(key_id)
        except StoreUnavailable:
            pass

    def _remember(self, credential: Credential, caller: Caller | None, asked_at: float) -> None:
        with self._lock:
            self._answers.pop(credential, None)
            if caller is None:
                return
            self._answers[credential] = _Answer(caller, asked_at)
            if len(self._answers) > MAX_CACHED:
                del self._answers[next(iter(self._answers))]
