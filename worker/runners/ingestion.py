"""Run ingestion jobs: store the data of a source, such as an upload, as a dataset."""

from dataclasses import asdict

from core.data import dataset_statistics, write_parquet
from core.data.query_index import write_query_index
from core.data.result import Reading
from core.doctor import examine
from core.errors import ArtifactDamaged, DatasetError, NotFound
from core.jobs.folders import claims_folders, upload_folder
from core.jobs.ingest import IngestJob
from core.store.artifacts.keys import data_folder, features_key, new_data_key, queries_key
from core.store.tables.columns import serialize_json
from worker.job.progress import counting_percent
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.sources import opened_source


def run_ingestion(run: JobRun, spec: IngestJob) -> None:
    """Read or generate a dataset, compute its statistics and findings, store it and remove the upload.

    Content that is already stored is shared and not read again. If the stored copy is damaged, the new copy
    replaces it for all datasets with this content. A dataset that cannot be read becomes invalid, with the
    problem of the failed job. If the error can be avoided by ignoring a column, the upload is kept.

    Raises:
        DatasetError: The data cannot be read; the error has line and column.
    """
    dataset_id = spec.dataset_id
    run.artifacts.delete_on_end(upload_folder(dataset_id))
    for folder in claims_folders(run.id, run.lease.token - 1):  # left by earlier claims of the job
        run.artifacts.remove(folder)
    with run.store.read() as tx:
        row = tx.datasets.get(dataset_id)
    on_progress = counting_percent(run.reporter, "reading")
    with opened_source(row, run, spec.max_bytes) as source:
        digest = source.digest(on_progress)
        damaged_key = _damaged_copy(run, dataset_id, digest)
        if damaged_key is None and share_stored_content(run, dataset_id, digest):
            return
        run.reporter.phase("reading")
        try:
            reading = source.read(run.settings.reading_limits, run.threads, on_progress)
        except DatasetError as error:
            if any(cause.can_ignore for cause in error.causes):
                run.artifacts.retain(upload_folder(dataset_id))  # for another try without those columns
            raise
    store_reading(run, dataset_id, digest, reading, damaged_key)


def _damaged_copy(run: JobRun, dataset_id: str, digest: str) -> str | None:
    """Return the `data_key` of the stored content if its bytes are damaged, else None."""
    with run.store.read() as tx:
        stored = tx.datasets.ready_with(digest, dataset_id)
    if stored is None or stored.data_key is None:
        return None
    try:
        for key in (stored.data_key, queries_key(stored.data_key), features_key(stored.data_key)):
            run.store.verified.check(key, again=True)
    except (ArtifactDamaged, NotFound):
        return stored.data_key
    return None


class _ContentNotStored(Exception):
    """Raised to roll back the transaction that ends the job, since no content has the digest."""


def share_stored_content(run: JobRun, dataset_id: str, digest: str, result: Values | None = None) -> bool:
    """Share the stored content of a digest and end the job; return False if no such content is stored.

    Args:
        run: The job that makes the dataset.
        dataset_id: Id of the dataset.
        digest: Digest that determines the content.
        result: Result of the job; by default the id of the dataset.
    """
    try:
        with run.succeeding(result or {"dataset_id": dataset_id}) as tx:
            if tx.datasets.take_over(dataset_id, digest) is None:
                raise _ContentNotStored
    except _ContentNotStored:
        return False
    return True


def store_reading(
    run: JobRun,
    dataset_id: str,
    digest: str,
    reading: Reading,
    damaged_key: str | None = None,
    *,
    result: Values | None = None,
) -> None:
    """Examine a dataset, store it and end the job.

    Args:
        run: The job that makes the dataset.
        dataset_id: Id of the dataset.
        digest: Digest that determines the content.
        reading: Dataset, and properties of its file.
        damaged_key: Key of a damaged copy to replace, or None.
        result: Result of the job; by default the id of the dataset.
    """
    dataset = reading.dataset
    run.reporter.phase("examining", reset_count=True)
    statistics = dataset_statistics(dataset)
    report = examine(
        dataset,
        scattered_queries=reading.scattered_queries,
        scattered_examples=reading.scattered_examples,
        several_spellings=reading.several_spellings,
        threads=run.threads,
    )
    data_key = new_data_key(run.id, run.lease.token)
    with run.artifacts.writing(data_key) as file:
        write_parquet(dataset, file, counting_percent(run.reporter, "storing"))
    with run.artifacts.writing(queries_key(data_key)) as file:
        write_query_index(dataset, file)
    with run.artifacts.writing(features_key(data_key)) as file:
        file.write(serialize_json([asdict(profile) for profile in report.features]).encode())
    with run.succeeding(result or {"dataset_id": dataset_id}) as tx:
        ready = tx.datasets.mark_ready(
            dataset_id,
            statistics=statistics,
            feature_names=dataset.feature_names,
            findings=[asdict(finding) for finding in report.findings],
            digest=digest,
            data_key=data_key,
            format=reading.format,
            replaces=damaged_key,
        )
        if ready.data_key != data_key:
            tx.artifacts.delete_checksums(data_folder(data_key))
    if ready.data_key != data_key:  # another job has stored the same content meanwhile
        run.artifacts.remove(data_folder(data_key))
    if damaged_key is not None:
        run.artifacts.remove(data_folder(damaged_key))
    run.caches.keep_dataset(digest, dataset)
