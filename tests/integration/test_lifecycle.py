"""Deletions interrupted at a commit or by a kill: no object is half-deleted, and no file is orphaned."""

import itertools
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from core.store import Job, Store, StoreSettings
from core.store.clock import utc_now
from core.store.engines import for_reading, open_engine
from core.store.lifecycle.deletion import Actor, DeletionMode, delete_objects, empty_trash
from core.store.lifecycle.inventory import take_inventory
from core.store.lifecycle.retention import RetentionPolicy, Upkeep
from core.store.trash.kinds import KINDS
from tests.integration.lifecycle_records import RecordCounts, fill, inconsistencies, wait_for_deletions
from tests.integration.services import Service

KILLS = int(os.environ.get("RANKERY_TEST_KILLS", "2"))
COUNTS = RecordCounts(jobs=300, models=100, recent_jobs=20, iterations=5)
LATEST_SECONDS = 1.5
DELETION_SECONDS = 60.0


class _Interruption(BaseException):
    """An exception that interrupts a deletion as a kill does, since no error handler catches it."""


@pytest.mark.parametrize(
    ("moment", "to_trash"),
    [
        ("before_commit", True),
        ("after_commit", False),
        pytest.param("before_commit", False, marks=pytest.mark.slow),
        pytest.param("after_commit", True, marks=pytest.mark.slow),
    ],
    ids=lambda value: {True: "to the trash", False: "permanently"}.get(value, value),
)
def test_an_interrupted_deletion_leaves_no_half_deleted_object(
    migrated_file: Path, tmp_path: Path, moment: str, to_trash: bool
) -> None:
    """After an interruption at any commit, each job exists with all of its results, or not at all."""
    shutil.copy(migrated_file, tmp_path)
    settings = StoreSettings(data_dir=tmp_path)
    store = Store.open(settings)
    fill(store, settings, COUNTS)
    old, upkeep = _old_jobs(settings), Upkeep(RetentionPolicy.of(settings), 0.0)
    mode = DeletionMode(with_results=True, trash_days=7.0 if to_trash else 0.0)
    ended = False
    for commit in itertools.count(1):
        with suppress(_Interruption), _interrupted_at(moment, commit):
            delete_objects(store, KINDS["job"], old, mode, Actor())
            empty_trash(store, old, mode, Actor())
            ended = True
        while not wait_for_deletions(store, 0.0):
            upkeep.run(store, DELETION_SECONDS)
        assert inconsistencies(store, settings, COUNTS) == []
        if ended:
            break
    assert commit > 2
    assert not set(_old_jobs(settings))
    inventory = take_inventory(store)
    assert (inventory.missing, inventory.damaged, inventory.orphaned) == ([], [], [])
    store.close()


@contextmanager
def _interrupted_at(moment: str, number: int) -> Iterator[None]:
    """Interrupt the block at the commit with this number."""
    commits = itertools.count(1)

    def count_commit(session: Session) -> None:
        if next(commits) == number:
            raise _Interruption

    event.listen(Session, moment, count_commit)
    try:
        yield
    finally:
        event.remove(Session, moment, count_commit)


def _old_jobs(settings: StoreSettings) -> list[str]:
    engine = for_reading(open_engine(settings.database_url))
    with engine.connect() as connection:
        old = list(connection.scalars(select(Job.id).where(Job.created_at < utc_now() - timedelta(days=30))))
    engine.dispose()
    return old


@pytest.mark.slow
@pytest.mark.parametrize("moment", range(KILLS))
def test_a_killed_deletion_leaves_nothing_half_done(
    serve: Callable[..., Service], tmp_path: Path, moment: int
) -> None:
    """After SIGKILL each job exists with all of its results, or not at all; the rest can be deleted."""
    data_dir = tmp_path / "data"
    settings = StoreSettings(data_dir=data_dir)
    store = Store.open(settings)
    store.migrate()
    fill(store, settings, COUNTS)
    service = serve(data_dir)
    url = service.wait_for_url()
    # Every second deletion uses the trash, which is emptied immediately.
    permanently = moment % 2 == 0
    deletion = threading.Thread(target=_delete, args=(url,), kwargs={"permanently": permanently})
    deletion.start()
    time.sleep((moment + random.random()) * LATEST_SECONDS / KILLS)
    service.popen.kill()
    service.wait_for_end()
    deletion.join()

    again = serve(data_dir)
    url = again.wait_for_url()
    assert wait_for_deletions(store, DELETION_SECONDS)
    assert inconsistencies(store, settings, COUNTS) == []
    _delete(url, permanently=True)
    assert inconsistencies(store, settings, COUNTS) == []
    with httpx.Client(base_url=url) as client:
        kinds = {kind["kind"]: kind for kind in client.get("/v1/storage?refresh=true").json()["kinds"]}
    assert (kinds["jobs"]["objects"], kinds["models"]["objects"]) == (COUNTS.recent_jobs, 0)
    inventory = take_inventory(store)
    assert (inventory.missing, inventory.damaged, inventory.orphaned) == ([], [], [])
    store.close()


def _delete(url: str, *, permanently: bool) -> None:
    body = {"filter": {"older_than_days": 30}, "with_results": True, "dry_run": False}
    with httpx.Client(base_url=url, timeout=60) as client, suppress(httpx.HTTPError):
        client.post("/v1/jobs/delete", json=body | {"permanently": permanently})
        client.post("/v1/trash/empty", json={"all": True})
