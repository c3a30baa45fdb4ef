"""Calls about webhooks."""

from collections.abc import Sequence

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.webhook import AsyncWebhook
from rankery.client.reading import given


class AsyncWebhookCalls(AsyncCalls):
    """Calls about webhooks; their key needs the scope `admin`."""

    async def create_webhook(
        self,
        url: str,
        events: Sequence[str] = (),
        *,
        description: str | None = None,
        project: str | None = None,
        enabled: bool = True,
    ) -> AsyncWebhook:
        """Have the service post events to an address, signed and until it answers.

        Args:
            url: Where to, `https://…`; private addresses are refused where the settings do not allow them.
            events: Kinds, such as `job.ended` and `gate.refused`; all when empty.
            description: For people.
            project: Only events of this project.
            enabled: Whether events are delivered.

        Returns:
            The webhook; its `secret`, by which `rankery.verify_webhook` checks messages, is shown once.

        Raises:
            RankeryApiError: The service refused it.
        """
        body = {
            "url": url,
            "events": list(events),
            "description": description,
            "project": project,
            "enabled": enabled,
        }
        return self._bound(AsyncWebhook, await self.transport.create("/v1/webhooks", given(body)))

    def webhooks(self) -> AsyncPages[AsyncWebhook]:
        """List webhooks, newest first."""
        return self._pages(AsyncWebhook, "/v1/webhooks")

    async def webhook(self, webhook_id: str) -> AsyncWebhook:
        """Return a webhook.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncWebhook, await self.transport.get(f"/v1/webhooks/{webhook_id}"))
