"""Stored API keys and browser sessions, with hashed secrets."""

import hashlib
import hmac
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update

from core.errors import InvalidInput
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.projects import PROJECT_RULE, is_project_name
from core.store.repositories.repository import Repository, insert_row
from core.store.tables import ApiKey, BrowserSession

ADMIN = "admin"
SCOPES = ("read", "score", "write", ADMIN)
SECRET_PREFIX = "rk_"  # noqa: S105 - the prefix of all secrets
LAST_USE_INTERVAL = timedelta(minutes=1)

_SECRET_BYTES = 32  # 43 characters of url-safe base64
_HINT_CHARACTERS = len(SECRET_PREFIX) + 5


class ApiKeys(Repository[ApiKey]):
    """API keys and the browser sessions that use them, within one transaction.

    Revoked keys stay on record for the audit log. SHA-256 without salt or stretching is enough for secrets
    of 256 random bits; tokens of sessions are stored like secrets.
    """

    table = ApiKey
    kind = "key"
    id_prefix = ids.API_KEY

    def create(
        self,
        name: str,
        scopes: Collection[str],
        *,
        expires_at: datetime | None = None,
        created_by: str | None = None,
        max_active_jobs: int | None = None,
        max_stored_bytes: int | None = None,
        projects: Collection[str] | None = None,
    ) -> tuple[ApiKey, str]:
        """Create an API key.

        Args:
            scopes: Its scopes, of `SCOPES`.
            expires_at: Time of its expiry, None for never.
            created_by: Id of the key that created it, None for the command line.
            max_active_jobs: Quota of active jobs, None for the default of the settings.
            max_stored_bytes: Quota of the bytes of its datasets, click logs and open uploads, None for the
                default of the settings.
            projects: The projects that it is limited to, None for all.

        Returns:
            The key, and its secret, which is not stored.

        Raises:
            InvalidInput: The scopes are empty or unknown, the expiry is in the past, or the projects are
                empty, invalid or given for the scope `admin`.
        """
        _check(scopes, expires_at)
        _check_projects(scopes, projects)
        secret = SECRET_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        key = self._insert(
            name=name,
            secret_sha256=secret_sha256(secret),
            hint=secret[:_HINT_CHARACTERS],
            scopes=[scope for scope in SCOPES if scope in scopes],
            expires_at=expires_at,
            created_by=created_by,
            max_active_jobs=max_active_jobs,
            max_stored_bytes=max_stored_bytes,
            projects=None if projects is None else sorted(set(projects)),
        )
        return key, secret

    def any_exists(self) -> bool:
        """Return whether a key was ever created."""
        return bool(self._session.scalar(select(select(ApiKey.id).exists())))

    def find(self, sha256: str) -> ApiKey | None:
        """Return the active key whose secret has the given SHA-256 hash, or None."""
        key = self._session.scalar(select(ApiKey).where(ApiKey.secret_sha256 == sha256))
        if key is None or not hmac.compare_digest(key.secret_sha256, sha256):
            return None
        return key if is_active(key, utc_now()) else None

    def revoke(self, id: str) -> ApiKey:
        """Revoke a key and end its sessions. Idempotent."""
        key = self.get(id)
        key.revoked_at = key.revoked_at or utc_now()
        self._session.execute(delete(BrowserSession).where(BrowserSession.key_id == id))
        self._session.flush()
        return key

    def record_use(self, id: str) -> None:
        """Record the last use of a key, with a resolution of one minute."""
        now = utc_now()
        is_outdated = or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at <= now - LAST_USE_INTERVAL)
        self._session.execute(update(ApiKey).where(ApiKey.id == id, is_outdated).values(last_used_at=now))

    def begin_session(self, key_id: str, lifetime: timedelta) -> str:
        """Create a browser session of a key and return its token; delete expired sessions."""
        now = utc_now()
        self._session.execute(delete(BrowserSession).where(BrowserSession.expires_at <= now))
        token = secrets.token_urlsafe(_SECRET_BYTES)
        expires_at = now + lifetime
        insert_row(
            self._session,
            BrowserSession(token_sha256=secret_sha256(token), key_id=key_id, expires_at=expires_at),
        )
        return token

    def of_session(self, token_sha256: str) -> ApiKey | None:
        """Return the key of an active browser session, or None."""
        session, now = self._session.get(BrowserSession, token_sha256), utc_now()
        if session is None or session.expires_at <= now:
            return None
        key = self._session.get(ApiKey, session.key_id)
        return key if key is not None and is_active(key, now) else None

    def end_session(self, token_sha256: str) -> None:
        """End a browser session, if it exists."""
        self._session.execute(delete(BrowserSession).where(BrowserSession.token_sha256 == token_sha256))


def secret_sha256(secret: str) -> str:
    """Return the stored hash of a secret or session token."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def is_active(key: ApiKey, now: datetime) -> bool:
    """Return whether a key is neither revoked nor expired."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def _check(scopes: Collection[str], expires_at: datetime | None) -> None:
    unknown = sorted(set(scopes) - set(SCOPES))
    if not scopes or unknown:
        suffix = f", not {unknown[0]!r}" if unknown else ""
        raise InvalidInput.at("/scopes", f"must be a list of {', '.join(SCOPES)}{suffix}")
    if expires_at is not None and expires_at <= utc_now():
        raise InvalidInput.at("/expires_at", "must be in the future")


def _check_projects(scopes: Collection[str], projects: Collection[str] | None) -> None:
    if projects is None:
        return
    if not projects:
        raise InvalidInput.at("/projects", "must name at least one project; leave it out for all projects")
    for index, name in enumerate(projects):
        if not is_project_name(name):
            raise InvalidInput.at(f"/projects/{index}", PROJECT_RULE)
    if ADMIN in scopes:
        raise InvalidInput.at(
            "/scopes", "a key limited to projects cannot have the scope admin, which covers all projects"
        )
