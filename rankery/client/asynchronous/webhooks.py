"""Calls about events and webhooks, and the webhook resource."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Any, Literal, Self

from rankery.client.arguments import texts_field
from rankery.client.asynchronous.resource import AsyncCalls, AsyncPages, AsyncRefreshable
from rankery.client.event_lines import EventStreamParser
from rankery.client.frames.cells import warn
from rankery.client.reading import document_of, read, without_none
from rankery.client.references import HasId, id_of
from rankery.client.views.webhook import DeliveryView, EventView, WebhookTestView, WebhookView
from rankery.errors import ServiceUnreachable


class AsyncWebhook(WebhookView, AsyncRefreshable):
    """A webhook, as last fetched from the service."""

    async def change(self, **changes: Any) -> Self:
        """Change fields; omitted fields stay.

        Args:
            **changes: `url`, `events`, `description`, `project` and `enabled`.
        """
        return await self._change(changes)

    async def test(self) -> WebhookTestView:
        """Send an event of kind `webhook.test` to the receiver now, and return its response."""
        response = await self._transport.request("POST", f"{self._path}/test", repeatable=False)
        return read(WebhookTestView, response.json())

    async def rotate_secret(self) -> Self:
        """Rotate the signing `secret`; the old secret also signs for 24 hours.

        Returns:
            This webhook, with the secret.
        """
        return await self._post("rotate")

    def deliveries(
        self, state: Literal["waiting", "delivered", "dead"] | None = None
    ) -> AsyncPages[DeliveryView]:
        """List the deliveries of the webhook, newest first.

        Args:
            state: Only deliveries that are `waiting`, `delivered` or `dead`.
        """
        path = f"{self._path}/deliveries"
        return AsyncPages(self._transport, path, lambda one: read(DeliveryView, one), state=state)

    async def redeliver(self, delivery: str | HasId) -> DeliveryView:
        """Deliver an event again.

        Args:
            delivery: The delivery, or its id.
        """
        path = f"{self._path}/deliveries/{id_of(delivery)}/redeliver"
        return read(DeliveryView, await self._transport.create(path))

    async def delete(self) -> None:
        """Delete the webhook with its deliveries."""
        await self._delete()

    @property
    def _path(self) -> str:
        return f"/v1/webhooks/{self.id}"


class AsyncWebhookCalls(AsyncCalls):
    """Calls about webhooks; the API key needs the scope `admin`."""

    async def create_webhook(
        self,
        url: str,
        events: Sequence[str] = (),
        *,
        description: str | None = None,
        project: str | None = None,
        enabled: bool = True,
    ) -> AsyncWebhook:
        """Create a webhook: the service posts signed events to a URL, with retries.

        Args:
            url: URL of the receiver, `https://…`; private addresses are refused unless the settings allow
                them.
            events: Kinds of events such as `job.ended` and `gate.refused`; all when empty.
            description: Free text.
            project: Only events of this project.
            enabled: Whether events are delivered.

        Returns:
            The webhook; its `secret`, for `rankery.verify_webhook`, is not returned again.
        """
        body = {
            "url": url,
            "events": texts_field(events),
            "description": description,
            "project": project,
            "enabled": enabled,
        }
        # Without retries after a lost response: a second webhook would get all events, too.
        response = await self.transport.request(
            "POST", "/v1/webhooks", json=without_none(body), repeatable=False
        )
        return self._bound(AsyncWebhook, document_of(response))

    def webhooks(self) -> AsyncPages[AsyncWebhook]:
        """List webhooks, newest first."""
        return self._pages(AsyncWebhook, "/v1/webhooks")

    async def webhook(self, webhook_id: str) -> AsyncWebhook:
        """Return a webhook."""
        return self._bound(AsyncWebhook, await self.transport.get(f"/v1/webhooks/{webhook_id}"))


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

        Warns:
            DataWarning: Events after `after` were removed by the retention.

        Example:
            ```python
            async for event in client.events(kinds="job.ended"):
                print(event.object.id, event.data["status"])
            ```
        """
        parser = EventStreamParser(None if after is None else str(after))
        parameters: dict[str, Any] = {
            "kind": texts_field(kinds),
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
        return AsyncPages(
            self.transport,
            "/v1/events",
            lambda one: read(EventView, one),
            after=after,
            kind=texts_field(kinds),
            object=None if object is None else id_of(object),
        )
