"""The statuses of a job; `core.store.repositories.job_states` has the transitions between them."""

from enum import StrEnum


class JobStatus(StrEnum):
    """How far a job is.

    `refused` is a decision: the job did all of its work, and the gate of an alias refused the version.
    """

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"
