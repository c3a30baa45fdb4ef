"""Stored audit log."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.pages import Page, Span
from core.store.repositories.rows import added
from core.store.tables import AuditEntry

MAX_PATH_CHARACTERS = 1_000


class Audit:
    """The append-only audit log within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self, *, method: str, path: str, status: int, request_id: str, key_id: str | None, address: str | None
    ) -> AuditEntry:
        """Record a request, with its path truncated."""
        entry = AuditEntry(
            id=ids.new_id(ids.AUDIT_ENTRY),
            method=method,
            path=path[:MAX_PATH_CHARACTERS],
            status=status,
            request_id=request_id,
            key_id=key_id,
            address=address,
        )
        return added(self._session, entry)

    def add_all(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Record several requests in one statement, each with the arguments of `add`."""
        rows = [
            {
                "id": ids.new_id(ids.AUDIT_ENTRY),
                "at": utc_now(),
                **each,
                "path": each["path"][:MAX_PATH_CHARACTERS],
            }
            for each in entries
        ]
        if rows:
            self._session.execute(insert(AuditEntry), rows)

    def forget_before(self, moment: datetime, limit: int) -> int:
        """Delete the oldest entries before a moment, at most `limit`; return their number."""
        old = select(AuditEntry.id).where(AuditEntry.id < ids.first_id(ids.AUDIT_ENTRY, moment))
        gone = delete(AuditEntry).where(AuditEntry.id.in_(old.order_by(AuditEntry.id).limit(limit)))
        return len(self._session.scalars(gone.returning(AuditEntry.id)).all())

    def page(self, cursor: str | None, limit: int, key_id: str | None = None) -> Page[AuditEntry]:
        """List entries, newest first, or only those of one key.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = select(AuditEntry)
        if key_id is not None:
            rows = rows.where(AuditEntry.key_id == key_id)
        return Span(cursor, limit).take(self._session, rows, AuditEntry.id, ids.AUDIT_ENTRY)
