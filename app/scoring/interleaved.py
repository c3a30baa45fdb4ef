"""Make, store and cache the interleaved list of each user and query."""

import asyncio
import hashlib
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from app.http.thread_pools import LOOKUPS, SCORING
from app.served.rankings import UserHashes
from app.served.writer import ListWriter, PendingList
from core.errors import StoreUnavailable
from core.interleaving import interleave, seeded_draw
from core.store import Store, new_id
from core.store.clock import utc_now
from core.store.repositories.ids import LENGTH, SHOWN_LIST
from core.store.repositories.interleavings import assigned_lists
from core.store.tables import Interleaving
from core.store.visibility import visible_projects

# A cached interleaving older than `_REFRESH_SECONDS` is refreshed in the background. Requests for one older
# than `_MAX_AGE_SECONDS` wait for the refresh: a deleted interleaving is not served after that.
_REFRESH_SECONDS = 0.5
_MAX_AGE_SECONDS = 1.0
_MAX_CACHED_INTERLEAVINGS = 1_000
_LIST_CACHE_SECONDS = 60.0  # afterwards the list is read from the database again: it may have expired
_MAX_CACHED_LISTS = 20_000  # more than the limit of lists that wait to be written
_MAX_INLINE_DOCUMENTS = 1_000  # limit of ranked documents to interleave on the event loop


@dataclass(frozen=True)
class InterleavedList:
    """A list to show.

    Attributes:
        documents: Ids of its documents, best first.
        kept: Whether the list is one that the user got before, rather than a new one.
    """

    ranking_id: str
    documents: list[str]
    kept: bool


@dataclass(frozen=True)
class ExistingLists:
    """A user's existing lists for some queries.

    Attributes:
        in_memory: Lists in memory, by query.
        reading: Lists that a thread reads from the database, by query; None if every list is in memory.
    """

    in_memory: dict[str, InterleavedList]
    reading: "asyncio.Future[dict[str, InterleavedList]] | None" = None

    async def all(self) -> dict[str, InterleavedList]:
        """Return all lists by query.

        Raises:
            StoreUnavailable: The lists cannot be read.
        """
        return self.in_memory if self.reading is None else self.in_memory | await self.reading


# Id of an interleaving, and the projects to look it up in, None for all.
_Key = tuple[str, tuple[str, ...] | None]


class InterleavingCache:
    """Cache of interleavings with a time to live of a second; interleavings are immutable."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached: OrderedDict[_Key, tuple[float, Interleaving]] = OrderedDict()
        self._reading: dict[_Key, asyncio.Future[Interleaving]] = {}

    async def get(self, id: str) -> Interleaving:
        """Return an interleaving.

        Raises:
            NotFound: The interleaving does not exist.
        """
        key = id, visible_projects()
        at, row = self._cached.get(key, (-math.inf, None))
        age = time.monotonic() - at
        if row is not None and age <= _REFRESH_SECONDS:
            return row
        reading = self._reading.get(key) or self._start_reading(key)
        return row if row is not None and age <= _MAX_AGE_SECONDS else await asyncio.shield(reading)

    def _start_reading(self, key: _Key) -> "asyncio.Future[Interleaving]":
        reading = self._reading[key] = LOOKUPS.start(lambda: self._read(key[0]))
        reading.add_done_callback(partial(self._end_reading, key, time.monotonic()))
        return reading

    def _end_reading(self, key: _Key, at: float, done: "asyncio.Future[Interleaving]") -> None:
        del self._reading[key]
        self._cached.pop(key, None)
        if not done.cancelled() and done.exception() is None:
            self._cached[key] = at, done.result()
        if len(self._cached) > _MAX_CACHED_INTERLEAVINGS:
            self._cached.popitem(last=False)

    def _read(self, id: str) -> Interleaving:
        with self._store.read() as tx:
            return tx.interleavings.get(id)


class InterleavedLists:
    """Assign each user a fixed list for each query of an interleaving.

    A list depends only on the seed, user, query and rankings; its id depends on its documents and the hour,
    too. Two processes therefore make the same list. If their rankings differ, the database keeps the first
    list, and clicks on the other list are unknown. Lists are cached for a minute, and returned before they
    are written.
    """

    def __init__(self, store: Store, writer: ListWriter, users: UserHashes) -> None:
        self._store = store
        self._writer = writer
        self._users = users
        self._lists: OrderedDict[str, tuple[float, InterleavedList]] = OrderedDict()  # by assignment
        self._lock = threading.Lock()

    async def of(
        self,
        row: Interleaving,
        rankings: Sequence[Sequence[int]],
        documents: Sequence[str],
        query: str,
        user: str | None,
    ) -> InterleavedList:
        """Return the user's list for a query, or make one; see `look_up` and `new`."""
        existing = await self.look_up(row, [query], user).all()
        return existing.get(query) or await self.new(row, rankings, documents, query, user)

    def look_up(self, row: Interleaving, queries: Sequence[str], user: str | None) -> ExistingLists:
        """Look up a user's lists for some queries; a thread reads the lists that are not in memory."""
        if user is None:
            return ExistingLists({})
        assignments = {query: self._assignment(row, user, query) for query in queries}
        with self._lock:
            cached = {query: self._cached_list(assignment) for query, assignment in assignments.items()}
        in_memory = {query: shown for query, shown in cached.items() if shown is not None}
        absent = {assignments[query]: query for query, shown in cached.items() if shown is None}
        if not absent:
            return ExistingLists(in_memory)

        def read() -> dict[str, InterleavedList]:
            stored = self._read_lists(row.id, list(absent))
            return {absent[assignment]: shown for assignment, shown in stored.items()}

        return ExistingLists(in_memory, LOOKUPS.start(read))

    async def new(
        self,
        row: Interleaving,
        rankings: Sequence[Sequence[int]],
        documents: Sequence[str],
        query: str,
        user: str | None,
    ) -> InterleavedList:
        """Make a list, or return the list that a concurrent request made for the user and query.

        Args:
            rankings: Positions of documents by ranker, best first.
            user: The user; None for a new list each time.

        Raises:
            StoreUnavailable: Too many lists wait to be written.
        """

        def work() -> InterleavedList:
            return self._new(row, rankings, documents, query, user)

        is_short = row.method != "optimised" and sum(map(len, rankings)) <= _MAX_INLINE_DOCUMENTS
        return work() if is_short else await SCORING.run(work)

    def _assignment(self, row: Interleaving, user: str, query: str) -> str:
        return self._users.of("list", row.id, user, query)

    def _cached_list(self, assignment: str) -> InterleavedList | None:
        """Return a list from memory, None if absent or outdated; the caller holds the lock."""
        at, shown = self._lists.get(assignment, (0.0, None))
        return None if shown is None or time.monotonic() - at > _LIST_CACHE_SECONDS else shown

    def _read_lists(self, interleaving_id: str, assignments: Sequence[str]) -> dict[str, InterleavedList]:
        with self._store.connect() as connection:
            stored = assigned_lists(connection, interleaving_id, assignments)
        return {
            assignment: self._cache_list(assignment, InterleavedList(ranking_id, documents, kept=True))
            for assignment, (ranking_id, documents) in stored.items()
        }

    def _new(
        self,
        row: Interleaving,
        rankings: Sequence[Sequence[int]],
        documents: Sequence[str],
        query: str,
        user: str | None,
    ) -> InterleavedList:
        assignment = None if user is None else self._assignment(row, user, query)
        draw = seeded_draw(row.seed, *((secrets.token_hex(),) if user is None else (user, query)))
        interleaved = interleave(row.method, rankings, row.length, draw)  # type: ignore[arg-type]
        ids, now = [documents[document] for document in interleaved.documents], utc_now()
        list_id = new_id(SHOWN_LIST) if assignment is None else _id_of(assignment, ids, now)
        shown = InterleavedList(list_id, ids, kept=False)
        columns = {
            "id": list_id,
            "interleaving_id": row.id,
            "assignment": assignment,
            "user": None if user is None else self._users.of("user", row.id, user),
            "content": {"query": query, "documents": ids, **interleaved.to_json()},
            "created_at": now,
        }
        if assignment is None:
            self._queue(PendingList("interleavings", columns))
            return shown
        pending = PendingList("interleavings", columns, partial(self._forget, assignment))
        return self._cache_list(assignment, shown, pending)

    def _queue(self, pending: PendingList) -> None:
        if not self._writer.put(pending):
            raise StoreUnavailable("too many lists wait to be written; try again")

    def _cache_list(
        self, assignment: str, shown: InterleavedList, pending: PendingList | None = None
    ) -> InterleavedList:
        """Queue and cache a list; if a concurrent request has cached one, return that one instead."""
        with self._lock:
            cached = self._cached_list(assignment)
            if cached is not None:
                return cached
            if pending is not None:
                self._queue(pending)
            self._lists[assignment] = time.monotonic(), replace(shown, kept=True)
            self._lists.move_to_end(assignment)
            if len(self._lists) > _MAX_CACHED_LISTS:
                self._lists.popitem(last=False)
        return shown

    def _forget(self, assignment: str) -> None:
        with self._lock:
            self._lists.pop(assignment, None)


def _id_of(assignment: str, documents: Sequence[str], moment: datetime) -> str:
    # With the hour, because the id of a clicked list stays stored after the retention of the list.
    text = "\x1f".join([assignment, f"{moment:%Y-%m-%dT%H}", *documents]).encode(errors="surrogatepass")
    return SHOWN_LIST + hashlib.sha256(text).hexdigest()[:LENGTH]
