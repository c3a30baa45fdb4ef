"""Webhooks and the deliveries of events to them."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from core.errors import NotFound, WrongState
from core.store import Store
from core.store.clock import utc_now
from core.store.repositories.deliveries import ClaimedDelivery, Outcome
from core.store.repositories.events import Events
from core.store.tables import Webhook

LOG = {"at": "2026-01-05T10:00:00Z", "status": 200, "took_seconds": 0.1, "error": None, "answer": ""}
DELIVERED = Outcome(LOG, delivered=True)
DEAD = Outcome(LOG, delivered=False)


@pytest.fixture
def webhook(store: Store) -> Webhook:
    """A webhook for all events."""
    with store.begin() as tx:
        return tx.webhooks.add("https://example.com/", "whsec_")


def _add_events(store: Store, *objects: str, kind: str = "alias.moved", project: str | None = None) -> None:
    for name in objects:
        with store.begin() as tx:
            tx.events.add(kind, "alias", name, {}, project=project)


def _dispatch(store: Store) -> None:
    with store.begin() as tx:
        tx.webhooks.dispatch()


def _claim(
    store: Store, limit: int = 100, lease_seconds: float = 60, **sending: Any
) -> list[ClaimedDelivery]:
    with store.begin() as tx:
        return tx.webhooks.claim(limit, limit, sending, lease_seconds)


def _record(store: Store, claimed: ClaimedDelivery, outcome: Outcome) -> bool:
    with store.begin() as tx:
        return tx.webhooks.record(claimed, outcome)


def _states(store: Store, webhook: Webhook) -> list[tuple[str, str]]:
    """Return the object and the state of each delivery, the oldest event first."""
    with store.read() as tx:
        page, events = tx.webhooks.deliveries(webhook.id, None, 200)
    rows = sorted(page.items, key=lambda row: row.event_id)
    return [(events[row.event_id].object_id, row.state) for row in rows]


@pytest.mark.both_stores
def test_events_become_deliveries_once(store: Store, webhook: Webhook) -> None:
    """Each event since the webhook was made has one delivery, however often events are dispatched."""
    _add_events(store, "a", "b")
    _dispatch(store)
    _dispatch(store)
    _add_events(store, "c")
    with store.read() as tx:
        assert tx.webhooks.are_behind()
    _dispatch(store)
    with store.read() as tx:
        assert not tx.webhooks.are_behind()
        assert tx.webhooks.waiting([webhook.id, "whk_other"]) == {webhook.id: 3, "whk_other": 0}
    assert _states(store, webhook) == [("a", "waiting"), ("b", "waiting"), ("c", "waiting")]


def test_a_webhook_gets_only_requested_events(store: Store) -> None:
    """A webhook gets the kinds and the project that it names, and nothing from before it was made."""
    _add_events(store, "early")
    with store.begin() as tx:
        kinds = tx.webhooks.add("https://example.com/", "whsec_", events=["gate.refused"])
        of_project = tx.webhooks.add("https://example.com/", "whsec_", project="web")
    _add_events(store, "a", kind="gate.refused")
    _add_events(store, "b", project="web")
    _dispatch(store)
    assert _states(store, kinds) == [("a", "waiting")]
    assert _states(store, of_project) == [("b", "waiting")]


def test_a_backlog_is_dispatched_in_batches(
    store: Store, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long backlog is dispatched in batches, without a gap."""
    monkeypatch.setattr("core.store.repositories.webhooks._EVENTS_PER_DISPATCH", 3)
    names = [f"o{number}" for number in range(8)]
    _add_events(store, *names)
    for _ in range(3):
        _dispatch(store)
    assert [name for name, _ in _states(store, webhook)] == names


def test_events_recorded_during_a_full_batch_are_dispatched_later(
    store: Store, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events that are committed between the two reads of a dispatch are in the next batch."""
    monkeypatch.setattr("core.store.repositories.webhooks._EVENTS_PER_DISPATCH", 3)
    _add_events(store, "a", "b", "c", "d")
    with store.begin() as tx, monkeypatch.context() as patch:
        patch.setattr(Events, "latest_id", lambda _: 2)  # its value before `c` and `d` were committed
        tx.webhooks.dispatch()
    assert [name for name, _ in _states(store, webhook)] == ["a", "b"]
    _dispatch(store)
    assert [name for name, _ in _states(store, webhook)] == ["a", "b", "c", "d"]


@pytest.mark.both_stores
def test_a_claim_is_of_one_process(store: Store, webhook: Webhook) -> None:
    """A second process may claim a delivery after the lease; then the first one records nothing."""
    _add_events(store, "a")
    _dispatch(store)
    (first,) = _claim(store, lease_seconds=-1)
    (second,) = _claim(store)
    assert _claim(store) == []
    assert (first.attempt, second.attempt) == (1, 1)
    assert not _record(store, first, DELIVERED)
    assert _record(store, second, DELIVERED)
    assert not _record(store, second, DEAD)
    assert _states(store, webhook) == [("a", "delivered")]


@pytest.mark.parametrize("outcome", [DELIVERED, DEAD])
def test_events_of_one_object_are_delivered_in_order(
    store: Store, webhook: Webhook, outcome: Outcome
) -> None:
    """An event waits for the earlier ones of its object, not for those of others."""
    _add_events(store, "a", "b", "a", "a")
    _dispatch(store)
    first_a, first_b = _claim(store)
    assert (first_a.event.object_id, first_b.event.object_id) == ("a", "b")
    assert _claim(store) == []
    _record(store, first_a, Outcome(LOG, delivered=False, retry_after_seconds=0))
    (again,) = _claim(store)
    assert (again.event.id, again.attempt) == (first_a.event.id, 2)
    _record(store, again, outcome)
    (second_a,) = _claim(store)
    assert second_a.event.id > first_a.event.id
    assert second_a.attempt == 1


@pytest.mark.both_stores
def test_the_next_due_time_ignores_blocked_deliveries(store: Store, webhook: Webhook) -> None:
    """The next due time ignores events that wait for others, and webhooks at their limit."""
    with store.read() as tx:
        assert tx.webhooks.next_due() is None
    _add_events(store, "a", "a")
    _dispatch(store)
    with store.read() as tx:
        assert (tx.webhooks.next_due() or utc_now()) <= utc_now()
        assert tx.webhooks.next_due(ignored=[webhook.id]) is None
    lease, before = timedelta(minutes=1), utc_now()
    (first,) = _claim(store, lease_seconds=lease.total_seconds())
    with store.read() as tx:
        due = tx.webhooks.next_due()
    assert due is not None
    assert before + lease <= due <= utc_now() + lease
    with store.begin() as tx:
        tx.webhooks.give_back([first])
    assert [each.event.id for each in _claim(store)] == [first.event.id]


def test_claims_respect_the_limit_of_each_webhook(store: Store, webhook: Webhook) -> None:
    """A webhook has a limit of deliveries, which is lower if some are in flight; others use the rest."""
    with store.begin() as tx:
        other = tx.webhooks.add("https://example.com/", "whsec_")
    _add_events(store, *(f"o{number}" for number in range(5)))
    _dispatch(store)
    with store.begin() as tx:
        claimed = tx.webhooks.claim(5, 3, {webhook.id: 2}, 60)
    assert sorted(each.webhook.id for each in claimed) == sorted([webhook.id, *[other.id] * 3])


def test_older_webhooks_do_not_starve_a_newer_one(store: Store, webhook: Webhook) -> None:
    """A free slot is given to the webhook with the fewest deliveries in flight."""
    with store.begin() as tx:
        newer = tx.webhooks.add("https://example.org/", "whsec_")
    _add_events(store, *"abcdef")
    _dispatch(store)
    with store.begin() as tx:
        slow = tx.webhooks.claim(3, 4, {}, 60)
        (claimed,) = tx.webhooks.claim(1, 4, {webhook.id: 3}, 60)
    assert [each.webhook.id for each in slow] == [webhook.id] * 3
    assert claimed.webhook.id == newer.id


def test_a_disabled_webhook_gets_its_deliveries_once_enabled(store: Store, webhook: Webhook) -> None:
    """The start of failures is recorded; a disabled webhook gets waiting deliveries after it is enabled."""
    _add_events(store, "a", "b")
    _dispatch(store)
    first, second = _claim(store)
    _record(store, first, Outcome(LOG, delivered=False, retry_after_seconds=600))
    with store.read() as tx:
        assert tx.webhooks.get(webhook.id).failing_since is not None
    _record(store, second, DELIVERED)
    with store.read() as tx:
        assert tx.webhooks.get(webhook.id).failing_since is None
    with store.begin() as tx:
        tx.webhooks.change(webhook.id, {"enabled": False})
    _add_events(store, "unseen")
    _dispatch(store)
    assert _claim(store) == []
    with store.begin() as tx:
        assert not tx.webhooks.any_enabled()
        tx.webhooks.change(webhook.id, {"enabled": True})
    _dispatch(store)
    assert [each.event.id for each in _claim(store)] == [first.event.id]
    assert _states(store, webhook) == [("a", "waiting"), ("b", "delivered")]


def test_events_before_a_pause_are_sent_after_it(
    store: Store, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events that were recorded before the webhook was disabled wait, even if no process had read them."""
    monkeypatch.setattr("core.store.repositories.webhooks._EVENTS_PER_DISPATCH", 1)
    _add_events(store, "a", "b")
    with store.begin() as tx:
        tx.webhooks.change(webhook.id, {"enabled": False})
    _add_events(store, "c")
    with store.begin() as tx:
        tx.webhooks.change(webhook.id, {"enabled": True})
    _dispatch(store)
    assert _states(store, webhook) == [("a", "waiting"), ("b", "waiting")]


def test_a_webhook_is_disabled_if_its_receiver_is_gone(store: Store, webhook: Webhook) -> None:
    """The attempt that gets 410 disables the webhook and records the reason."""
    _add_events(store, "a")
    _dispatch(store)
    (claimed,) = _claim(store)
    _record(store, claimed, Outcome(LOG, delivered=False, disabled_reason="The receiver is gone."))
    with store.begin() as tx:
        row = tx.webhooks.get(webhook.id)
        assert (row.enabled, row.disabled_reason) == (False, "The receiver is gone.")
        with pytest.raises(WrongState):
            tx.webhooks.redeliver(webhook.id, claimed.id)


def test_events_before_the_receiver_was_gone_are_kept(store: Store, webhook: Webhook) -> None:
    """Events recorded before an attempt disables the webhook wait, even if no process had read them."""
    _add_events(store, "a")
    _dispatch(store)
    (claimed,) = _claim(store)
    _add_events(store, "b")
    _record(store, claimed, Outcome(LOG, delivered=False, disabled_reason="The receiver is gone."))
    assert _states(store, webhook) == [("a", "dead"), ("b", "waiting")]


def test_events_of_a_pause_are_not_sent_if_the_receiver_is_gone(store: Store, webhook: Webhook) -> None:
    """An attempt that ends after the webhook was disabled does not queue the events since then."""
    _add_events(store, "a")
    _dispatch(store)
    (claimed,) = _claim(store)
    with store.begin() as tx:
        tx.webhooks.change(webhook.id, {"enabled": False})
    _add_events(store, "b")
    _record(store, claimed, Outcome(LOG, delivered=False, disabled_reason="The receiver is gone."))
    assert _states(store, webhook) == [("a", "dead")]


def test_a_redelivery_keeps_id_and_log(store: Store, webhook: Webhook) -> None:
    """A delivery that is dead or delivered is sent again under the same id, and keeps its log."""
    _add_events(store, "a")
    _dispatch(store)
    (claimed,) = _claim(store)
    _record(store, claimed, DEAD)
    with store.begin() as tx:
        tx.webhooks.redeliver(webhook.id, claimed.id)
    (second,) = _claim(store)
    assert (second.id, second.attempt) == (claimed.id, 1)
    _record(store, second, DELIVERED)
    with store.read() as tx:
        delivery = tx.webhooks.delivery(webhook.id, claimed.id)
        assert delivery.log == [LOG, LOG]
        with pytest.raises(NotFound):
            tx.webhooks.delivery("whk_other", claimed.id)


def test_a_redelivery_is_not_overtaken(store: Store, webhook: Webhook) -> None:
    """An attempt that began before the redelivery does not end it."""
    _add_events(store, "a")
    _dispatch(store)
    (claimed,) = _claim(store)
    with store.begin() as tx:
        tx.webhooks.redeliver(webhook.id, claimed.id)
    assert not _record(store, claimed, DELIVERED)
    assert _states(store, webhook) == [("a", "waiting")]


@pytest.mark.both_stores
def test_an_event_that_waits_for_an_enabled_webhook_is_kept_for_a_week(
    store: Store, webhook: Webhook
) -> None:
    """The event and later ones are kept, so that none is missing between; a disabled webhook keeps none."""

    def remove(later: timedelta) -> int:
        with store.begin() as tx:
            return tx.events.remove_before(utc_now() + later, 100)

    _add_events(store, "a", "b", "c")
    _dispatch(store)
    first, second, third = _claim(store)
    _record(store, first, DELIVERED)
    _record(store, second, Outcome(LOG, delivered=False, retry_after_seconds=86_400))
    _record(store, third, DELIVERED)
    assert remove(timedelta(days=6)) == 1
    assert _states(store, webhook) == [("b", "waiting"), ("c", "delivered")]
    with store.begin() as tx:
        tx.webhooks.change(webhook.id, {"enabled": False})
    assert remove(timedelta(days=6)) == 1
    assert _states(store, webhook) == [("c", "delivered")]
    with store.begin() as tx:
        tx.webhooks.change(webhook.id, {"enabled": True})
    _add_events(store, "d", "e")
    _dispatch(store)
    assert remove(timedelta(days=6)) == 1
    assert _states(store, webhook) == [("d", "waiting"), ("e", "waiting")]
    assert remove(timedelta(days=8)) == 1


def test_secrets_rotate(store: Store, webhook: Webhook) -> None:
    """The former secret is kept for a day."""
    with store.begin() as tx:
        tx.webhooks.rotate(webhook.id, "whsec_new")
    with store.read() as tx:
        row = tx.webhooks.get(webhook.id)
    assert (row.secret, row.former_secret) == ("whsec_new", "whsec_")
    assert row.former_until is not None
    assert timedelta(hours=23) < row.former_until - utc_now() < timedelta(hours=25)


@pytest.mark.long
def test_deliveries_are_deleted_with_their_webhook_or_event(store: Store, webhook: Webhook) -> None:
    """Deliveries of other webhooks and events remain."""
    _add_events(store, "a", "b")
    _dispatch(store)
    with store.begin() as tx:
        tx.events.remove_before(utc_now() + timedelta(days=8), 1)
    assert _states(store, webhook) == [("b", "waiting")]
    with store.begin() as tx:
        tx.webhooks.delete(webhook.id)
    assert _states(store, webhook) == []
    with store.begin() as tx, pytest.raises(NotFound):
        tx.webhooks.delete(webhook.id)


@pytest.mark.long
@pytest.mark.both_stores
def test_concurrent_processes_claim_each_delivery_once(store: Store, webhook: Webhook) -> None:
    """However many dispatch and claim at the same time, each delivery is claimed once and in order."""
    objects = [f"o{number % 5}" for number in range(60)]
    _add_events(store, *objects)
    sent: list[tuple[str, int]] = []

    def work() -> None:
        while True:
            _dispatch(store)
            claimed = _claim(store, limit=3)
            for each in claimed:
                sent.append((each.event.object_id, each.event.id))
                assert _record(store, each, DELIVERED)
            with store.read() as tx:
                if not claimed and not tx.webhooks.waiting([webhook.id])[webhook.id]:
                    return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == len(set(sent)) == 60
    for name in set(objects):
        of_object = [event_id for object_id, event_id in sent if object_id == name]
        assert of_object == sorted(of_object)
