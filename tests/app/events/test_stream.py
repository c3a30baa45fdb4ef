"""Stream of events, over real sockets."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn

from app import ApiSettings
from app.events import feed, stream
from core.store import Store
from core.store.clock import utc_now
from tests.app.http.conftest import PATIENCE_SECONDS, eventually

STREAM = {"Accept": "text/event-stream"}


@dataclass
class Message:
    """A message of the stream."""

    event: str
    id: int | None = None
    data: Any = None


@dataclass
class Reader:
    """A reader of a stream in a thread, as an EventSource.

    Attributes:
        headers: Headers of the answer.
        comments: Number of comments received.
        ended: Whether the server has ended the stream.
    """

    headers: httpx.Headers = field(default_factory=httpx.Headers)
    comments: int = 0
    ended: bool = False
    messages: "queue.Queue[Message]" = field(default_factory=queue.Queue)

    def next(self, *ignored: str) -> Message:
        """Wait for the next message whose event is not in `ignored`."""
        while True:
            message = self.messages.get(timeout=PATIENCE_SECONDS)
            if message.event not in ignored:
                return message

    def ids(self, n_events: int) -> list[int | None]:
        """Return the ids of the next events."""
        return [self.next("changed", "ready").id for _ in range(n_events)]

    def read(self, answer: httpx.Response) -> None:
        """Read messages until the end."""
        fields: dict[str, str] = {}
        for line in answer.iter_lines():
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "event" in fields:
                number = int(fields["id"]) if "id" in fields else None
                self.messages.put(Message(fields["event"], number, json.loads(fields["data"])))
                fields = {}
        self.ended = True


@pytest.fixture
def url(server: uvicorn.Server) -> str:
    """URL of the running service."""
    host, port = server.servers[0].sockets[0].getsockname()
    return f"http://{host}:{port}"


@pytest.fixture
def store(settings: ApiSettings, url: str) -> Iterator[Store]:
    """Store of the running service, opened as by a worker."""
    store = Store.open(settings)
    yield store
    store.close()


@contextmanager
def following(url: str, headers: dict[str, str] | None = None, **params: Any) -> Iterator[Reader]:
    """Follow the stream during the block."""
    reader = Reader()
    client = httpx.Client(base_url=url, timeout=PATIENCE_SECONDS, trust_env=False)
    request = client.build_request("GET", "/v1/events", headers={**STREAM, **(headers or {})}, params=params)
    answer = client.send(request, stream=True)
    assert answer.status_code == 200, answer.read()
    reader.headers = answer.headers

    def read() -> None:
        with suppress(httpx.HTTPError, httpx.StreamError):
            reader.read(answer)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield reader
    finally:
        # Closing the connection ends the thread.
        with suppress(OSError):
            answer.extensions["network_stream"].get_extra_info("socket").shutdown(2)
        thread.join()
        answer.close()
        client.close()


def add(store: Store, number: int, kind: str = "drift.found", project: str | None = None) -> None:
    """Record an event."""
    with store.begin() as tx:
        tx.events.add(kind, "model", f"mdl_{number}", {"number": number}, project=project)


def test_events_arrive_as_they_happen(url: str, store: Store) -> None:
    """A stream begins with the id of the newest event, and sends later events with their content."""
    add(store, 1)
    with following(url) as reader:
        ready = reader.next()
        assert (ready.event, ready.id, ready.data) == ("ready", 1, {})
        add(store, 2)
        event = reader.next("changed")
        assert (event.event, event.id) == ("drift.found", 2)
        assert event.data["object"] == {"kind": "model", "id": "mdl_2"}
        assert event.data["data"] == {"number": 2}
        assert event.data == httpx.get(f"{url}/v1/events").json()["items"][0]


def test_headers_keep_proxies_from_buffering(url: str) -> None:
    """Neither a proxy nor compression delays messages."""
    with following(url, {"Accept-Encoding": "gzip"}) as reader:
        assert reader.next().event == "ready"
        assert reader.headers["content-type"].startswith("text/event-stream")
        assert reader.headers["cache-control"] == "no-cache"
        assert reader.headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in reader.headers


def test_head_of_a_stream_ends(url: str) -> None:
    """HEAD returns the headers of the stream, and no messages."""
    head = httpx.head(f"{url}/v1/events", headers={"Accept": "text/event-stream"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("last_event", [{"headers": {"Last-Event-ID": "2"}}, {"after": 2}], ids=str)
def test_a_client_resumes_after_its_last_event(url: str, store: Store, last_event: dict[str, Any]) -> None:
    """Events that the client missed are sent first, then new ones."""
    for number in range(5):
        add(store, number)
    with following(url, **last_event) as reader:
        assert reader.ids(3) == [3, 4, 5]
        add(store, 6)
        assert reader.ids(1) == [6]


def test_last_event_id_takes_precedence_over_the_parameter(url: str, store: Store) -> None:
    """A browser that reconnects repeats the URL and adds the header Last-Event-ID."""
    for number in range(4):
        add(store, number)
    with following(url, {"Last-Event-ID": ""}, after=2) as reader:
        assert reader.ids(1) == [3]
    with following(url, {"Last-Event-ID": "3"}, after=1) as reader:
        assert reader.ids(1) == [4]


def test_a_client_far_behind_reads_from_the_database(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client further behind than the events in memory reads pages from the database."""
    monkeypatch.setattr(feed, "MAX_RECENT_EVENTS", 5)
    monkeypatch.setattr(feed, "READ_BATCH", 7)
    for number in range(40):
        add(store, number)
    with following(url, after=0) as slow, following(url, after=35) as quick:
        assert slow.ids(40) == list(range(1, 41))
        assert quick.ids(5) == [36, 37, 38, 39, 40]
        for number in range(30):
            add(store, number)
        assert slow.ids(30) == quick.ids(30) == list(range(41, 71))


def test_streams_are_filtered_by_kind_and_object(url: str, store: Store) -> None:
    """Streams are filtered by kind and by object, before and after they have caught up."""

    def add_some() -> None:
        add(store, 1)
        add(store, 2, "gate.refused")
        add(store, 2, "alias.moved")

    add_some()
    with (
        following(url, after=0, kind=["gate.refused", "alias.moved"]) as kinds,
        following(url, after=0, object="mdl_1") as of_object,
    ):
        assert (kinds.ids(2), of_object.ids(1)) == ([2, 3], [1])
        add_some()
        assert (kinds.ids(2), of_object.ids(1)) == ([5, 6], [4])


def test_a_gap_is_reported(url: str, store: Store) -> None:
    """A client gets the event `gap` if events that it has not seen were removed."""
    for number in range(3):
        add(store, number)
    with store.begin() as tx:
        tx.events.remove_before(utc_now(), 2)
    with following(url, {"Last-Event-ID": "1"}) as reader:
        gap = reader.next()
        assert (gap.event, gap.id, gap.data) == ("gap", None, {"after": 1, "oldest": 3})
        assert reader.ids(1) == [3]
    with following(url, after=10**6) as reader:  # an id that a database restored from a backup lacks
        assert reader.next().event == "gap"
        add(store, 4)
        assert reader.ids(1) == [4]


@pytest.mark.long
def test_changes_without_an_event_are_announced(url: str, store: Store) -> None:
    """A change is announced at most once a second, and the last change is announced as well."""
    with following(url) as reader, following(url, changes="false") as quiet:
        assert reader.next().event == quiet.next().event == "ready"
        started = time.monotonic()
        for _ in range(20):
            with store.begin() as tx:
                tx.jobs.add("train", {"model_name": "web"})
            time.sleep(0.05)
        messages = [reader.next() for _ in range(2)]
        assert {message.event for message in messages} == {"changed"}
        assert {message.id for message in messages} == {None}
        assert time.monotonic() - started > 0.9
        time.sleep(1.2)
        n_messages = 2 + reader.messages.qsize()
        assert n_messages <= 1 + (time.monotonic() - started)
        assert quiet.messages.empty()


@pytest.mark.long
def test_changes_that_no_page_shows_are_not_sent(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening a stream, reading and renewing leases sends nothing; the next change is sent."""
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 1.5)  # longer than the interval of database reads
    with store.begin() as tx:
        tx.workers.report("host:1", "training", 1, 60)
    for processes in (1, 2):  # the feed sleeps before the first pass and is awake before the second
        with following(url) as reader, following(url) as other:
            assert reader.next().event == other.next().event == "ready"
            revision = store.revision()
            with store.begin() as tx:
                tx.notifies_clients = tx.workers.report("host:1", "training", processes, 60)
            assert store.revision() != revision
            eventually(lambda: reader.comments > 0)
            assert reader.messages.empty()
            with store.begin() as tx:
                tx.notifies_clients = tx.workers.report("host:1", "training", processes + 1, 60)
            assert reader.next().event == "changed"


def test_comments_keep_the_connection(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream without news sends comments, so that proxies and clients keep it open."""
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.1)
    with following(url) as reader:
        eventually(lambda: reader.comments >= 3)


def test_the_end_of_the_server_ends_streams(server: uvicorn.Server, url: str) -> None:
    """A restart does not wait for clients that never disconnect."""
    with following(url) as first, following(url) as second:
        assert first.next().event == second.next().event == "ready"
        server.should_exit = True
        eventually(lambda: first.ended and second.ended)


@pytest.mark.long
def test_a_stream_ends_with_its_key(url: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream ends when its key is revoked, and one without a key when the first key is created."""
    monkeypatch.setattr(stream, "AUTHORIZATION_SECONDS", 0.1)
    with following(url) as without_key:
        assert without_key.next().event == "ready"
        with store.begin() as tx:
            key, secret = tx.api_keys.create("reader", ["read"])
        eventually(lambda: without_key.ended)
    with following(url, {"Authorization": f"Bearer {secret}"}) as reader:
        assert reader.next().event == "ready"
        with store.begin() as tx:
            tx.api_keys.revoke(key.id)
        eventually(lambda: reader.ended)


def test_a_bound_key_follows_its_projects(url: str, store: Store) -> None:
    """Events of other projects, and of none, are not sent, neither from memory nor from the database."""

    def add_some() -> None:
        for number, project in enumerate(["web", "ads", None, "web"]):
            add(store, number, project=project)

    with store.begin() as tx:
        _, secret = tx.api_keys.create("web", ["read"], projects=["web"])
        _, unbound_secret = tx.api_keys.create("all", ["read"])
    add_some()
    with (
        following(url, {"Authorization": f"Bearer {unbound_secret}"}, after=0) as whole,
        following(url, {"Authorization": f"Bearer {secret}"}, after=0) as bound,
    ):
        assert (whole.ids(4), bound.ids(2)) == ([1, 2, 3, 4], [1, 4])
        add_some()
        assert (whole.ids(4), bound.ids(2)) == ([5, 6, 7, 8], [5, 8])


@pytest.mark.parametrize("limits", [{"max_connections": 4}, {"max_connections_per_address": 4}])
def test_streams_leave_connections_for_others(
    settings: ApiSettings, limits: dict[str, int], request: Any
) -> None:
    """Streams may use half of the connections; one more is refused, and its client polls."""
    for name, value in limits.items():
        setattr(settings, name, value)
    url = request.getfixturevalue("url")
    with following(url) as first:
        with following(url):
            refused = httpx.get(f"{url}/v1/events", headers=STREAM)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
            assert httpx.get(f"{url}/v1/events").status_code == 200
        eventually(lambda: _opens(url))
        assert first.next().event == "ready"


def _opens(url: str) -> bool:
    with httpx.stream("GET", f"{url}/v1/events", headers=STREAM) as answer:
        return answer.status_code == 200


def test_durations_of_streams_are_not_measured(url: str) -> None:
    """The duration of a stream is no measure of how fast the service answers."""
    with following(url) as reader:
        reader.next()
    name = 'rankery_http_requests_total{method="GET",route="/v1/events",status="200"}'
    eventually(lambda: name in httpx.get(f"{url}/metrics").text)
    assert 'duration_seconds_count{method="GET",route="/v1/events"}' not in httpx.get(f"{url}/metrics").text


@pytest.mark.servers
def test_no_event_of_concurrent_writers_is_missed(
    settings: ApiSettings, url: str, store: Store, add_events: Callable[[Store, int], None]
) -> None:
    """The stream has each event once and in order, on any database."""
    with following(url) as reader:
        assert reader.next().event == "ready"
        threads = [threading.Thread(target=add_events, args=(store, 20)) for _ in range(4)]
        for thread in threads:
            thread.start()
        ids = reader.ids(80)
        for thread in threads:
            thread.join()
    assert ids == sorted(ids, key=lambda each: each or 0)
    assert len(set(ids)) == 80


@pytest.fixture
def add_events() -> Callable[[Store, int], None]:
    """Function that records events, each in a separate transaction."""

    def add_some(store: Store, n_events: int) -> None:
        for number in range(n_events):
            add(store, number)

    return add_some
