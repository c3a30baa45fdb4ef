"""The stream of server-sent events (HTML Living Standard, section 9.2)."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.events.feed import EventFeed, FeedEvent, Follower
from app.http.connections import ON_SHUTDOWN
from app.http.problems import http_problem
from app.http.thread_pools import EVENTS
from core.errors import StoreUnavailable
from core.store import Store
from core.store.visibility import visible_projects

MEDIA_TYPE = "text/event-stream"
RETRY_MILLISECONDS = 2_000
HEARTBEAT_SECONDS = 15.0
CHANGES_SECONDS = 1.0
# A stream of a revoked key ends within this time.
AUTHORIZATION_SECONDS = 5.0
_RETRY_AFTER_SECONDS = 30


@dataclass(frozen=True)
class Selection:
    """The events that a stream sends.

    Attributes:
        kinds: Kinds of events, empty for all.
        object_id: Only events about this object, None for all.
        changes: Whether to send `changed` messages when anything has changed.
    """

    kinds: Collection[str] = ()
    object_id: str | None = None
    changes: bool = True

    def includes(self, event: FeedEvent, allowed_projects: Collection[str] | None) -> bool:
        """Return whether the stream sends an event; `allowed_projects` is None for all projects."""
        return (
            (not self.kinds or event.kind in self.kinds)
            and self.object_id in (None, event.object_id)
            and (allowed_projects is None or event.project in allowed_projects)
        )


class EventStream(StreamingResponse):
    """A response that sends events as they happen, until the client disconnects or the server stops.

    Args:
        feed: Feed of events, which wakes the stream.
        store: Store, to detect removed events.
        after: Id of the last event that the client has; None for new events only.
        is_authorized: Returns whether the caller is still authorized.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self,
        feed: EventFeed,
        store: Store,
        selection: Selection,
        after: int | None,
        caller: str,
        is_authorized: Callable[[], Awaitable[bool]],
    ) -> None:
        self._feed = feed
        self._store = store
        self._selection = selection
        self._after = after
        self._caller = caller
        self._is_authorized = is_authorized
        self._follower = Follower()
        self._last, self._changes, self._first_message = 0, 0, b""
        self._ended = False
        # nginx would hold messages back until its buffer is full.
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(self._messages(), headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, or refuse it where too many are open."""
        if refusal := self._feed.refusal(self._caller):
            headers = {"Retry-After": str(_RETRY_AFTER_SECONDS)}
            await http_problem(HTTPStatus.TOO_MANY_REQUESTS, refusal, headers)(scope, receive, send)
            return
        self._ended = scope.get("method") == "HEAD"  # which gets only the headers
        on_shutdown: set[Callable[[], None]] = scope.get("state", {}).get(ON_SHUTDOWN, set())
        on_shutdown.add(self._end)
        try:
            with self._feed.streamed(self._caller) as self._follower:  # counted before the first await
                self._changes = await self._feed.count_changes()
                self._last, self._first_message = await self._beginning()
                await super().__call__(scope, receive, send)
        finally:
            on_shutdown.discard(self._end)

    def _end(self) -> None:
        self._ended = True
        self._follower.woken.set()

    async def _messages(self) -> AsyncIterator[bytes]:
        last = self._last
        yield self._first_message
        sent_at = changed_at = authorized_at = time.monotonic()
        changes = self._changes
        while not self._ended:
            self._follower.woken.clear()
            last, messages, more = await self._events_after(last)
            now = time.monotonic()
            if (
                self._selection.changes
                and self._feed.changes > changes
                and now - changed_at >= CHANGES_SECONDS
            ):
                changes, changed_at = self._feed.changes, now
                messages += b"event: changed\ndata: {}\n\n"
            if not messages and now - sent_at >= HEARTBEAT_SECONDS:
                messages = b":\n\n"
            if messages:
                yield messages
                sent_at = time.monotonic()
            if now - authorized_at >= AUTHORIZATION_SECONDS:
                if not await self._is_authorized():
                    return
                authorized_at = now
            if not more:
                changes_wait = self._selection.changes and self._feed.changes > changes
                await self._wait(
                    changed_at + CHANGES_SECONDS if changes_wait else None, sent_at, authorized_at
                )

    async def _wait(self, changes_at: float | None, sent_at: float, authorized_at: float) -> None:
        """Wait for events, or until a `changed` message, a heartbeat or an authorization check is due."""
        due = min(sent_at + HEARTBEAT_SECONDS, authorized_at + AUTHORIZATION_SECONDS)
        if changes_at is not None:
            due = min(due, changes_at)
        try:
            async with asyncio.timeout(max(due - time.monotonic(), 0)):
                await self._follower.woken.wait()
        except TimeoutError:
            pass

    async def _beginning(self) -> tuple[int, bytes]:
        """Return the id after which events are sent, and the first message."""
        retry = f"retry: {RETRY_MILLISECONDS}\n\n".encode()
        latest = await self._feed.latest_id()
        if self._after is None:
            return latest, retry + f"id: {latest}\nevent: ready\ndata: {{}}\n\n".encode()
        after = self._after

        def find_gap() -> bytes:
            with self._store.read() as tx:
                gap = tx.events.gap(after)
            if gap is None:
                return b""
            oldest = "null" if gap.oldest is None else gap.oldest
            return f'event: gap\ndata: {{"after":{gap.after},"oldest":{oldest}}}\n\n'.encode()

        gap_message = await EVENTS.run(find_gap)
        ready = f"id: {min(after, latest)}\nevent: ready\ndata: {{}}\n\n".encode()
        return min(after, latest), retry + gap_message + ready

    async def _events_after(self, last: int) -> tuple[int, bytes, bool]:
        """Return the id up to which events were read, their messages, and whether there are more."""
        selection = self._selection
        recent = self._feed.recent(last)
        if recent is None:
            try:
                sent, last, more = await self._feed.stored(last, selection.kinds, selection.object_id)
            except StoreUnavailable:  # the stream reads again after its next wake-up or timeout
                return last, b"", False
        else:
            allowed_projects, more = visible_projects(), False
            sent = [event for event in recent if selection.includes(event, allowed_projects)]
            last = recent[-1].id if recent else last
        return last, b"".join(event.message for event in sent), more
