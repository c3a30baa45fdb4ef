"""Stored webhooks."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.deliveries import (
    DEAD,
    DELIVERED,
    WAITING,
    ClaimedDelivery,
    Deliveries,
    Outcome,
)
from core.store.repositories.events import Events
from core.store.tables import Webhook, WebhookDelivery

FORMER_SECRET_HOURS = 24
_EVENTS_PER_DISPATCH = 500
_KEPT_ATTEMPTS = 20


class Webhooks(Deliveries):
    """Webhooks within one transaction, with their deliveries."""

    def __init__(self, session: Session, events: Events) -> None:
        super().__init__(session)
        self._events = events

    def add(
        self,
        url: str,
        secret: str,
        *,
        events: Collection[str] = (),
        description: str | None = None,
        project: str | None = None,
        enabled: bool = True,
        key_id: str | None = None,
    ) -> Webhook:
        """Record a webhook, which receives events from now on.

        Args:
            secret: The key of the webhook's signatures as stored, encrypted or not.
            events: The kinds to send; empty for all.
            description: Description by the owner of the webhook.
            project: Send only events of this project; None for all.
            enabled: Whether to send events.
            key_id: The API key that creates it.
        """
        return self._insert(
            url=url,
            events=list(events),
            description=description,
            project=project,
            enabled=enabled,
            secret=secret,
            dispatched_id=self._events.latest_id(),
            created_by=key_id,
        )

    def all_locked(self) -> Sequence[Webhook]:
        """Return all webhooks, locked; their changes are stored with the transaction."""
        return self._session.scalars(select(Webhook).order_by(Webhook.id).with_for_update()).all()

    def waiting(self, webhook_ids: Collection[str]) -> dict[str, int]:
        """Return the number of waiting deliveries by webhook."""
        waiting = (WebhookDelivery.webhook_id.in_(webhook_ids), WebhookDelivery.state == WAITING)
        rows = select(WebhookDelivery.webhook_id, func.count()).where(*waiting)
        counts = dict.fromkeys(webhook_ids, 0)
        for webhook_id, count in self._session.execute(rows.group_by(WebhookDelivery.webhook_id)):
            counts[webhook_id] = count
        return counts

    def change(self, id: str, values: Mapping[str, Any]) -> Webhook:
        """Change a webhook.

        A webhook that is disabled keeps the events so far as waiting deliveries. One that is enabled again
        receives these and all events from now on.
        """
        webhook = self.locked(id)
        if webhook.enabled and values.get("enabled") is False:
            self._dispatch_all(webhook)
        if values.get("enabled") and not webhook.enabled:
            webhook.disabled_reason = webhook.failing_since = None
            webhook.dispatched_id = self._events.latest_id()
            waiting = (WebhookDelivery.webhook_id == id, WebhookDelivery.state == WAITING)
            self._session.execute(
                update(WebhookDelivery).where(*waiting).values(next_attempt_at=utc_now()),
                execution_options={"synchronize_session": False},
            )
        for name, value in values.items():
            setattr(webhook, name, value)
        webhook.updated_at = utc_now()
        self._session.flush()
        return webhook

    def record(self, claimed: ClaimedDelivery, outcome: Outcome) -> bool:
        """Record the outcome of a claimed attempt; return False if the claim is no longer valid.

        A webhook that the outcome disables keeps the events so far as waiting deliveries.
        """
        webhook = self._session.get(Webhook, claimed.webhook.id, with_for_update=True, populate_existing=True)
        delivery = self._session.get(
            WebhookDelivery, claimed.id, with_for_update=True, populate_existing=True
        )
        if webhook is None or delivery is None or delivery.claim != claimed.claim:
            return False
        if delivery.state != WAITING:
            return False
        now = utc_now()
        delivery.attempts = claimed.attempt
        delivery.log = [*delivery.log, outcome.log][-_KEPT_ATTEMPTS:]
        delivery.next_attempt_at = None
        if outcome.delivered:
            delivery.state, delivery.delivered_at = DELIVERED, now
            webhook.last_delivered_at, webhook.failing_since = now, None
        else:
            webhook.failing_since = webhook.failing_since or now
            if outcome.retry_after_seconds is None:
                delivery.state = DEAD
            else:
                delivery.next_attempt_at = now + timedelta(seconds=outcome.retry_after_seconds)
        if outcome.disabled_reason is not None:
            if webhook.enabled:
                self._dispatch_all(webhook)
            webhook.enabled, webhook.disabled_reason = False, outcome.disabled_reason
        self._session.flush()
        return True

    def rotate(self, id: str, secret: str) -> Webhook:
        """Replace the secret of a webhook; the former secret signs as well for another 24 hours."""
        webhook = self.locked(id)
        now = utc_now()
        webhook.former_secret, webhook.secret = webhook.secret, secret
        webhook.former_until, webhook.updated_at = now + timedelta(hours=FORMER_SECRET_HOURS), now
        self._session.flush()
        return webhook

    def delete(self, id: str) -> None:
        """Delete a webhook with its deliveries."""
        self.locked(id)
        self._session.execute(delete(Webhook).where(Webhook.id == id))

    def any_enabled(self) -> bool:
        """Return whether any webhook is enabled."""
        return self._session.scalar(select(Webhook.id).where(Webhook.enabled).limit(1)) is not None

    def are_behind(self) -> bool:
        """Return whether an enabled webhook lacks deliveries of recorded events."""
        latest = self._events.latest_id()
        behind = select(Webhook.id).where(Webhook.enabled, Webhook.dispatched_id < latest)
        return self._session.scalar(behind.limit(1)) is not None

    def dispatch(self) -> None:
        """Create deliveries of the events since the last call, some hundreds at a time.

        Ids of events are committed in order, so none is missed; concurrent processes lock different webhooks.
        """
        latest, now = self._events.latest_id(), utc_now()
        behind = select(Webhook).where(Webhook.enabled, Webhook.dispatched_id < latest).order_by(Webhook.id)
        for webhook in self._session.scalars(behind.with_for_update(skip_locked=True)).all():
            self._dispatch(webhook, latest, now)
        self._session.flush()

    def _dispatch_all(self, webhook: Webhook) -> None:
        """Create deliveries of all events so far."""
        latest, now = self._events.latest_id(), utc_now()
        while webhook.dispatched_id < latest:
            self._dispatch(webhook, latest, now)

    def _dispatch(self, webhook: Webhook, latest: int, now: datetime) -> None:
        events = self._events.after(
            webhook.dispatched_id, _EVENTS_PER_DISPATCH, kinds=webhook.events, project=webhook.project
        )
        rows = [
            {
                "id": ids.new_id(ids.DELIVERY),
                "webhook_id": webhook.id,
                "event_id": event.id,
                "object_id": event.object_id,
                "state": WAITING,
                "attempts": 0,
                "claim": 0,
                "next_attempt_at": now,
                "created_at": now,
                "log": [],
            }
            for event in events
            if event.id <= latest
        ]
        if rows:
            self._session.execute(insert(WebhookDelivery), rows)
        webhook.dispatched_id = min(events[-1].id, latest) if len(events) == _EVENTS_PER_DISPATCH else latest
