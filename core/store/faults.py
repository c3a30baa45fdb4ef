"""Classify failures of servers and disks into public reasons.

Messages of drivers may contain addresses, users and paths, so no text of them becomes public.
"""

from collections.abc import Iterator

REFUSES_CREDENTIALS = "refuses the credentials"
# The first reason of which a part occurs in the messages is reported.
_REASONS = (
    ("refuses connections", ("connection refused", "connect call failed", "errno 111")),
    (REFUSES_CREDENTIALS, ("password", "authentication", "noauth", "access denied", "accessdenied")),
    (REFUSES_CREDENTIALS, ("invalidaccesskeyid", "access key", "signature", "forbidden")),
    ("cuts connections", ("closed the connection", "connection reset", "terminating connection")),
    ("is not found by its host name", ("name or service not known", "resolve", "translate host name")),
    ("is not found by its host name", ("name resolution", "nodename nor servname")),
    ("is starting or stopping", ("starting up", "shutting down", "loading the dataset")),
    ("has no room left", ("no space left", "disk is full", "disk full", "quota exceeded")),
    ("has too many connections", ("too many clients", "too many connections", "connection slots")),
    ("is busy", ("locked", "busy", "slow down", "service unavailable", "serviceunavailable")),
    ("does not exist", ("does not exist", "no such bucket", "nosuchbucket")),
    ("is damaged", ("file is not a database", "disk image is malformed")),
    ("cannot be opened", ("unable to open", "permission denied", "read-only", "readonly")),
    ("does not answer in time", ("timeout", "timed out")),
)


def failure_reason(error: BaseException) -> str:
    """Return the public reason of a failure."""
    message = " ".join(_messages(error)).lower()
    return next((reason for reason, parts in _REASONS if any(part in message for part in parts)), "fails")


def _messages(error: BaseException) -> Iterator[str]:
    """Yield the messages of an error and of its causes."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield f"{type(current).__name__}: {current}"
        current = current.__cause__ or current.__context__
