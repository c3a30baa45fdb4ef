"""Quotas of API keys."""

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from core.errors import ByteQuotaExceeded, JobQuotaExceeded, JobQuotaTooSmall, UploadQuotaExceeded
from core.jobs.base import ACTIVE
from core.store.engines import advisory_lock
from core.store.repositories.uploads import has_key, open_uploads
from core.store.tables import ApiKey, ClickLog, Dataset, Job, Upload
from core.store.visibility import limited_to

_LOCKS = 0x51554F54  # namespace of advisory locks: "QUOT"


class Quotas:
    """Quotas, checked in the transaction that adds the counted objects.

    Callers without an API key share one quota.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def allow_jobs(self, key_id: str | None, default: int, adding: int = 1, *, added: int = 0) -> None:
        """Check the quota of active jobs of a key.

        Args:
            key_id: The key, None without authentication.
            added: Number of jobs of the request that this transaction has added already.

        Raises:
            JobQuotaExceeded: The jobs would exceed the quota.
            JobQuotaTooSmall: They would exceed it even if no other job were active.
        """
        advisory_lock(self._session, _LOCKS, key_id or "")
        key_limit = self._session.scalar(select(ApiKey.max_active_jobs).where(ApiKey.id == key_id))
        limit = default if key_limit is None else key_limit
        if adding + added > limit:
            raise JobQuotaTooSmall(limit, adding + added)
        active = select(func.count()).select_from(Job)
        active = active.where(Job.status.in_(ACTIVE), has_key(Job.key_id, key_id))
        if self._total(active) + adding > limit:
            raise JobQuotaExceeded(limit)

    def allow_bytes(self, key_id: str | None, default: int | None, adding: int) -> None:
        """Check the quota of bytes of a key, of its datasets, click logs and open uploads together.

        Args:
            key_id: The key, None without authentication.
            default: Quota of a key without its own quota; None for no quota.

        Raises:
            ByteQuotaExceeded: The bytes would exceed the quota.
        """
        limit = self._byte_limit(key_id, default)
        if limit is not None and self._used_bytes(key_id) + adding > limit:
            raise ByteQuotaExceeded(limit)

    def remaining_bytes(self, key_id: str | None, default: int | None) -> int | None:
        """Return the remaining bytes of a key's quota, None without a quota; see `allow_bytes`.

        Raises:
            ByteQuotaExceeded: No bytes remain.
        """
        limit = self._byte_limit(key_id, default)
        if limit is None:
            return None
        remaining = limit - self._used_bytes(key_id)
        if remaining <= 0:
            raise ByteQuotaExceeded(limit)
        return remaining

    def _byte_limit(self, key_id: str | None, default: int | None) -> int | None:
        key_limit = self._session.scalar(select(ApiKey.max_stored_bytes).where(ApiKey.id == key_id))
        return default if key_limit is None else key_limit

    def _used_bytes(self, key_id: str | None) -> int:
        advisory_lock(self._session, _LOCKS, key_id or "")
        stored = sum(
            self._total(select(func.sum(table.size_bytes)).where(has_key(table.key_id, key_id)))
            for table in (Dataset, ClickLog)
        )
        open_bytes = select(func.sum(func.coalesce(Upload.size_bytes, Upload.received_bytes)))
        return stored + self._total(open_bytes.where(*open_uploads(key_id)))

    def allow_upload(self, key_id: str | None, limit: int) -> None:
        """Check the quota of open uploads of a key before one is added.

        Raises:
            UploadQuotaExceeded: The upload would exceed the quota.
        """
        advisory_lock(self._session, _LOCKS, key_id or "")
        count = select(func.count()).select_from(Upload).where(*open_uploads(key_id))
        if self._total(count) >= limit:
            raise UploadQuotaExceeded(limit)

    def _total(self, figure: Select[Any]) -> int:
        with limited_to(None):  # rows moved to other projects count as well
            return int(self._session.scalar(figure) or 0)
