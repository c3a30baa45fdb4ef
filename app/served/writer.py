"""Write the lists that users saw to the database, in batches in the background."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import structlog

from core.errors import StoreUnavailable
from core.store import Store

WRITE_SECONDS = 0.2  # a killed process loses the lists of this interval
MAX_WAITING = 10_000  # lists; while the database is slower, further ones are refused
_BATCH = 500
_LOG = structlog.stdlib.get_logger("rankery.served")


@dataclass(frozen=True)
class PendingList:
    """A list in the queue of the writer.

    Attributes:
        table: `rankings` for a list of a model, `interleavings` for a list of an interleaving.
        on_excluded: Called if another list of the same user and query was stored instead.
    """

    table: Literal["rankings", "interleavings"]
    row: Mapping[str, Any]
    on_excluded: Callable[[], None] = lambda: None


class ListWriter:
    """Queue lists and write them in batches, in a thread.

    While the database is unreachable, lists stay queued. `close` writes the queued lists; a killed process
    loses them.

    Args:
        seconds: Seconds between two batches.
    """

    def __init__(self, store: Store, seconds: float = WRITE_SECONDS) -> None:
        self._store = store
        self._seconds = seconds
        self._waiting: dict[str, PendingList] = {}  # by id, oldest first
        self._failures = 0
        self._changed = threading.Condition()
        self._is_flushing = self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="list writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, *lists: PendingList) -> bool:
        """Queue lists; return False, and queue none of them, if the queue is full."""
        with self._changed:
            if len(self._waiting) + len(lists) > MAX_WAITING:
                return False
            self._waiting.update((each.row["id"], each) for each in lists)
            if len(self._waiting) == len(lists):
                self._changed.notify_all()
        return True

    def flush(self, list_ids: Sequence[str] | None = None) -> None:
        """Wait until queued lists are written.

        Args:
            list_ids: Lists to wait for; None for all queued lists.

        Raises:
            StoreUnavailable: The lists cannot be written now; they stay queued.
        """
        with self._changed:
            goal = self._waiting.keys() & (self._waiting.keys() if list_ids is None else set(list_ids))
            if not goal:
                return
            failures = self._failures
            self._is_flushing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not goal & self._waiting.keys() or self._failures > failures)
            if goal & self._waiting.keys():
                raise StoreUnavailable("the lists cannot be written to the database now; try again")

    def close(self) -> None:
        """Write the queued lists, and stop the thread."""
        if self._thread.is_alive():
            with self._changed:
                self._is_closing = True
                self._changed.notify_all()
            self._thread.join()
        if self._waiting:
            _LOG.error("served.lost", lists=len(self._waiting))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                self._changed.wait_for(lambda: self._is_flushing or self._is_closing, self._seconds)
                is_last = self._is_closing
                batch = list(self._waiting.values())[:_BATCH]
            succeeded = not batch or self._write(batch)
            with self._changed:
                if succeeded:
                    for each in batch:
                        del self._waiting[each.row["id"]]
                else:
                    self._failures += 1
                self._is_flushing = self._is_flushing and succeeded and bool(self._waiting)
                self._changed.notify_all()
                if is_last and not (succeeded and self._waiting):
                    return

    def _write(self, batch: Sequence[PendingList]) -> bool:
        """Write a batch; return whether its lists can leave the queue."""
        try:
            self._insert(batch)
        except StoreUnavailable:
            _LOG.warning("served.not_written", lists=len(batch), exc_info=True)
            return False
        except Exception:  # noqa: BLE001 - else the thread would end
            if len(batch) == 1:  # drop it: it would fail again and block the queue
                _LOG.exception("served.dropped", list_id=batch[0].row["id"])
                return True
            # Write each list separately; the comprehension avoids the short circuit of `all`.
            return all([self._write([each]) for each in batch])  # noqa: C419
        return True

    def _insert(self, batch: Sequence[PendingList]) -> None:
        rankings = [each.row for each in batch if each.table == "rankings"]
        lists = [each for each in batch if each.table == "interleavings"]
        with self._store.begin() as tx:
            tx.notifies_clients = False
            tx.served.add(rankings)
            added = tx.interleavings.add_lists([each.row for each in lists])
        for each in lists:
            if each.row["id"] not in added:
                each.on_excluded()
