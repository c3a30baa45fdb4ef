"""Stored browser sessions."""

import secrets
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from core.store.clock import utc_now
from core.store.repositories.api_keys import is_active, secret_sha256
from core.store.tables import ApiKey, BrowserSession

_TOKEN_BYTES = 32


class Sessions:
    """Browser sessions within one transaction, with hashed tokens."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self, key_id: str, lifetime: timedelta) -> str:
        """Create a session of a key and return its token; delete expired sessions."""
        now = utc_now()
        self._session.execute(delete(BrowserSession).where(BrowserSession.expires_at <= now))
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._session.add(
            BrowserSession(token_sha256=secret_sha256(token), key_id=key_id, expires_at=now + lifetime)
        )
        self._session.flush()
        return token

    def find(self, token_sha256: str) -> ApiKey | None:
        """Return the key of an active session, or None."""
        found = self._session.get(BrowserSession, token_sha256)
        now = utc_now()
        if found is None or found.expires_at <= now:
            return None
        key = self._session.get(ApiKey, found.key_id)
        return key if key is not None and is_active(key, now) else None

    def end(self, token_sha256: str) -> None:
        """End a session, if it exists."""
        self._session.execute(delete(BrowserSession).where(BrowserSession.token_sha256 == token_sha256))
