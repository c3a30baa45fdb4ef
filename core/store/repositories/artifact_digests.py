"""Stored checksums of artifacts, and damaged artifacts."""

from collections.abc import Iterator

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from core.store.clock import utc_now
from core.store.tables import ArtifactDigest


class ArtifactDigests:
    """Checksums of artifacts within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, key: str) -> ArtifactDigest | None:
        """Return the stored checksum of an artifact, or None for old artifacts."""
        return self._session.get(ArtifactDigest, key)

    def keep(self, key: str, sha256: str, size_bytes: int) -> None:
        """Store the checksum of a good artifact."""
        row = ArtifactDigest(key=key, sha256=sha256, size_bytes=size_bytes, damaged_at=None)
        self._session.merge(row)
        self._session.flush()

    def mark_damaged(self, key: str) -> None:
        """Mark an artifact as damaged or missing."""
        row = self._session.get(ArtifactDigest, key) or ArtifactDigest(key=key)
        row.damaged_at = row.damaged_at or utc_now()
        self._session.add(row)
        self._session.flush()

    def damaged(self, limit: int) -> list[str]:
        """List the keys of damaged artifacts, most recent first."""
        rows = select(ArtifactDigest.key).where(ArtifactDigest.damaged_at.is_not(None))
        newest = rows.order_by(ArtifactDigest.damaged_at.desc(), ArtifactDigest.key)
        return list(self._session.scalars(newest.limit(limit)))

    def under(self, folder: str = "") -> Iterator[ArtifactDigest]:
        """Yield the stored checksums of a folder in key order."""
        rows = select(ArtifactDigest).where(ArtifactDigest.key.startswith(folder, autoescape=True))
        yield from self._session.scalars(rows.order_by(ArtifactDigest.key))

    def forget(self, folder: str) -> None:
        """Delete the checksums of a folder."""
        inside = ArtifactDigest.key.startswith(f"{folder}/", autoescape=True)
        self._session.execute(delete(ArtifactDigest).where(inside))
