"""Tables of artifact checksums, of folders to delete and of counters."""

from datetime import datetime

from sqlalchemy import BigInteger, Double, String
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import NAME, SHA256, Base


class ArtifactDigest(Base):
    """The checksum of a stored artifact.

    Attributes:
        key: Key of the artifact.
        sha256: Checksum of its bytes; None where it was damaged before its checksum was stored.
        damaged_at: Time at which it was found damaged or missing; None while it is intact.
    """

    __tablename__ = "artifact_digests"

    key: Mapped[str] = mapped_column(NAME, primary_key=True)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    damaged_at: Mapped[datetime | None] = mapped_column(index=True)


class PendingDeletion(Base):
    """A folder of artifacts without rows, which is to be deleted; the row is deleted with the folder.

    Attributes:
        at: Time of the last attempt to delete it, at first the time at which the deletion was recorded.
    """

    __tablename__ = "pending_deletions"

    folder: Mapped[str] = mapped_column(NAME, primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utc_now)


class StoredCounter(Base):
    """A monotonic counter, shared by all processes.

    Attributes:
        labels: JSON with sorted keys, `{}` for none.
    """

    __tablename__ = "tallies"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    labels: Mapped[str] = mapped_column(NAME, primary_key=True)
    value: Mapped[float] = mapped_column(Double)
