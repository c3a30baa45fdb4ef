"""Cancel several jobs with one request."""

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from app.http.schemas import Id, RequestModel
from app.jobs.schemas import CancelledJob
from core.errors import NotFound, WrongState
from core.jobs import JobStatus, orphaned_artifacts
from core.store import Job, Store

MAX_SELECTION = 200


class JobSelection(RequestModel):
    """The jobs to cancel."""

    ids: list[Id] = Field(
        min_length=1,
        max_length=MAX_SELECTION,
        description="Ids of jobs",
        examples=[["job_01k9x2z4q7c8v5n3b6r1"]],
    )


SELECTION_EXAMPLES: Any = {
    "two": {
        "summary": "Two jobs",
        "value": {"ids": ["job_01k9x2z4q7c8v5n3b6r1", "job_01k9x2z4q7c8v5n3b6r2"]},
    }
}


def cancel_all(store: Store, job_ids: Iterable[str]) -> list[CancelledJob]:
    """Cancel each of several jobs, and return the outcomes.

    One transaction per job avoids deadlocks: each locks its job, then the study of the job.

    Raises:
        StoreUnavailable: The database or the storage cannot be reached; earlier cancellations are kept.
    """
    results = [_cancel(store, job_id) for job_id in dict.fromkeys(job_ids)]
    # At the end, since a failure of the storage must not keep jobs running.
    delete_artifacts_of(store, (job for _, job in results if job is not None))
    return [outcome for outcome, _ in results]


def delete_artifacts_of(store: Store, jobs: Iterable[Job]) -> None:
    """Delete the artifacts of those jobs that are cancelled, after the commit.

    The artifacts are also recorded as pending deletions, so that a worker deletes any that a failure leaves.

    Raises:
        StoreUnavailable: The storage cannot be reached.
    """
    for job in jobs:
        if job.status == JobStatus.CANCELLED:
            for folder in orphaned_artifacts(job):
                store.artifacts.delete(folder)


def _cancel(store: Store, job_id: str) -> tuple[CancelledJob, Job | None]:
    """Cancel a job; return the outcome, and the job unless it is missing or has ended."""
    try:
        with store.begin() as tx:
            job = tx.jobs.request_cancel(job_id)
    except NotFound:
        return CancelledJob(id=job_id, outcome="missing", status=None), None
    except WrongState as ended:
        return CancelledJob(id=job_id, outcome="already_ended", status=JobStatus(ended.status)), None
    is_cancelled = job.status == JobStatus.CANCELLED
    return CancelledJob(
        id=job_id, outcome="cancelled" if is_cancelled else "stopping", status=job.status
    ), job
