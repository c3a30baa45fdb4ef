"""Answers of the service as JSON documents and as objects."""

from typing import Any

from rankery.client.schemas.answers import Job


def job_document(**changes: Any) -> dict[str, Any]:
    """Return a job as the service describes it, by default queued."""
    return {
        "id": "job_1",
        "kind": "train",
        "status": "queued",
        "spec": {"kind": "train", "model_name": "web"},
        "priority": "normal",
        "attempt": 0,
        "cancel_requested": False,
        "tags": {},
        "created_at": "2026-01-05T09:58:00Z",
    } | changes


def job_of(**changes: Any) -> Job:
    """Return the job document as an object."""
    return Job.model_validate(job_document(**changes))


def dataset_document(**changes: Any) -> dict[str, Any]:
    """Return a dataset as the service describes it, by default pending."""
    return {
        "id": "ds_1",
        "name": "train.txt",
        "status": "pending",
        "source": {"kind": "upload", "filename": "train.txt", "format": "letor"},
        "job_id": "job_1",
        "created_at": "2026-01-05T09:58:00Z",
        "updated_at": "2026-01-05T09:58:00Z",
    } | changes


def click_log_document(**changes: Any) -> dict[str, Any]:
    """Return a click log as the service describes it, by default pending."""
    return {
        "id": "clk_1",
        "name": "clicks.csv",
        "status": "pending",
        "source": {"kind": "upload", "filename": "clicks.csv", "format": "auto"},
        "job_id": "job_1",
        "created_at": "2026-01-05T09:58:00Z",
        "updated_at": "2026-01-05T09:58:00Z",
    } | changes
