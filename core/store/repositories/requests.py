"""Stored requests: the audit log, and the responses of idempotent requests."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import WrongState
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.repository import Repository
from core.store.tables import AuditEntry, IdempotencyRecord

MAX_PATH_CHARACTERS = 1_000
EXPIRY = timedelta(hours=24)
_ENDPOINT_CHARACTERS = 255  # size of the column


class Audit(Repository[AuditEntry]):
    """The append-only audit log within one transaction."""

    table = AuditEntry
    kind = "audit entry"
    id_prefix = ids.AUDIT_ENTRY

    def add(
        self, *, method: str, path: str, status: int, request_id: str, key_id: str | None, address: str | None
    ) -> AuditEntry:
        """Record a request, with its path truncated."""
        return self._insert(
            method=method,
            path=path[:MAX_PATH_CHARACTERS],
            status=status,
            request_id=request_id,
            key_id=key_id,
            address=address,
        )

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
        deleted = delete(AuditEntry).where(AuditEntry.id.in_(old.order_by(AuditEntry.id).limit(limit)))
        return len(self._session.scalars(deleted.returning(AuditEntry.id)).all())


class Idempotency:
    """Stored idempotent responses within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, key: str, endpoint: str) -> IdempotencyRecord | None:
        """Return the response stored for a key and endpoint within 24 hours, or None."""
        record = self._session.get(IdempotencyRecord, (key, _column_value(endpoint)))
        return record if record and record.created_at > utc_now() - EXPIRY else None

    def remember(
        self,
        key: str,
        endpoint: str,
        *,
        request_sha256: str,
        status_code: int,
        body: dict[str, Any],
        headers: dict[str, Any],
    ) -> IdempotencyRecord:
        """Store a response in the transaction of its effects.

        Raises:
            WrongState: A concurrent request with the same key has stored its response.
        """
        self.forget_older_than(utc_now() - EXPIRY)
        record = IdempotencyRecord(
            key=key,
            endpoint=_column_value(endpoint),
            request_sha256=request_sha256,
            status_code=status_code,
            body=body,
            headers=headers,
        )
        try:
            with self._session.begin_nested():
                self._session.add(record)
        except IntegrityError as error:
            raise WrongState(
                "idempotency key", key, "in use", "repeat the request to get its response"
            ) from error
        return record

    def forget_older_than(self, moment: datetime) -> int:
        """Delete responses older than a moment; return their number."""
        deleted = delete(IdempotencyRecord).where(IdempotencyRecord.created_at <= moment)
        return len(self._session.scalars(deleted.returning(IdempotencyRecord.key)).all())


def _column_value(endpoint: str) -> str:
    """Return an endpoint, or its checksum if it is longer than its column."""
    is_short = len(endpoint) <= _ENDPOINT_CHARACTERS
    return endpoint if is_short else hashlib.sha256(endpoint.encode()).hexdigest()
