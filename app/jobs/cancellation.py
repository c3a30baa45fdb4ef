"""Cancel several jobs with one request."""

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from app.http.schemas import Id, RequestModel
from app.jobs.schemas import CancelledJob
from core.errors import NotFound, WrongState
from core.jobs import JobStatus, orphaned_artifacts
from core.store import Store

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
    outcomes, orphaned = [], []
    for job_id in dict.fromkeys(job_ids):
        outcome, folders = _cancel(store, job_id)
        outcomes.append(outcome)
        orphaned += folders
    for folder in orphaned:  # at the end, since a failure of the storage must not keep jobs running
        store.artifacts.delete(folder)
    return outcomes


def _cancel(store: Store, job_id: str) -> tuple[CancelledJob, list[str]]:
    """Cancel a job; return the outcome and the folders of orphaned artifacts."""
    try:
        with store.begin() as tx:
            job = tx.jobs.request_cancel(job_id)
    except NotFound:
        return CancelledJob(id=job_id, outcome="missing", status=None), []
    except WrongState as ended:
        return CancelledJob(id=job_id, outcome="already_ended", status=JobStatus(ended.status)), []
    if job.status != JobStatus.CANCELLED:
        return CancelledJob(id=job_id, outcome="stopping", status=job.status), []
    return CancelledJob(id=job_id, outcome="cancelled", status=job.status), orphaned_artifacts(job)
