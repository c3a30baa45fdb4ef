"""Poll the database for new events, once per process, and wake the followers."""

import asyncio
from collections import Counter, deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

import structlog

from app.events.schemas import Event
from app.http.services import injected
from app.http.thread_pools import EVENTS
from core.errors import RankeryError
from core.store import Store

POLL_SECONDS = 0.2
# Longer with PostgreSQL: each poll takes a round trip to the server and a connection of the pool.
POLL_SECONDS_OF_POSTGRESQL = 0.5
MAX_RECENT_EVENTS = 1_000
READ_BATCH = 500  # events

_log = structlog.stdlib.get_logger("rankery.events")


@dataclass(frozen=True)
class FeedEvent:
    """An event with its encoded message for streams."""

    id: int
    kind: str
    object_id: str
    project: str | None
    message: bytes


@dataclass(eq=False)
class Follower:
    """A stream or sender that waits for events.

    Attributes:
        woken: Set when there are events or changes; the follower clears it before it reads events.
    """

    woken: asyncio.Event = field(default_factory=asyncio.Event)


class EventFeed:
    """The recent events of the database, and the signal that something has changed.

    Streams read recent events from memory, and only older events from the database. Not thread-safe.

    Args:
        max_streams: Largest number of open streams; further ones are refused to keep connections free.
        max_streams_per_caller: Largest number of open streams of one caller.

    Attributes:
        changes: Number of transactions that changed objects on pages, at the last poll; 0 before the first.
    """

    def __init__(self, store: Store, max_streams: int, max_streams_per_caller: int) -> None:
        self.changes = 0
        self._store = store
        self._max_streams = max_streams
        self._max_streams_per_caller = max_streams_per_caller
        self._streams: Counter[str] = Counter()
        self._followers: set[Follower] = set()
        self._has_followers = asyncio.Event()
        self._recent: deque[FeedEvent] = deque()
        self._complete_after: int | None = None  # `_recent` has all events after this id
        self._revision: str | None = None

    async def run(self) -> None:
        """Poll the database while there are followers, until cancelled."""
        while True:
            if not self._followers:
                self._forget()
                await self._has_followers.wait()
            try:
                await self._poll()
            except RankeryError as error:
                _log.warning("events.database_unavailable", reason=str(error))
                await asyncio.sleep(1)
            except Exception:  # noqa: BLE001 - the next poll tries again after any error
                _log.exception("events.not_read")
                await asyncio.sleep(1)
            if self._store.revision_never_blocks:
                await asyncio.sleep(POLL_SECONDS)
            else:
                await asyncio.sleep(POLL_SECONDS_OF_POSTGRESQL)

    @contextmanager
    def followed(self, follower: Follower | None = None) -> Iterator[Follower]:
        """Register a follower during the block, a new one if none is given, and yield it."""
        follower = follower or Follower()
        self._followers.add(follower)
        self._has_followers.set()
        try:
            yield follower
        finally:
            self._followers.remove(follower)
            if not self._followers:
                self._has_followers.clear()

    def refusal(self, caller: str) -> str | None:
        """Return the reason why a caller may open no further stream, or None."""
        if self._streams[caller] >= self._max_streams_per_caller:
            return f"at most {self._max_streams_per_caller} streams of a caller can be open at the same"
            " time; close one first"
        if self._streams.total() >= self._max_streams:
            return f"at most {self._max_streams} streams can be open at the same time; try again later"
        return None

    @contextmanager
    def streamed(self, caller: str) -> Iterator[Follower]:
        """Count a stream of a caller during the block, and yield its follower."""
        self._streams[caller] += 1
        try:
            with self.followed() as follower:
                yield follower
        finally:
            self._streams[caller] -= 1
            self._streams += Counter()  # remove callers without streams

    def recent(self, after: int) -> list[FeedEvent] | None:
        """Return the events after an id, None if some of them are only in the database."""
        if self._complete_after is None or after < self._complete_after:
            return None
        return [event for event in self._recent if event.id > after]

    async def latest_id(self) -> int:
        """Return the id of the newest event."""

        def read() -> int:
            with self._store.read() as tx:
                return tx.events.latest_id()

        return await EVENTS.run(read)

    async def count_changes(self) -> int:
        """Return the number of transactions that changed objects on pages."""

        def read() -> int:
            with self._store.read() as tx:
                return tx.counters.changes()

        return await EVENTS.run(read)

    async def stored(
        self, after: int, kinds: Collection[str], object_id: str | None
    ) -> tuple[list[FeedEvent], int, bool]:
        """Read events after an id from the database.

        Only events of the projects that the calling context may read are returned.

        Returns:
            The events, the id up to which they are complete, and whether more may follow.
        """

        def read() -> tuple[list[FeedEvent], int, bool]:
            with self._store.read() as tx:
                rows = tx.events.after(after, READ_BATCH, kinds=kinds, object_id=object_id)
                more = len(rows) == READ_BATCH
                last = rows[-1].id if more else max(after, tx.events.latest_id())
            return [_encoded(Event.of(row)) for row in rows], last, more

        return await EVENTS.run(read)

    async def _poll(self) -> None:
        revision = await self._latest_revision()
        if revision == self._revision:
            return
        changes = await self.count_changes()
        if self._complete_after is None:
            self._complete_after = await self.latest_id()
        elif changes == self.changes:
            self._revision = revision
            return
        await self._read_new_events()
        self._revision, self.changes = revision, changes
        for follower in self._followers:
            follower.woken.set()

    async def _read_new_events(self) -> None:
        last = self._recent[-1].id if self._recent else self._complete_after or 0
        more = True
        while more:
            events, last, more = await self.stored(last, (), None)
            self._recent.extend(events)
            while len(self._recent) > MAX_RECENT_EVENTS:
                self._complete_after = self._recent.popleft().id

    async def _latest_revision(self) -> str:
        if self._store.revision_never_blocks:
            return self._store.revision()
        return await EVENTS.run(self._store.revision)

    def _forget(self) -> None:
        self._recent.clear()
        self._complete_after = self._revision = None
        self.changes = 0


UseFeed = Annotated[EventFeed, injected(EventFeed)]


def _encoded(event: Event) -> FeedEvent:
    message = f"id: {event.id}\nevent: {event.kind}\ndata: {event.model_dump_json()}\n\n".encode()
    return FeedEvent(event.id, event.kind, event.object.id, event.project, message)
