"""Calls about events."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Any

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncCalls
from rankery.client.event_lines import EventStreamParser
from rankery.client.frames.cells import warn
from rankery.client.reading import read
from rankery.client.references import HasId, id_of
from rankery.client.views.event import EventView
from rankery.errors import ServiceUnreachable

_CONTROL_MESSAGES = frozenset({"ready", "changed", "gap"})
_MAX_PAUSE_SECONDS = 5.0
_PATIENCE_SECONDS = 300.0


class AsyncEventCalls(AsyncCalls):
    """Calls about events."""

    async def events(
        self,
        after: int | None = None,
        *,
        kinds: Sequence[str] | str | None = None,
        object: str | HasId | None = None,
        patience_seconds: float = _PATIENCE_SECONDS,
    ) -> AsyncIterator[EventView]:
        """Iterate over events as they happen, endlessly.

        After a lost connection, the iteration resumes after the last event, without gaps or repetitions.

        Args:
            after: Id of the event to begin after; 0 for all stored events, None for new events only.
            kinds: Only these kinds, such as `job.ended`, `gate.refused` or `alias.moved`.
            object: Only events of this object.
            patience_seconds: Seconds to retry while the service does not respond.

        Raises:
            ServiceUnreachable: The service has not responded for `patience_seconds`.
            RankeryApiError: The service refused the request.

        Warns:
            DataWarning: Events after `after` were removed by the retention.

        Example:
            ```python
            async for event in client.events(kinds="job.ended"):
                print(event.object.id, event.data["status"])
            ```
        """
        parser = EventStreamParser(None if after is None else str(after))
        requested = [kinds] if isinstance(kinds, str) else kinds
        parameters: dict[str, Any] = {
            "kind": None if requested is None else list(requested),
            "object": None if object is None else id_of(object),
            "changes": False,
        }
        last_response, pause = monotonic(), 0.1
        while True:
            try:
                async for line in self.transport.lines("/v1/events", parameters, parser.last_id):
                    last_response, pause = monotonic(), 0.1
                    message = parser.parse_line(line)
                    if message is None:
                        continue
                    kind, document = message
                    if kind == "gap":
                        warn(f"events after {document['after']} were removed; later ones follow")
                    if kind not in _CONTROL_MESSAGES:
                        yield read(EventView, document)
            except ServiceUnreachable:
                if monotonic() - last_response > patience_seconds:
                    raise
            parser.discard_partial_event()
            await asyncio.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - no secret
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    def past_events(
        self,
        *,
        after: int | None = None,
        kinds: Sequence[str] | str | None = None,
        object: str | HasId | None = None,
    ) -> AsyncPages[EventView]:
        """List the stored events, newest first.

        Args:
            after: Only events after the event of this id.
            kinds: Only these kinds, such as `job.ended`.
            object: Only events of this object.
        """
        requested = [kinds] if isinstance(kinds, str) else kinds
        return AsyncPages(
            self.transport,
            "/v1/events",
            lambda one: read(EventView, one),
            after=after,
            kind=None if requested is None else list(requested),
            object=None if object is None else id_of(object),
        )
