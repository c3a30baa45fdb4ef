"""Cancel several jobs with one request."""

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from app.http.schemas import Id, RequestModel
from app.jobs.schemas import CancelledJob
from core.errors import NotFound, WrongState
from core.jobs import JobStatus, orphaned_artifacts
from core.store import Transaction

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


def cancel_all(tx: Transaction, job_ids: Iterable[str]) -> tuple[list[CancelledJob], list[str]]:
    """Cancel each of several jobs; return the outcome of each, and the folders of orphaned artifacts."""
    wanted, orphaned = dict.fromkeys(job_ids), []
    outcomes: dict[str, CancelledJob] = {}
    # Lock jobs in sorted order, so that concurrent requests cannot deadlock.
    for job_id in sorted(wanted):
        outcomes[job_id], folders = _cancel(tx, job_id)
        orphaned += folders
    return [outcomes[job_id] for job_id in wanted], orphaned


def _cancel(tx: Transaction, job_id: str) -> tuple[CancelledJob, list[str]]:
    try:
        job = tx.jobs.request_cancel(job_id)
    except NotFound:
        return CancelledJob(id=job_id, outcome="missing", status=None), []
    except WrongState as ended:
        return CancelledJob(id=job_id, outcome="already_ended", status=JobStatus(ended.status)), []
    if job.status == JobStatus.CANCELLED:
        return CancelledJob(id=job_id, outcome="cancelled", status=job.status), orphaned_artifacts(job)
    return CancelledJob(id=job_id, outcome="stopping", status=job.status), []
