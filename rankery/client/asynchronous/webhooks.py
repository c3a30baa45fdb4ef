"""Calls about webhooks, and the webhook resource."""

from collections.abc import Sequence
from typing import Any, Literal, Self

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncCalls, AsyncRefreshable
from rankery.client.reading import document_of, read, without_none
from rankery.client.references import HasId, id_of
from rankery.client.views.webhook import DeliveryView, WebhookTestView, WebhookView


class AsyncWebhook(WebhookView, AsyncRefreshable):
    """A webhook, as last fetched from the service."""

    async def change(self, **changes: Any) -> Self:
        """Change fields; omitted fields stay.

        Args:
            **changes: `url`, `events`, `description`, `project` and `enabled`.

        Raises:
            RankeryApiError: The service refused the request.
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

        Raises:
            RankeryApiError: The service refused the request.
        """
        body = {
            "url": url,
            "events": list(events),
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
        """Return a webhook.

        Raises:
            RankeryApiError: The id is unknown.
        """
        return self._bound(AsyncWebhook, await self.transport.get(f"/v1/webhooks/{webhook_id}"))
