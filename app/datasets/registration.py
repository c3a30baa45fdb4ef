"""Record received files as datasets."""

from starlette.responses import Response

from app.datasets.ingestion import accepted_dataset, queue_ingestion
from app.datasets.uploads import DatasetUpload, Places
from app.http.idempotency import IdempotentRequest
from app.http.services import Services


def register_upload(
    services: Services,
    key_id: str | None,
    idempotency: IdempotentRequest,
    upload: DatasetUpload,
    places: Places,
) -> Response:
    """Record a dataset for each part of an upload, and queue the jobs that read them; blocks.

    Args:
        services: The services of the application.
        key_id: The API key of the request, None where none is needed.
        idempotency: The request.
        upload: What was received.
        places: Where its files are; they are removed where nothing is recorded.

    Returns:
        The response: the first dataset.

    Raises:
        ByteQuotaExceeded: The key may not store as much.
        JobQuotaExceeded: The key has too many jobs that wait or run.
        WrongState: A resumable upload of it was used before.
    """
    kept, settings = False, services.settings
    try:
        with idempotency.begin(services.store) as tx:
            for file in upload.received.files.values():
                file.use(tx, key_id)  # from here on its bytes count as the dataset's
            tx.quotas.allow_bytes(key_id, settings.max_stored_bytes, upload.size_bytes)
            tx.quotas.allow_jobs(key_id, settings.max_active_jobs, len(upload.parts))
            datasets = upload.add(tx, places, key_id)
            jobs = [queue_ingestion(tx, dataset, key_id) for dataset in datasets]
            created = idempotency.keep(tx, accepted_dataset(datasets[0]))
        kept = True
    finally:
        if not kept:
            services.store.artifacts.delete_all(places.folders())
    services.submitted(*jobs)
    return created
