"""Events, webhooks and deliveries."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, moment, seconds
from rankery.client.schemas import answers


class EventView(Displayable, answers.Event):
    """An event of the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": str(self.id),
            "kind": self.kind,
            "object": self.object.id,
            "project": self.project or "",
            "at": moment(self.at),
        }

    def card(self) -> Card:
        """Return the card of the event."""
        plain = {
            name: str(value) for name, value in self.data.items() if isinstance(value, str | int | float)
        }
        return Card(f"event {self.kind}", self.summary() | plain)


class WebhookView(Displayable, answers.Webhook):
    """A webhook, as last fetched from the service."""

    secret: str | None = None
    """Signing secret, `whsec_…`; only known when it was created or rotated"""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "url": self.url,
            "events": ", ".join(self.events) or "all",
            "state": "enabled" if self.enabled else "disabled",
            "waiting": count(self.waiting),
            "last delivered": moment(self.last_delivered_at),
        }

    def card(self) -> Card:
        """Return the card of the webhook; its secret is not shown."""
        facts = self.summary() | {
            "why": self.disabled_reason or "",
            "failing since": moment(self.failing_since),
            "description": self.description or "",
            "project": self.project or "",
        }
        return Card("webhook", facts)


class DeliveryView(Displayable, answers.Delivery):
    """The delivery of an event to a webhook."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        last = self.log[-1] if self.log else None
        return {
            "id": self.id,
            "event": self.event_kind,
            "object": self.object_id,
            "state": self.state,
            "attempts": count(self.attempts),
            "answer": "" if last is None else str(last.status or last.error or ""),
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the delivery with each attempt."""
        rows = [
            [moment(one.at), str(one.status or ""), seconds(one.took_seconds), one.error or one.answer or ""]
            for one in self.log
        ]
        tables = [CardTable(["at", "#status", "#took", "answer"], rows, "attempts")] if rows else []
        return Card(f"delivery of {self.event_kind}", self.summary(), tables=tables)


class WebhookTestView(Displayable, answers.WebhookTest):
    """Response of a webhook to a test."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "delivered": "yes" if self.delivered else "no",
            "status": str(self.status or ""),
            "error": self.error or "",
            "took": seconds(self.took_seconds),
        }

    def card(self) -> Card:
        """Return the card of the test."""
        return Card("test of a webhook", self.summary() | {"answer": self.answer or ""})
