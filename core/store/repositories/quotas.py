"""Quotas of API keys."""

from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import ByteQuotaExceeded, JobQuotaExceeded, UploadQuotaExceeded
from core.store.advisory_locks import advisory_lock
from core.store.clock import utc_now
from core.store.repositories.job_states import ACTIVE
from core.store.tables import ApiKey, Dataset, Job, Upload
from core.store.visibility import limited_to

_TURNS = 0x51554F54  # any number of Rankery's own: "QUOT"


class Quotas:
    """Quotas, checked in the transaction that adds the counted objects.

    Callers without a key, where none is needed, share one quota.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def allow_jobs(self, key_id: str | None, most: int, adding: int = 1) -> None:
        """Check the quota of active jobs of a key.

        Args:
            key_id: The key, None where none is needed.
            most: The most jobs of a key that has no bound of its own.
            adding: How many are to be added.

        Raises:
            JobQuotaExceeded: They would be too many.
        """
        advisory_lock(self._session, _TURNS, key_id or "")
        own = self._session.scalar(select(ApiKey.max_active_jobs).where(ApiKey.id == key_id))
        bound = most if own is None else own
        active = select(func.count()).select_from(Job).where(Job.status.in_(ACTIVE), _of(Job.key_id, key_id))
        if self._total(active) + adding > bound:
            raise JobQuotaExceeded(bound)

    def allow_bytes(self, key_id: str | None, most: int | None, adding: int) -> None:
        """Check the quota of bytes of a key, those of its datasets and of its open uploads together.

        Args:
            key_id: The key, None where none is needed.
            most: The most bytes of a key that has no bound of its own; None for any number.
            adding: How many are to be added.

        Raises:
            ByteQuotaExceeded: They would be too many.
        """
        bound = self._byte_bound(key_id, most)
        if bound is not None and self._taken_bytes(key_id) + adding > bound:
            raise ByteQuotaExceeded(bound)

    def left_bytes(self, key_id: str | None, most: int | None) -> int | None:
        """Return how many bytes the quota of a key leaves, None for any number; see `allow_bytes`.

        Raises:
            ByteQuotaExceeded: It leaves none.
        """
        bound = self._byte_bound(key_id, most)
        if bound is None:
            return None
        left = bound - self._taken_bytes(key_id)
        if left <= 0:
            raise ByteQuotaExceeded(bound)
        return left

    def _byte_bound(self, key_id: str | None, most: int | None) -> int | None:
        own = self._session.scalar(select(ApiKey.max_stored_bytes).where(ApiKey.id == key_id))
        return most if own is None else own

    def _taken_bytes(self, key_id: str | None) -> int:
        advisory_lock(self._session, _TURNS, key_id or "")
        stored = select(func.sum(Dataset.size_bytes)).where(_of(Dataset.key_id, key_id))
        coming = select(func.sum(func.coalesce(Upload.size_bytes, Upload.received_bytes)))
        return self._total(stored) + self._total(coming.where(*_open_uploads(key_id)))

    def allow_upload(self, key_id: str | None, most: int) -> None:
        """Check the quota of open uploads of a key, of which one is to be added.

        Raises:
            UploadQuotaExceeded: They would be too many.
        """
        advisory_lock(self._session, _TURNS, key_id or "")
        count = select(func.count()).select_from(Upload).where(*_open_uploads(key_id))
        if self._total(count) >= most:
            raise UploadQuotaExceeded(most)

    def _total(self, figure: Select[Any]) -> int:
        with limited_to(None):  # what was moved to other projects counts as well
            return int(self._session.scalar(figure) or 0)


def _of(column: InstrumentedAttribute[str | None], key_id: str | None) -> ColumnElement[bool]:
    return column.is_(None) if key_id is None else column == key_id


def _open_uploads(key_id: str | None) -> tuple[ColumnElement[bool], ...]:
    return _of(Upload.key_id, key_id), Upload.used_at.is_(None), Upload.expires_at > utc_now()
