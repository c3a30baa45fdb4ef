"""The statuses of a job; `core.store.repositories.job_states` has the transitions between them."""

from enum import StrEnum


class JobStatus(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
