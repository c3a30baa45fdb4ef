"""Webhooks: test, change and follow them."""

from typing import Any, Literal, Self

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.reading import read
from rankery.client.references import HasId, id_of
from rankery.client.views.webhook import DeliveryView, WebhookTestView, WebhookView


class AsyncWebhook(WebhookView, AsyncResource):
    """A webhook, as last fetched from the service."""

    async def refresh(self) -> Self:
        """Fetch the current state of the webhook.

        Returns:
            This webhook.
        """
        return self._take(await self._client.transport.get(self._path))

    async def change(self, **changes: Any) -> Self:
        """Change some of its fields; what is left out stays.

        Args:
            **changes: `url`, `events`, `description`, `project` and `enabled`.

        Raises:
            RankeryApiError: The service refused it.
        """
        return self._take(
            (await self._client.transport.request("PATCH", self._path, json=dict(changes))).json()
        )

    async def test(self) -> WebhookTestView:
        """Send it an event of kind `webhook.test` now, and return how it answered."""
        response = await self._client.transport.request("POST", f"{self._path}/test", repeatable=False)
        return read(WebhookTestView, response.json())

    async def rotate_secret(self) -> Self:
        """Give it a new `secret`; the old one signs beside it for 24 hours.

        Returns:
            This webhook, with the secret.
        """
        response = await self._client.transport.request("POST", f"{self._path}/rotate", repeatable=False)
        return self._take(response.json())

    def deliveries(
        self, state: Literal["waiting", "delivered", "dead"] | None = None
    ) -> AsyncPages[DeliveryView]:
        """List what was and is to be delivered, newest first.

        Args:
            state: Only those `waiting`, `delivered` or `dead`.
        """
        path = f"{self._path}/deliveries"
        return AsyncPages(self._client.transport, path, lambda one: read(DeliveryView, one), state=state)

    async def redeliver(self, delivery: str | HasId) -> DeliveryView:
        """Deliver an event again.

        Args:
            delivery: Its id, or one of `deliveries`.
        """
        path = f"{self._path}/deliveries/{id_of(delivery)}/redeliver"
        return read(DeliveryView, await self._client.transport.create(path))

    async def delete(self) -> None:
        """Delete the webhook with its deliveries."""
        await self._client.transport.request("DELETE", self._path)

    @property
    def _path(self) -> str:
        return f"/v1/webhooks/{self.id}"
