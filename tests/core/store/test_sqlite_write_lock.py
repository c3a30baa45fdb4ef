"""Writers of one process are serialized before they request SQLite's lock."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import StoreUnavailable
from core.store import Store, StoreSettings
from core.store.engines import sqlite_path
from core.store.sqlite_write_lock import PAUSE_SECONDS

WRITERS = 4

pytestmark = pytest.mark.embedded


@pytest.mark.long
def test_the_wait_for_the_lock_of_the_process_counts(settings: StoreSettings) -> None:
    """While another process holds SQLite's lock, all writers time out at the same time, not one by one."""
    store = Store.open(settings, lock_seconds=1)
    holder = sqlite3.connect(sqlite_path(store._engine), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    def write() -> float:
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="is locked: a transaction"), store.begin() as tx:
            tx.jobs.add("train", {})
        return time.monotonic() - began

    try:
        with ThreadPoolExecutor(WRITERS) as pool:
            seconds = list(pool.map(lambda _: write(), range(WRITERS)))
    finally:
        holder.close()
        store.close()
    assert min(seconds) >= 0.9
    assert max(seconds) < WRITERS - 1


@pytest.mark.long
def test_queued_writers_leave_a_pause_for_others(store: Store) -> None:
    """There is a pause between two queued writers; a single writer does not wait."""
    ends: list[float] = []
    begins: list[float] = []

    def write() -> None:
        with store.begin() as tx:
            begins.append(time.monotonic())
            tx.jobs.add("train", {})
            ends.append(time.monotonic())

    with ThreadPoolExecutor(WRITERS) as pool:
        with store.begin():
            queued = [pool.submit(write) for _ in range(WRITERS)]
            time.sleep(1)  # until all of them wait, on a busy machine, too
        for done in queued:
            done.result()
    gaps = [begin - end for end, begin in zip(ends[:-1], begins[1:], strict=True)]
    assert min(gaps) >= PAUSE_SECONDS
    with store.read() as tx:
        assert len(tx.jobs.page(None, 10).items) == WRITERS
