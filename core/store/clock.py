"""The time, always aware and in UTC."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)
