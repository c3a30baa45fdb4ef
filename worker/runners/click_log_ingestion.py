"""Run the ingestion of click logs: convert uploaded or downloaded files to memory-mapped columns."""

import contextlib
from collections.abc import Iterator
from dataclasses import asdict

from core.clicks.doctor import examine_log
from core.clicks.reading import LogFile, log_options, read_click_log
from core.clicks.statistics import log_statistics
from core.jobs.folders import click_log_upload_folder
from core.jobs.ingest_clicks import IngestClicksJob
from core.store import ClickLog
from core.store.artifacts.keys import click_log_upload_key
from core.store.tables.click_logs import INTERLEAVED, SERVED
from worker.job.click_logs import log_folder, store_click_log
from worker.job.downloads import Downloads
from worker.job.progress import counting_percent
from worker.job.run import JobRun
from worker.job.served_rankings import write_stored_lists

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
