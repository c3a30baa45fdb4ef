"""Stored deliveries of events to webhooks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, exists, select, update
from sqlalchemy.orm import aliased

from core.errors import NotFound, WrongState
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.pages import Page, PageRequest, filter_by_values
from core.store.repositories.repository import Repository
from core.store.tables import Event, Webhook, WebhookDelivery

WAITING, DELIVERED, DEAD = "waiting", "delivered", "dead"


@dataclass(frozen=True)
class ClaimedDelivery:
    """A delivery claimed by this process.

    Attributes:
        id: Id of the delivery, the same in all attempts.
        claim: Number of the claim, a fencing token.
        attempt: Number of the attempt since the delivery was created or redelivered, from 1.
    """

    id: str
    claim: int
    attempt: int
    webhook: Webhook
    event: Event


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempt.

    Attributes:
        log: Entry for `WebhookDelivery.log`: `{"at", "status", "took_seconds", "error", "answer"}`.
        delivered: Whether the receiver accepted it.
        retry_after_seconds: Delay until the next attempt, None for no further attempt.
    """

    log: dict[str, Any]
    delivered: bool
    retry_after_seconds: float | None = None
    disabled_reason: str | None = None


class Deliveries(Repository[Webhook]):
    """Webhooks with their deliveries within one transaction.

    A webhook is locked before its deliveries, so that transactions do not deadlock.
    """

    table = Webhook
    kind = "webhook"
    id_prefix = ids.WEBHOOK

    def delivery(self, webhook_id: str, id: str, *, locked: bool = False) -> WebhookDelivery:
        """Return one delivery of a webhook, locked until the transaction ends if `locked`.

        Raises:
            NotFound: The webhook has no such delivery.
        """
        delivery = self._session.get(WebhookDelivery, id, with_for_update=locked, populate_existing=True)
        if delivery is None or delivery.webhook_id != webhook_id:
            raise NotFound("delivery", id)
        return delivery

    def deliveries(
        self, webhook_id: str, cursor: str | None, limit: int, state: str | None = None
    ) -> tuple[Page[WebhookDelivery], Mapping[int, Event]]:
        """List the deliveries of a webhook, newest first, with their events by id.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = filter_by_values(select(WebhookDelivery), webhook_id=webhook_id, state=state)
        page = PageRequest(cursor, limit).take(self._session, rows, WebhookDelivery.id, ids.DELIVERY)
        return page, self.events_of(page.items)

    def events_of(self, deliveries: Collection[WebhookDelivery]) -> dict[int, Event]:
        """Return the events of some deliveries by id."""
        event_ids = [delivery.event_id for delivery in deliveries]
        return {
            event.id: event for event in self._session.scalars(select(Event).where(Event.id.in_(event_ids)))
        }

    def next_due(self, ignored: Collection[str] = ()) -> datetime | None:
        """Return the due time of the next delivery, None if no delivery waits.

        Args:
            ignored: Ids of webhooks to ignore.
        """
        rows = (
            select(WebhookDelivery.next_attempt_at)
            .join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
            .where(Webhook.enabled, *_is_next(), WebhookDelivery.webhook_id.not_in(ignored))
        )
        return self._session.scalar(rows.order_by(WebhookDelivery.next_attempt_at).limit(1))

    def claim(
        self, limit: int, limit_per_webhook: int, sending: Mapping[str, int], lease_seconds: float
    ) -> list[ClaimedDelivery]:
        """Claim due deliveries; for each object, claim only the delivery of its oldest waiting event.

        Webhooks with fewer deliveries in flight come first, so that slow receivers do not starve others.

        Args:
            limit_per_webhook: Maximum number per webhook, including those in flight.
            sending: Number of deliveries in flight of this process, by webhook.
            lease_seconds: Seconds after which another process may claim them if no outcome was recorded.
        """
        now = utc_now()
        claimed: list[ClaimedDelivery] = []
        webhooks = self._session.scalars(select(Webhook).where(Webhook.enabled).order_by(Webhook.id)).all()
        for webhook in sorted(webhooks, key=lambda each: sending.get(each.id, 0)):
            free = min(limit - len(claimed), limit_per_webhook - sending.get(webhook.id, 0))
            if free > 0:
                claimed += self._claim_of(webhook, free, now, lease_seconds)
        return claimed

    def give_back(self, claimed: Collection[ClaimedDelivery]) -> None:
        """Release claimed deliveries that were not sent, so that any process can send them immediately."""
        now = utc_now()
        for each in claimed:
            claim_conditions = (WebhookDelivery.id == each.id, WebhookDelivery.claim == each.claim)
            self._session.execute(
                update(WebhookDelivery)
                .where(*claim_conditions, WebhookDelivery.state == WAITING)
                .values(next_attempt_at=now),
                execution_options={"synchronize_session": False},
            )

    def redeliver(self, webhook_id: str, id: str) -> WebhookDelivery:
        """Queue a delivery again, with its attempts reset; an attempt in progress is no longer recorded.

        Raises:
            NotFound: The webhook does not exist or has no such delivery.
            WrongState: The webhook is disabled.
        """
        webhook = self.locked(webhook_id)
        delivery = self.delivery(webhook_id, id, locked=True)
        if not webhook.enabled:
            raise WrongState("webhook", webhook_id, "disabled", "enable it first")
        delivery.claim += 1
        delivery.state, delivery.attempts = WAITING, 0
        delivery.next_attempt_at, delivery.delivered_at = utc_now(), None
        self._session.flush()
        return delivery

    def _claim_of(
        self, webhook: Webhook, limit: int, now: datetime, lease_seconds: float
    ) -> list[ClaimedDelivery]:
        due = select(WebhookDelivery).where(
            WebhookDelivery.webhook_id == webhook.id, *_is_next(), WebhookDelivery.next_attempt_at <= now
        )
        # Concurrent processes claim different deliveries without waiting.
        due = due.order_by(WebhookDelivery.event_id).limit(limit)
        due = due.with_for_update(skip_locked=True, of=WebhookDelivery)
        rows = self._session.scalars(due.execution_options(populate_existing=True)).all()
        for row in rows:
            row.claim, row.next_attempt_at = row.claim + 1, now + timedelta(seconds=lease_seconds)
        self._session.flush()
        events = self.events_of(rows)
        return [
            ClaimedDelivery(row.id, row.claim, row.attempts + 1, webhook, events[row.event_id])
            for row in rows
        ]


def _is_next() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that a delivery waits and that no earlier delivery of its object waits."""
    earlier = aliased(WebhookDelivery)
    waits_behind = exists().where(
        earlier.webhook_id == WebhookDelivery.webhook_id,
        earlier.object_id == WebhookDelivery.object_id,
        earlier.event_id < WebhookDelivery.event_id,
        earlier.state == WAITING,
    )
    return WebhookDelivery.state == WAITING, ~waits_behind
