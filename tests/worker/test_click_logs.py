"""Ingestion of click logs: a log becomes ready, or invalid with a problem."""

import errno
import os
import time

import numpy as np
import pytest

from core.jobs.folders import click_log_upload_folder
from core.jobs.ingest import IngestClicksJob
from core.store import ClickLog
from core.store.artifacts.keys import click_log_upload_key
from tests.checksums import checksums_under
from tests.worker.inline_worker import InlineWorker
from worker.job.datasets import load_click_log
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_job
from worker.runners import ingestion

TABLE = "session,query,document,rank,clicked\ns1,shoes,a,1,0\ns1,shoes,b,2,1\ns2,hats,c,1,1\n"


def ingested(inline_worker: InlineWorker, content: str, **options: object) -> ClickLog:
    """Read a log as a worker does, and return its row."""
    store = inline_worker.store
    with store.begin() as tx:
        source = {"kind": "upload", "filename": "clicks.csv", "format": "auto", "options": options}
        log = tx.click_logs.add("clicks", source)
        job = tx.enqueue(IngestClicksJob(click_log_id=log.id, name="clicks"))
        tx.click_logs.attach_job(log.id, job.id)
        log_id = log.id
    store.artifacts.write_bytes(click_log_upload_key(log_id, "file"), content.encode())
    run = JobRun.claim_next(store, inline_worker.settings, {"ingest-clicks"}, "w1")
    assert run is not None
    run_job(run, inline_worker.settings, StopFlag())
    with store.read() as tx:
        return tx.click_logs.get(log_id)


def test_an_uploaded_log_is_read_and_can_be_mapped(inline_worker: InlineWorker) -> None:
    """The columns of the log are artifacts with checksums, and the upload is deleted."""
    log = ingested(inline_worker, TABLE)
    assert log.status == "ready", log.problem
    assert log.statistics is not None
    assert log.statistics["lists"] == 2
    assert not inline_worker.store.artifacts.exists(click_log_upload_folder(log.id))
    with inline_worker.store.begin() as tx:
        tx.jobs.add("ingest-clicks", {"click_log_id": log.id})
    run = JobRun.claim_next(inline_worker.store, inline_worker.settings, {"ingest-clicks"}, "w1")
    assert run is not None
    loaded = load_click_log(run, log.id)
    assert list(loaded.query_ids) == ["shoes", "hats"]
    np.testing.assert_array_equal(loaded.clicks, [False, True, True])
    np.testing.assert_array_equal(loaded.ranks, [1, 2, 1])
    with inline_worker.store.read() as tx:
        keys = [row.key for row in checksums_under(tx, f"{log.folder}/")]
    assert f"{log.folder}/columns.json" in keys
    assert len(keys) > 10


def test_folders_of_killed_processes_are_removed_after_a_day(inline_worker: InlineWorker) -> None:
    """Columns of an unfinished log do not stay on the disk of the worker for ever."""
    folder = inline_worker.settings.data_dir / "cache" / "click-logs"
    for name, days in (("lost", 2), ("recent", 0)):
        (folder / name).mkdir(parents=True)
        (folder / name / "pairs.bin").write_bytes(b"pairs")
        os.utime(folder / name, (time.time() - days * 86_400,) * 2)
    assert ingested(inline_worker, TABLE).status == "ready"
    assert [path.name for path in folder.iterdir()] == ["recent"]


def test_a_full_disk_puts_the_log_off(inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log larger than the free space of the data folder is read again later, and its upload is kept."""

    def fill_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ingestion, "read_click_log", fill_disk)
        log = ingested(inline_worker, TABLE)
    assert log.status == "pending", log.problem
    run = JobRun.claim_next(inline_worker.store, inline_worker.settings, {"ingest-clicks"}, "w1")
    assert run is not None
    assert run_job(run, inline_worker.settings, StopFlag()) == "succeeded"


def test_a_log_that_cannot_be_read_is_invalid(inline_worker: InlineWorker) -> None:
    """The problem of the log names file, line and column."""
    log = ingested(inline_worker, TABLE.replace("b,2,1", "b,second,1"))
    assert log.status == "invalid"
    assert log.problem is not None
    (error,) = log.problem["errors"]
    assert (error["file"], error["line"], error["column"]) == ("clicks.csv", 3, "rank")
