"""Stored responses of idempotent requests."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import WrongState
from core.store.clock import utc_now
from core.store.tables import IdempotencyRecord

EXPIRY = timedelta(hours=24)


class Idempotency:
    """Stored idempotent responses within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, key: str, endpoint: str) -> IdempotencyRecord | None:
        """Return the response stored for a key and endpoint within 24 hours, or None."""
        record = self._session.get(IdempotencyRecord, (key, endpoint))
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
            endpoint=endpoint,
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
                "idempotency key", key, "in use", "repeat the request to get its answer"
            ) from error
        return record

    def forget_older_than(self, moment: datetime) -> int:
        """Delete responses older than a moment; return their number."""
        dropped = delete(IdempotencyRecord).where(IdempotencyRecord.created_at <= moment)
        return len(self._session.scalars(dropped.returning(IdempotencyRecord.key)).all())
