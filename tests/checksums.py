"""The stored checksums of artifacts."""

from sqlalchemy import select

from core.store import Transaction
from core.store.tables import ArtifactDigest


def checksums_under(tx: Transaction, start: str = "") -> list[ArtifactDigest]:
    """Return the stored checksums whose keys begin with a text, in key order."""
    rows = select(ArtifactDigest).where(ArtifactDigest.key.startswith(start, autoescape=True))
    return list(tx.artifacts._session.scalars(rows.order_by(ArtifactDigest.key)))
