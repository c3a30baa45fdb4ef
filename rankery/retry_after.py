"""Parse the header `Retry-After` (RFC 9110, section 10.2.3)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_seconds(header: str | None) -> float:
    """Return the seconds that `Retry-After` requests, given as a number or as a date; 0 without a valid one.

    Example:
        >>> retry_after_seconds("120"), retry_after_seconds("soon"), retry_after_seconds(None)
        (120.0, 0.0, 0.0)
    """
    text = (header or "").strip()
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0
