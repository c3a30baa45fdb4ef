"""Queue the job that reads or generates a dataset."""

from core.jobs.ingest import IngestJob
from core.store import Dataset, Job, Transaction


def queue_ingestion(tx: Transaction, dataset: Dataset, key_id: str | None) -> Job:
    """Queue the ingestion of a pending dataset, and attach the job to it."""
    job = tx.enqueue(IngestJob(dataset_id=dataset.id, name=dataset.name), key_id)
    tx.datasets.attach_job(dataset.id, job.id)
    return job
