"""The statuses of a job and the allowed transitions between them."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class JobStatus(StrEnum):
    """The status of a job.

    `refused` is a decision: the job did all of its work, and the promotion gate of an alias refused the
    version.
    """

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"


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
