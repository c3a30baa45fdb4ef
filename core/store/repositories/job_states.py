"""The allowed transitions of job status."""

from collections.abc import Mapping
from types import MappingProxyType

from core.jobs import JobStatus

QUEUED = JobStatus.QUEUED
RUNNING = JobStatus.RUNNING
SUCCEEDED = JobStatus.SUCCEEDED
REFUSED = JobStatus.REFUSED
FAILED = JobStatus.FAILED
CANCELLED = JobStatus.CANCELLED

TRANSITIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        QUEUED: frozenset({RUNNING, CANCELLED}),
        RUNNING: frozenset({SUCCEEDED, REFUSED, FAILED, CANCELLED, QUEUED}),
        SUCCEEDED: frozenset(),
        REFUSED: frozenset(),
        FAILED: frozenset(),
        CANCELLED: frozenset(),
    }
)
STATUSES = tuple(TRANSITIONS)
ACTIVE = frozenset(status for status, targets in TRANSITIONS.items() if targets)
TERMINAL = frozenset(TRANSITIONS) - ACTIVE


def allows(source: str, target: str) -> bool:
    """Return whether a job may move from status `source` to `target`."""
    return target in TRANSITIONS[source]
