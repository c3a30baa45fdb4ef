"""Webhooks over HTTP, with a receiver in another process."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from fastapi import FastAPI

from app import ApiSettings
from core.store import Store
from rankery.webhooks import new_secret
from tests.app.conftest import TestClient
from tests.app.http.conftest import eventually
from tests.servers.webhook_receiver import Receiver, Receivers, running_receivers

TIMEOUT_SECONDS = 1.0
RETRIES = [0.05, 0.1, 0.2]


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings that allow loopback, with short delays between attempts."""
    settings.outbound_allowed = ["127.0.0.1"]
    settings.webhook_timeout_seconds = TIMEOUT_SECONDS
    settings.webhook_retry_seconds = RETRIES
    return settings


@pytest.fixture(scope="module")
def receivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receivers]:
    """The process of all receivers."""
    with running_receivers(tmp_path_factory.mktemp("receivers")) as receivers:
        yield receivers


@pytest.fixture
def receiver(receivers: Receivers) -> Receiver:
    """A receiver that nothing was sent to."""
    return receivers.new()


@pytest.fixture
def webhook(client: TestClient, receiver: Receiver) -> dict[str, Any]:
    """A webhook whose receiver has its secret."""
    created: dict[str, Any] = client.post("/v1/webhooks", json={"url": receiver.url}).json()
    receiver.set_secret(created["secret"])
    return created


@pytest.fixture
def record_events(store: Store) -> Callable[..., None]:
    """Function that records events about objects, in order."""

    def record_events(*objects: str, kind: str = "alias.moved") -> None:
        for name in objects:
            with store.begin() as tx:
                tx.events.add(kind, "alias", name, {"é": "ü"})

    return record_events


def _deliveries(client: TestClient, webhook: dict[str, Any], query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"/v1/webhooks/{webhook['id']}/deliveries?{query}").json()[
        "items"
    ]
    return items


def _all_are(client: TestClient, webhook: dict[str, Any], *states: str) -> bool:
    return [each["state"] for each in reversed(_deliveries(client, webhook))] == list(states)


def test_a_webhook_is_created_shown_changed_and_deleted(client: TestClient) -> None:
    """A webhook is created, shown, listed, changed and deleted; its secret is shown once."""
    answer = client.post("/v1/webhooks", json={"url": "http://127.0.0.1:1/", "events": ["job.ended"]})
    created = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/v1/webhooks/{created['id']}"
    assert answer.headers["Cache-Control"] == "no-store"
    assert created.pop("secret").startswith("whsec_")
    assert client.get(answer.headers["Location"]).json() == created
    assert client.get("/v1/webhooks").json()["items"] == [created]
    change = {"description": "CI", "enabled": False, "events": [], "project": "web"}
    changed = client.patch(f"/v1/webhooks/{created['id']}", json=change).json()
    assert {name: changed[name] for name in change} == change
    assert client.patch(f"/v1/webhooks/{created['id']}", json={"project": None}).json()["project"] is None
    assert client.patch(f"/v1/webhooks/{created['id']}", json={}).json()["description"] == "CI"
    assert client.delete(f"/v1/webhooks/{created['id']}").status_code == 204
    assert client.get(f"/v1/webhooks/{created['id']}").status_code == 404


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"url": "ftp://example.com/"}, "/url"),
        ({"url": "https://user:secret@example.com/"}, "/url"),
        ({"url": "example.com"}, "/url"),
        ({"url": "https://hooks..example.com/"}, "/url"),
        ({"url": ""}, "/url"),
        ({}, "/url"),
        ({"url": "http://127.0.0.1/", "events": ["job.begun"]}, "/events/0"),
        ({"url": "http://127.0.0.1/", "events": ["job.ended", "job.ended"]}, "/events"),
        ({"url": "http://127.0.0.1/", "project": "No Project"}, "/project"),
        ({"url": "http://127.0.0.1/", "secret": "mine"}, "/secret"),
    ],
)
def test_an_invalid_field_is_refused_with_its_pointer(
    client: TestClient, body: dict[str, Any], pointer: str
) -> None:
    """422 points at the mistake."""
    answer = client.post("/v1/webhooks", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_an_emoji_may_be_the_name_of_a_host(client: TestClient) -> None:
    """Such names are in use, although IDNA 2008 does not allow them."""
    assert client.post("/v1/webhooks", json={"url": "http://xn--ls8h.invalid/"}).status_code == 201


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://169.254.169.254/", "http://[::1]:8000/"])
def test_addresses_are_checked_when_they_are_given(
    client: TestClient, url: str, webhook: dict[str, Any]
) -> None:
    """A refused address is reported before any event is sent."""
    for answer in (
        client.post("/v1/webhooks", json={"url": url}),
        client.patch(f"/v1/webhooks/{webhook['id']}", json={"url": url}),
    ):
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/address-refused")
        assert "RANKERY_OUTBOUND_ALLOWED" in answer.json()["detail"]


def test_only_administrators_see_webhooks(client: TestClient, store: Store) -> None:
    """A webhook sends events to another host, so keys that may only write do not even see webhooks."""
    with store.begin() as tx:
        keys = {scope: tx.api_keys.create(scope, [scope])[1] for scope in ("read", "write", "admin")}
    for scope, secret in keys.items():
        answer = client.get("/v1/webhooks", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == (200 if scope == "admin" else 403)


def test_an_event_is_delivered(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver, record_events: Callable[..., None]
) -> None:
    """The receiver gets the event as the API lists it, signed, and the log has the delivery."""
    record_events("web@champion")
    eventually(lambda: _all_are(client, webhook, "delivered"))
    (received,) = receiver.received()
    event = client.get("/v1/events").json()["items"][0]
    assert received.body == {"type": "alias.moved", "timestamp": event["at"], "data": event}
    assert received.headers["content-type"] == "application/json"
    assert received.headers["user-agent"].startswith("Rankery/")
    (delivery,) = _deliveries(client, webhook)
    assert delivery["id"] == received.message_id
    assert (delivery["event_id"], delivery["event_kind"]) == (event["id"], "alias.moved")
    assert (delivery["object_id"], delivery["attempts"]) == ("web@champion", 1)
    assert delivery["log"][0]["status"] == 204
    assert client.get(f"/v1/webhooks/{webhook['id']}").json()["last_delivered_at"] is not None


@pytest.mark.long
def test_failures_are_tried_again(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver, record_events: Callable[..., None]
) -> None:
    """An event is sent again with its id until it is accepted; later events of its object wait."""
    receiver.answer(500, 503, 200, body="x" * 5_000)
    record_events("a", "a")
    eventually(lambda: _all_are(client, webhook, "delivered", "delivered"))
    assert [event["id"] for event in receiver.delivered()] == [1, 2]
    first = _deliveries(client, webhook)[-1]
    assert {each.message_id for each in receiver.received() if each.event["id"] == 1} == {first["id"]}
    assert first["log"][-1]["error"] is None
    failed = [entry for each in _deliveries(client, webhook) for entry in each["log"] if entry["error"]]
    assert {entry["error"] for entry in failed} <= {"the receiver answered 500", "the receiver answered 503"}
    assert failed
    assert {len(entry["answer"]) for entry in failed} == {1_024}
    assert client.get(f"/v1/webhooks/{webhook['id']}").json()["failing_since"] is None


@pytest.mark.long
def test_an_event_is_dead_after_the_last_attempt(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver, record_events: Callable[..., None]
) -> None:
    """After the last attempt, an event is dead and the next one is sent."""
    receiver.answer(500)
    record_events("a", "a")
    eventually(lambda: _all_are(client, webhook, "dead", "dead"))
    assert [each.event["id"] for each in receiver.received()] == [1] * 4 + [2] * 4
    shown = client.get(f"/v1/webhooks/{webhook['id']}").json()
    assert shown["failing_since"] is not None
    assert shown["waiting"] == 0
    receiver.answer(204)
    again = client.post(
        f"/v1/webhooks/{webhook['id']}/deliveries/{_deliveries(client, webhook)[-1]['id']}/redeliver"
    )
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    eventually(lambda: _all_are(client, webhook, "delivered", "dead"))
    assert len(_deliveries(client, webhook)[-1]["log"]) == 5


@pytest.mark.parametrize(
    ("status", "retry_after", "expected_seconds"),
    [
        (503, "1", 1.0),
        (429, "Fri, 01 Jan 2100 00:00:00 GMT", 1.5),
        (429, "9" * 400, 1.5),
        (429, "soon", 0.05),
        (500, "1", 0.05),
    ],
)
def test_a_receiver_may_request_a_pause(
    client: TestClient,
    settings: ApiSettings,
    webhook: dict[str, Any],
    receiver: Receiver,
    store: Store,
    record_events: Callable[..., None],
    status: int,
    retry_after: str,
    expected_seconds: float,
) -> None:
    """An overloaded receiver gets no attempt before its `Retry-After`, up to the longest interval."""
    settings.webhook_retry_seconds[:] = [0.05, 1.5]
    receiver.answer(status, 204, Retry_After=retry_after)
    record_events("a")
    eventually(lambda: _all_are(client, webhook, "delivered"))
    first, second = (datetime.fromisoformat(each["at"]) for each in _deliveries(client, webhook)[0]["log"])
    assert expected_seconds <= (second - first).total_seconds()
    if expected_seconds < 1:
        assert (second - first).total_seconds() < 1


@pytest.mark.parametrize(
    ("status", "location", "error"),
    [
        (
            302,
            "http://127.0.0.1:{port}/elsewhere",
            "the receiver answered 302, but redirects are not followed",
        ),
        (307, "http://169.254.169.254/", "the receiver answered 307, but redirects are not followed"),
        (400, "", "the receiver answered 400"),
    ],
)
def test_redirects_and_error_statuses_are_failures(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver, status: int, location: str, error: str
) -> None:
    """The test delivery reports the receiver's status, and no second request is sent."""
    receiver.answer(status, Location=location.format(port=receiver.url.rpartition(":")[2]))
    answer = client.post(f"/v1/webhooks/{webhook['id']}/test").json()
    assert (answer["delivered"], answer["status"], answer["error"]) == (False, status, error)
    assert len(receiver.received()) == 1


@pytest.mark.long
def test_an_answer_after_the_time_limit_is_a_failure(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver
) -> None:
    """The test delivery reports the time limit, and no status."""
    receiver.answer(200, seconds=2 * TIMEOUT_SECONDS)
    answer = client.post(f"/v1/webhooks/{webhook['id']}/test").json()
    assert (answer["delivered"], answer["status"]) == (False, None)
    assert answer["error"] == f"no answer within {TIMEOUT_SECONDS:g} s"
    assert answer["took_seconds"] >= TIMEOUT_SECONDS


@pytest.mark.long
def test_a_slow_receiver_does_not_delay_other_webhooks(
    client: TestClient, receiver: Receiver, receivers: Receivers, record_events: Callable[..., None]
) -> None:
    """Events for one webhook do not wait for the receiver of another."""
    receiver.answer(200, seconds=30)
    client.post("/v1/webhooks", json={"url": receiver.url})
    quick = receivers.new()
    created = client.post("/v1/webhooks", json={"url": quick.url}).json()
    quick.set_secret(created["secret"])
    record_events(*(f"o{number}" for number in range(40)))
    eventually(lambda: len(quick.delivered()) == 40)


def test_a_failed_connection_is_reported(client: TestClient, webhook: dict[str, Any]) -> None:
    """A refused connection and an unknown host give neither a status nor an answer."""
    for url in ("http://127.0.0.1:9/", "http://no-such-host.invalid/"):
        client.patch(f"/v1/webhooks/{webhook['id']}", json={"url": url})
        answer = client.post(f"/v1/webhooks/{webhook['id']}/test").json()
        assert (answer["delivered"], answer["status"], answer["answer"]) == (False, None, None)
        assert answer["error"].startswith("the connection failed: ")


def test_the_address_is_checked_at_each_connection(
    client: TestClient,
    application: FastAPI,
    store: Store,
    webhook: dict[str, Any],
    record_events: Callable[..., None],
) -> None:
    """Each connection is checked, because a name may resolve to another address later."""
    with store.begin() as tx:
        tx.webhooks.change(webhook["id"], {"url": "http://[::ffff:169.254.169.254]/"})
    assert "metadata" in client.post(f"/v1/webhooks/{webhook['id']}/test").json()["error"]
    record_events("a")
    eventually(lambda: _all_are(client, webhook, "dead"))
    assert "metadata" in _deliveries(client, webhook)[0]["log"][0]["error"]


def test_a_test_event_is_signed_and_not_listed(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver
) -> None:
    """A test is signed like an event, returns the receiver's answer, and is not listed."""
    receiver.answer(200, body="thanks")
    client.patch(f"/v1/webhooks/{webhook['id']}", json={"enabled": False})
    answer = client.post(f"/v1/webhooks/{webhook['id']}/test").json()
    assert answer.pop("took_seconds") >= 0
    assert answer == {"delivered": True, "status": 200, "error": None, "answer": "thanks"}
    (received,) = receiver.received()
    assert received.body is not None
    assert received.body["type"] == "webhook.test"
    assert received.event["object"] == {"kind": "webhook", "id": webhook["id"]}
    assert _deliveries(client, webhook) == client.get("/v1/events").json()["items"] == []


def test_a_webhook_is_disabled_if_its_receiver_answers_410(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver, record_events: Callable[..., None]
) -> None:
    """410 disables the webhook; once it is enabled again, events are sent again."""
    receiver.answer(410)
    record_events("a")
    eventually(lambda: _all_are(client, webhook, "dead"))
    shown = client.get(f"/v1/webhooks/{webhook['id']}").json()
    assert (shown["enabled"], shown["disabled_reason"]) == (False, "The receiver answered 410 Gone.")
    redelivery = f"/v1/webhooks/{webhook['id']}/deliveries/{_deliveries(client, webhook)[0]['id']}/redeliver"
    assert client.post(redelivery).status_code == 409
    record_events("unseen")
    receiver.answer(204)
    enabled = client.patch(f"/v1/webhooks/{webhook['id']}", json={"enabled": True}).json()
    assert (enabled["enabled"], enabled["disabled_reason"]) == (True, None)
    record_events("b")
    eventually(lambda: _all_are(client, webhook, "dead", "delivered"))
    assert [event["object"]["id"] for event in receiver.delivered()] == ["b"]


@pytest.mark.long
def test_secrets_rotate(
    client: TestClient, webhook: dict[str, Any], receiver: Receiver, record_events: Callable[..., None]
) -> None:
    """After a rotation, the receiver may use either secret, and no other."""
    answer = client.post(f"/v1/webhooks/{webhook['id']}/rotate")
    rotated = answer.json()
    assert rotated["secret"] != webhook["secret"]
    assert answer.headers["Cache-Control"] == "no-store"
    for secret, delivered in ((webhook["secret"], True), (rotated["secret"], True), (new_secret(), False)):
        receiver.set_secret(secret)
        assert client.post(f"/v1/webhooks/{webhook['id']}/test").json()["delivered"] is delivered
    receiver.set_secret(rotated["secret"])
    record_events("a")
    eventually(lambda: _all_are(client, webhook, "delivered"))


def test_deliveries_are_listed_in_pages_newest_first(
    client: TestClient, webhook: dict[str, Any], record_events: Callable[..., None]
) -> None:
    """Deliveries are listed newest first, in pages, and by state."""
    record_events("a", "b", "c")
    eventually(lambda: _all_are(client, webhook, *["delivered"] * 3))
    url = f"/v1/webhooks/{webhook['id']}/deliveries"
    page = client.get(f"{url}?limit=2").json()
    rest = client.get(f"{url}?limit=2&cursor={page['next_cursor']}").json()
    assert [each["object_id"] for each in page["items"] + rest["items"]] == ["c", "b", "a"]
    assert rest["next_cursor"] is None
    assert _deliveries(client, webhook, "state=dead") == []
    assert len(_deliveries(client, webhook, "state=delivered")) == 3
    assert client.get(f"{url}?state=lost").status_code == 422
    assert client.get("/v1/webhooks/whk_none/deliveries").status_code == 404


def test_the_secret_is_not_shown_again(client: TestClient, webhook: dict[str, Any]) -> None:
    """Webhooks, the audit and the settings do not show the secret."""
    for path in ("/v1/webhooks", f"/v1/webhooks/{webhook['id']}", "/v1/audit", "/v1/settings"):
        assert webhook["secret"] not in client.get(path).text
