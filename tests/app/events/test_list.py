"""The list of events."""

from typing import get_args

import pytest

from app.events.schemas import EventKind
from core.events import EVENT_KINDS
from core.store import Store
from tests.app.conftest import TestClient


@pytest.fixture(autouse=True)
def _events(store: Store) -> None:
    """Five events about two objects."""
    for number in range(5):
        with store.begin() as tx:
            kind = "gate.refused" if number == 3 else "alias.moved"
            tx.events.add(kind, "alias", f"web@{'ab'[number % 2]}", {"number": number}, key_id="key_1")


def _ids(client: TestClient, query: str) -> list[int]:
    answer = client.get(f"/v1/events?{query}")
    assert answer.status_code == 200, answer.text
    return [event["id"] for event in answer.json()["items"]]


def test_an_event_has_its_kind_object_data_and_key(client: TestClient) -> None:
    """An event has its kind, its object, its data and the key that caused it."""
    event = client.get("/v1/events").json()["items"][0]
    at = event.pop("at")
    assert at.endswith("Z")
    assert event == {
        "id": 5,
        "kind": "alias.moved",
        "object": {"kind": "alias", "id": "web@a"},
        "project": None,
        "key_id": "key_1",
        "data": {"number": 4},
    }


def test_events_are_ordered_and_filtered(client: TestClient) -> None:
    """The newest event is first by default; filters are kind, object and the id of the last known event."""
    assert _ids(client, "") == [5, 4, 3, 2, 1]
    assert _ids(client, "order=asc&after=2") == [3, 4, 5]
    assert _ids(client, "kind=gate.refused") == [4]
    assert _ids(client, "kind=gate.refused&kind=alias.moved&object=web@b") == [4, 2]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_are_contiguous_in_both_orders(client: TestClient, order: str) -> None:
    """Pages are contiguous in both orders, and no event is repeated."""
    ids: list[int] = []
    cursor = ""
    while cursor is not None:
        page = client.get(f"/v1/events?limit=2&order={order}{cursor and f'&cursor={cursor}'}").json()
        ids += [event["id"] for event in page["items"]]
        cursor = page["next_cursor"]
    assert ids == ([1, 2, 3, 4, 5] if order == "asc" else [5, 4, 3, 2, 1])


@pytest.mark.parametrize(
    "query", ["kind=job.begun", "after=-1", f"after={2**63}", "cursor=x", "limit=0", "order=up", "object="]
)
def test_an_invalid_parameter_is_refused_with_its_pointer(client: TestClient, query: str) -> None:
    """422 points at the invalid parameter."""
    answer = client.get(f"/v1/events?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(f"/{query.partition('=')[0]}")


@pytest.mark.parametrize("last", ["x", "-1", "1.5"])
def test_an_invalid_last_event_id_is_refused(client: TestClient, last: str) -> None:
    """The pointer of the error names the header Last-Event-ID."""
    headers = {"Accept": "text/event-stream", "Last-Event-ID": last}
    answer = client.get("/v1/events", headers=headers)
    assert answer.status_code == 422
    assert "Last-Event-ID" in answer.json()["errors"][0]["pointer"]


def test_kinds_of_a_later_version_are_listed(client: TestClient, store: Store) -> None:
    """During an upgrade, the API lists kinds that only newer workers record."""
    with store.begin() as tx:
        tx.events.after(4, 1)[0].kind = "moon.full"
    assert client.get("/v1/events").json()["items"][0]["kind"] == "moon.full"


def test_kinds_are_those_of_core() -> None:
    """The schema has exactly the kinds that are recorded."""
    assert get_args(EventKind) == tuple(EVENT_KINDS)


def test_unchanged_pages_are_not_sent_again(client: TestClient) -> None:
    """A polling client sends the ETag back."""
    etag = client.get("/v1/events").headers["ETag"]
    assert client.get("/v1/events", headers={"If-None-Match": etag}).status_code == 304
