"""Queue the ingestion of a dataset, and return the dataset as a 202 response."""

from fastapi.responses import JSONResponse

from app.datasets import schemas
from app.http.route import accepted
from core.jobs.ingest import IngestJob
from core.store import Dataset, Job, Transaction


def queue_ingestion(
    tx: Transaction, dataset: Dataset, key_id: str | None, max_bytes: int | None = None
) -> Job:
    """Queue the ingestion of a pending dataset, and attach the job to it.

    Args:
        tx: The transaction that recorded the dataset.
        max_bytes: Largest number of bytes to download, None for no limit.
    """
    job = tx.enqueue(IngestJob(dataset_id=dataset.id, name=dataset.name, max_bytes=max_bytes), key_id)
    tx.datasets.attach_job(dataset.id, job.id)
    return job


def accepted_dataset(dataset: Dataset) -> JSONResponse:
    """Return a 202 response with a dataset whose ingestion was queued."""
    return accepted(schemas.Dataset.model_validate(dataset), f"/v1/datasets/{dataset.id}")
