"""Read the files of a dataset or of a click log."""

import contextlib
from collections.abc import Iterator
from dataclasses import asdict

from core.clicks.doctor import examine_log
from core.clicks.reading import LogFile, log_options, read_click_log
from core.clicks.statistics import log_statistics
from core.data import dataset_statistics, write_parquet
from core.data.query_index import write_query_index
from core.data.result import Reading
from core.doctor import examine
from core.errors import ArtifactDamaged, DatasetError, NotFound
from core.jobs.folders import claims_folders, click_log_upload_folder, dataset_upload_folder
from core.jobs.ingest import IngestClicksJob, IngestJob
from core.store import ClickLog
from core.store.artifacts.keys import (
    click_log_upload_key,
    data_folder,
    features_key,
    new_data_key,
    queries_key,
)
from core.store.tables.base import serialize_json
from core.store.tables.datasets import INTERLEAVED, SERVED
from worker.job.datasets import log_folder, store_click_log
from worker.job.downloads import Downloads
from worker.job.reporter import Values, counting_percent
from worker.job.run import JobRun
from worker.job.served_rankings import write_stored_lists
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
    run.artifacts.delete_on_end(dataset_upload_folder(dataset_id))
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
                # For another try without those columns.
                run.artifacts.retain(dataset_upload_folder(dataset_id))
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
        digest: Digest that determines the content.
        reading: Dataset, and properties of its file.
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


FILE, QUERIES = "file", "queries"
_SESSIONS = "sessions.jsonl"


def run_click_log_ingestion(run: JobRun, spec: IngestClicksJob) -> None:
    """Read a click log, compute its statistics and findings, store it and remove the upload.

    A log that cannot be read becomes invalid, with the problem of the failed job.

    Raises:
        DatasetError: The files cannot be read; the error has file, line and column.
        InvalidInput: The options are invalid for the files.
    """
    log_id = spec.click_log_id
    run.artifacts.delete_on_end(click_log_upload_folder(log_id))
    with run.store.read() as tx:
        row = tx.click_logs.get(log_id)
    options = log_options({**(row.source.get("options") or {}), "format": row.source.get("format")})
    with log_folder(run) as folder, _files(run, row, spec.max_bytes) as files:
        run.reporter.phase("reading")
        on_progress = counting_percent(run.reporter, "reading")
        reading = read_click_log(files, folder, options, run.settings.reading_limits, on_progress)
        run.reporter.phase("examining", reset_count=True)
        statistics = log_statistics(reading.log, reading.report)
        findings = examine_log(reading.log, reading.report)
        run.reporter.phase("storing", reset_count=True)
        stored = store_click_log(run, log_id, folder)
    with run.succeeding({"click_log_id": log_id}) as tx:
        tx.click_logs.mark_ready(
            log_id,
            folder=stored,
            statistics=statistics,
            findings=[asdict(finding) for finding in findings],
            format=reading.report.format,
        )


@contextlib.contextmanager
def _files(run: JobRun, row: ClickLog, max_bytes: int | None) -> Iterator[list[LogFile]]:
    """Provide the files of a log on this machine."""
    source = row.source
    if source["kind"] in (SERVED, INTERLEAVED):
        with log_folder(run) as folder:
            write_stored_lists(run, source, folder / _SESSIONS)
            yield [LogFile(folder / _SESSIONS, _SESSIONS)]
        return
    if source["kind"] == "address":
        with Downloads(row.id, source, run, max_bytes) as downloads:
            downloads.fetch(lambda tx, read: tx.click_logs.record_download(row.id, read))
            yield [LogFile(downloads.path(n), name) for n, name in enumerate(downloads.names)]
        return
    with contextlib.ExitStack() as stack:
        names = {QUERIES: source.get("queries_filename"), FILE: source["filename"]}
        yield [
            LogFile(stack.enter_context(run.store.artifacts.local(click_log_upload_key(row.id, field))), name)
            for field, name in names.items()
            if name is not None
        ]
