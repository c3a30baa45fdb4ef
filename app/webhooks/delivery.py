"""Deliver events to webhooks, in the background of each API process."""

import asyncio
import random
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import structlog

from app.events.feed import EventFeed, Follower
from app.events.schemas import Event
from app.http.services import injected
from app.http.thread_pools import WEBHOOKS
from app.settings import ApiSettings
from app.webhooks.secrets import SecretCipher
from app.webhooks.sending import Attempt, Message, open_sender, send
from core.errors import RankeryError
from core.outbound.guard import SsrfGuard
from core.store import Store
from core.store.clock import utc_now
from core.store.repositories.deliveries import ClaimedDelivery, Outcome
from core.store.tables import Webhook

MAX_CONCURRENT_DELIVERIES = 16
MAX_CONCURRENT_PER_WEBHOOK = 4
# Largest random extension of a retry delay, as a share of the delay, to spread retries.
JITTER = 0.2
# Lease beyond the timeout of the request, for the work before and after it.
_LEASE_MARGIN_SECONDS = 5.0
_MAX_WAIT_SECONDS = 30.0
_MIN_WAIT_SECONDS = 0.1  # while another process has locked the due deliveries
_WAIT_AFTER_FAILURE_SECONDS = 5.0
_PAUSE_BETWEEN_ROUNDS_SECONDS = 0.02
_LAST_ATTEMPTS_SECONDS = 2.0
GONE = "The receiver answered 410 Gone."

_log = structlog.stdlib.get_logger("rankery.webhooks")


@dataclass(frozen=True)
class _Round:
    """Due deliveries, read from the database.

    Attributes:
        enabled: Whether any webhook is enabled.
        claimed: Deliveries to send now.
        next_due: Due time of the next delivery, or None.
    """

    enabled: bool
    claimed: list[ClaimedDelivery]
    next_due: datetime | None


class Deliverer:
    """Send and retry messages; API processes share the work by claiming deliveries.

    A claim expires after the longest duration of an attempt. Messages of a killed process are then sent
    again: each event is delivered at least once.

    Args:
        feed: Event feed, which wakes the deliverer.
        cipher: Decrypts the signing secrets.
        version: Version of Rankery, for the User-Agent header.
    """

    def __init__(
        self, store: Store, feed: EventFeed, cipher: SecretCipher, settings: ApiSettings, version: str
    ) -> None:
        self._store = store
        self._feed = feed
        self._cipher = cipher
        self._timeout_seconds = settings.webhook_timeout_seconds
        self._retry_seconds = settings.webhook_retry_seconds
        self._guard = SsrfGuard(settings.outbound_allowed)
        self._client = open_sender(self._guard, self._timeout_seconds, version)
        self._follower = Follower()
        self._sending: dict[asyncio.Task[None], ClaimedDelivery] = {}

    def wake(self) -> None:
        """Let the deliverer look for due deliveries now."""
        self._follower.woken.set()

    async def run(self) -> None:
        """Deliver until cancelled; attempts in progress then have two seconds to end."""
        with ExitStack() as stack:
            subscription = _Subscription(self._feed, self._follower, stack)
            try:
                while True:
                    self._follower.woken.clear()
                    rest_seconds = await self._round(subscription)
                    await self._wait(rest_seconds)
            finally:
                await self._end_attempts()
                await self._client.aclose()

    async def send(self, webhook: Webhook, message: Message) -> Attempt:
        """Send a message immediately and once."""
        return await send(self._client, webhook, message, self._cipher, self._timeout_seconds)

    def check_address(self, host: str, port: int) -> None:
        """Refuse a host that resolves to a forbidden address; blocks.

        Raises:
            AddressRefused: The host resolves to a forbidden address. A host that does not resolve passes.
        """
        with suppress(OSError):
            self._guard.addresses_of(host, port)

    async def _round(self, subscription: "_Subscription") -> float:
        """Send due messages; return the seconds until the next round."""
        sending = Counter(claimed.webhook.id for claimed in self._sending.values())
        try:
            due = await WEBHOOKS.run(lambda: self._claim_due(sending))
        except RankeryError as error:
            _log.warning("webhooks.database_unavailable", reason=str(error))
            return _WAIT_AFTER_FAILURE_SECONDS
        except Exception:  # noqa: BLE001 - the next round tries again after any error
            _log.exception("webhooks.not_read")
            return _WAIT_AFTER_FAILURE_SECONDS
        subscription.set(due.enabled)
        for claimed in due.claimed:
            task = asyncio.create_task(self._deliver(claimed))
            self._sending[task] = claimed
            task.add_done_callback(self._on_sent)
        if due.next_due is None or len(self._sending) >= MAX_CONCURRENT_DELIVERIES:
            return _MAX_WAIT_SECONDS
        due_in_seconds = (due.next_due - utc_now()).total_seconds()
        return min(max(due_in_seconds, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS)

    async def _wait(self, seconds: float) -> None:
        await asyncio.sleep(_PAUSE_BETWEEN_ROUNDS_SECONDS)  # handle events that arrive together in one round
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._follower.woken.wait()

    def _claim_due(self, sending: Counter[str]) -> _Round:
        free = MAX_CONCURRENT_DELIVERIES - sending.total()
        with self._store.read() as tx:
            if not tx.webhooks.any_enabled():
                return _Round(False, [], None)
            behind, due = tx.webhooks.are_behind(), tx.webhooks.next_due(_at_limit(sending))
        claimed: list[ClaimedDelivery] = []
        if behind or (due is not None and due <= utc_now() and free):
            with self._store.begin() as tx:
                tx.webhooks.dispatch()
                lease_seconds = self._timeout_seconds + _LEASE_MARGIN_SECONDS
                claimed = tx.webhooks.claim(free, MAX_CONCURRENT_PER_WEBHOOK, sending, lease_seconds)
            sending.update(each.webhook.id for each in claimed)
            with self._store.read() as tx:
                due = tx.webhooks.next_due(_at_limit(sending))
        return _Round(True, claimed, due)

    async def _deliver(self, claimed: ClaimedDelivery) -> None:
        message = Message.of(claimed.id, Event.of(claimed.event))
        attempt = await self.send(claimed.webhook, message)
        outcome = self._outcome(claimed, attempt)
        context = {"webhook_id": claimed.webhook.id, "delivery_id": claimed.id, "attempt": claimed.attempt}
        if attempt.delivered:
            _log.debug("webhook.delivered", **context, status=attempt.status)
        else:
            state = "dead" if outcome.retry_after_seconds is None else "failed"
            _log.warning(f"webhook.{state}", **context, reason=attempt.error)
        if outcome.disabled_reason is not None:
            _log.warning("webhook.disabled", webhook_id=claimed.webhook.id, reason=outcome.disabled_reason)
        try:
            await WEBHOOKS.run(lambda: self._record(claimed, outcome))
        except RankeryError as error:  # the message is sent again after its claim expires
            _log.warning("webhook.not_recorded", **context, reason=str(error))

    def _record(self, claimed: ClaimedDelivery, outcome: Outcome) -> None:
        with self._store.begin() as tx:
            tx.webhooks.record(claimed, outcome)

    def _outcome(self, claimed: ClaimedDelivery, attempt: Attempt) -> Outcome:
        log = attempt.to_json()
        if attempt.delivered:
            return Outcome(log, delivered=True)
        if attempt.is_gone:
            return Outcome(log, delivered=False, disabled_reason=GONE)
        if claimed.attempt > len(self._retry_seconds):
            return Outcome(log, delivered=False)
        requested_seconds = min(attempt.retry_after_seconds, max(self._retry_seconds))
        wait_seconds = max(self._retry_seconds[claimed.attempt - 1], requested_seconds)
        return Outcome(log, False, wait_seconds * (1 + JITTER * random.random()))  # noqa: S311 - no secret

    def _on_sent(self, task: asyncio.Task[None]) -> None:
        del self._sending[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("webhook.not_sent", exc_info=error)
        self.wake()

    async def _end_attempts(self) -> None:
        sending = dict(self._sending)
        if not sending:
            return
        await asyncio.wait(sending, timeout=_LAST_ATTEMPTS_SECONDS)
        unfinished = [claimed for task, claimed in sending.items() if not task.done()]
        for task in sending:
            task.cancel()
        if unfinished:
            await WEBHOOKS.run(lambda: self._release_claims(unfinished))

    def _release_claims(self, unfinished: list[ClaimedDelivery]) -> None:
        try:
            with self._store.begin() as tx:
                tx.webhooks.give_back(unfinished)
        except RankeryError as error:
            _log.warning("webhooks.not_given_back", reason=str(error))


UseDeliverer = Annotated[Deliverer, injected(Deliverer)]


class _Subscription:
    """Subscription to the event feed, active only while a webhook is enabled, which saves queries."""

    def __init__(self, feed: EventFeed, follower: Follower, stack: ExitStack) -> None:
        self._feed = feed
        self._follower = follower
        self._stack = stack
        self._follows = False

    def set(self, follows: bool) -> None:
        """Subscribe to the feed, or unsubscribe from it."""
        if follows and not self._follows:
            self._stack.enter_context(self._feed.followed(self._follower))
        elif not follows and self._follows:
            self._stack.pop_all().close()
        self._follows = follows


def _at_limit(sending: Counter[str]) -> list[str]:
    """Return the ids of the webhooks that have reached the limit of concurrent deliveries."""
    return [webhook_id for webhook_id, count in sending.items() if count >= MAX_CONCURRENT_PER_WEBHOOK]
