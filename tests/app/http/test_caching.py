"""ETag, If-None-Match and 304, If-Match and 412."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import ApiSettings
from app.http.caching import Preconditions, matches
from core.jobs import System
from core.metrics import Conventions
from core.store import Model, Store
from core.store.repositories.jobs import Jobs
from tests.app.conftest import TestClient


@pytest.fixture
def polled(client: TestClient, store: Store, add_model: Callable[[str], Model]) -> list[str]:
    """One path of every kind that clients poll."""
    model = add_model("web")
    with store.begin() as tx:
        evaluation = tx.evaluations.add(
            job_id=model.job_id,
            system=System("web:1", model.id),
            dataset_id=str(model.dataset_id),
            summaries={},
            contract=Conventions().to_json(),
            baselines=[],
            slices=[],
        )
    return [
        "/v1/datasets",
        f"/v1/datasets/{model.dataset_id}",
        "/v1/jobs",
        f"/v1/jobs/{model.job_id}",
        f"/v1/jobs/{model.job_id}/history",
        "/v1/models",
        "/v1/models/web",
        f"/v1/evaluations/{evaluation.id}",
        "/v1/losses",
        "/v1/scorers",
        "/v1/metrics",
    ]


def test_unchanged_content_is_not_sent_again(client: TestClient, polled: list[str]) -> None:
    """Every polled path has an ETag; a request with that ETag gets 304 without a body."""
    for path in polled:
        first = client.get(path)
        assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache"), path
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), path
        assert again.headers["etag"] == first.headers["etag"]
        assert "content-type" not in again.headers


def test_head_returns_the_headers_of_get(client: TestClient, polled: list[str]) -> None:
    """HEAD is answered wherever GET is, for monitors and link checkers; it has no body (RFC 9110, 9.3.2)."""
    for path in (
        *polled,
        "/healthz",
        "/metrics",
        "/v2/health/live",
        "/jobs",
    ):
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        for name in ("content-type", "etag", "cache-control", "content-disposition"):
            assert head.headers.get(name) == got.headers.get(name), (path, name)
    assert client.head("/v1/jobs/job_1").status_code == 404
    assert client.head("/v1/jobs/delete").status_code == 404
    assert client.head("/v1/jobs/cancel").status_code == 404
    etag = client.head("/v1/jobs").headers["etag"]
    assert client.head("/v1/jobs", headers={"If-None-Match": etag}).status_code == 304


@pytest.mark.long
def test_changed_content_is_sent(client: TestClient, train_request: dict[str, Any]) -> None:
    """The ETag changes with the content."""
    job_id = client.post("/v1/jobs", json=train_request).json()["id"]
    before = client.get(f"/v1/jobs/{job_id}").headers["etag"]
    client.post(f"/v1/jobs/{job_id}/cancel")
    after = client.get(f"/v1/jobs/{job_id}", headers={"If-None-Match": before})
    assert (after.status_code, after.json()["status"]) == (200, "cancelled")
    assert after.headers["etag"] != before


def test_unchanged_jobs_are_not_read_again(
    client: TestClient, store: Store, train_request: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A polled job is read from the database only after a change."""
    job_id = client.post("/v1/jobs", json=train_request).json()["id"]
    paths = [f"/v1/jobs/{job_id}", f"/v1/jobs/{job_id}/history", "/v1/jobs", "/v1/jobs?status=running"]
    first = [client.get(path) for path in paths]
    with monkeypatch.context() as patch:
        for name in ("get", "page"):
            patch.setattr(Jobs, name, lambda *_, **__: pytest.fail("jobs were read"))
        again = [client.get(path) for path in paths]
    assert [answer.json() for answer in again] == [answer.json() for answer in first]
    assert [answer.headers["etag"] for answer in again] == [answer.headers["etag"] for answer in first]
    with store.begin() as tx:
        assert tx.jobs.claim_next({"train"}, "w1", 60) is not None
    job, _, all_jobs, running = (client.get(path).json() for path in paths)
    assert [job["status"], all_jobs["items"][0]["status"]] == ["running", "running"]
    assert [each["id"] for each in running["items"]] == [job_id]


def test_problems_carry_no_etag(client: TestClient) -> None:
    """Problems have no ETag; `*` does not turn a 404 into a 304."""
    response = client.get("/v1/jobs/job_none", headers={"If-None-Match": "*"})
    assert response.status_code == 404
    assert "etag" not in response.headers


@pytest.mark.parametrize(
    ("if_none_match", "expected"),
    [
        (None, False),
        ("", False),
        ('"a"', True),
        ('W/"a"', True),
        ('"b"', False),
        ('"b", W/"a" , "c"', True),
        ("*", True),
        ("a", False),
        ('"A"', False),
    ],
)
def test_etags_are_compared_weakly(if_none_match: str | None, expected: bool) -> None:
    """ETags are compared as in RFC 9110, section 13.1.2."""
    assert matches(if_none_match, '"a"') is expected


def test_a_change_is_refused_if_the_object_has_changed(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """The ETag of an earlier version gets 412 (RFC 9110, 13.1.1); the current one and `*` are accepted."""
    path = f"/v1/datasets/{add_model('web').dataset_id}"
    before = client.get(path).headers["etag"]

    def change(name: str, if_match: str) -> int:
        return client.patch(path, json={"name": name}, headers={"If-Match": if_match}).status_code

    assert [change("a", before), change("b", before)] == [200, 412]
    assert client.delete(path, headers={"If-Match": before}).json()["type"] == "/problems/precondition-failed"
    assert client.get(path).json()["name"] == "a"
    assert [change("c", "*"), change("d", client.get(path).headers["etag"])] == [200, 200]


def test_a_change_of_an_absent_object_is_refused(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """PUT with `If-Match` creates nothing; other changes of an absent object get 404."""
    add_model("web")
    anything = {"If-Match": "*"}
    assert client.put("/v1/models/web/aliases/live", json={"version": 1}, headers=anything).status_code == 412
    assert client.delete("/v1/models/web/aliases/live", headers=anything).status_code == 404


class Change:
    """A connection that sends PATCH with the ETag of version 1."""

    def __init__(self) -> None:
        self.scope = {
            "type": "http",
            "method": "PATCH",
            "path": "/",
            "query_string": b"",
            "headers": [(b"if-match", b'W/"1"')],
        }
        self.status = 0

    async def receive(self) -> Message:
        """Return an empty body."""
        return {"type": "http.request", "body": b""}

    async def send(self, message: Message) -> None:
        """Take the status of the answer."""
        self.status = message.get("status", self.status)

    def passed_to(self, application: ASGIApp) -> Awaitable[None]:
        """Send the change to an application."""
        return application(self.scope, self.receive, self.send)


def test_the_current_version_is_read_without_a_body_and_without_a_disconnection() -> None:
    """Streams send a body to GET, and ask for the end of the connection, which would block the event loop."""
    change, methods = Change(), []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        methods.append(scope["method"])
        if scope["method"] == "HEAD":
            assert await receive() == {"type": "http.request", "body": b""}
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(receive(), 0.01)
        await Response(headers={"ETag": 'W/"1"'})(scope, receive, send)

    async def run() -> None:
        await change.passed_to(Preconditions(application))

    asyncio.run(run())
    assert (methods, change.status) == (["HEAD", "PATCH"], 200)


def test_slow_bodies_of_changes_delay_no_other_change() -> None:
    """A client that sends its body slowly holds nothing that other changes with `If-Match` wait for."""
    slow_changes, change, has_come = [Change() for _ in range(50)], Change(), asyncio.Event()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "PATCH":
            await receive()
        await Response(headers={"ETag": 'W/"1"'})(scope, receive, send)

    async def late_body() -> Message:
        await has_come.wait()
        return {"type": "http.request", "body": b""}

    async def run() -> None:
        preconditions = Preconditions(application)
        async with asyncio.TaskGroup() as tasks:
            for slow in slow_changes:
                tasks.create_task(preconditions(slow.scope, late_body, slow.send))
            await asyncio.sleep(0)
            await asyncio.wait_for(change.passed_to(preconditions), 5)
            has_come.set()

    asyncio.run(run())
    assert {each.status for each in (change, *slow_changes)} == {200}


class Renaming:
    """An application that renames a dataset when as many changes as expected have passed the first check."""

    def __init__(self, store: Store, dataset_id: str, all_have_passed: threading.Barrier) -> None:
        self._store = store
        self._dataset_id = dataset_id
        self._all_have_passed = all_have_passed
        routes = [Route("/", self._get, methods=["GET"]), Route("/", self._patch, methods=["PATCH"])]
        self.application = Starlette(routes=routes, middleware=[Middleware(Preconditions)])

    def change(self, etag: str) -> int:
        """Return the status of a change of the object with an ETag."""
        return TestClient(self.application).patch("/", headers={"If-Match": etag}).status_code

    def _get(self, _: Request) -> Response:
        with self._store.read() as tx:
            return Response(headers={"ETag": f'W/"{tx.datasets.get(self._dataset_id).name}"'})

    def _patch(self, _: Request) -> Response:
        self._all_have_passed.wait(30)
        with self._store.begin() as tx:
            tx.datasets.get(self._dataset_id).name += "+"
        return Response()


@pytest.mark.both_stores
@pytest.mark.parametrize("n_stores", [1, 2])
def test_one_of_two_simultaneous_changes_of_the_same_version_is_refused(
    settings: ApiSettings, n_stores: int
) -> None:
    """The second change is refused before its commit, also if another process makes the first."""
    stores = [Store.open(settings) for _ in range(n_stores)]
    with stores[0].begin() as tx:
        dataset_id = tx.datasets.add("web", {"kind": "synthetic"}).id
    all_have_passed = threading.Barrier(2)
    applications = [Renaming(stores[number % n_stores], dataset_id, all_have_passed) for number in range(2)]
    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(lambda each: each.change('"web"'), applications))
    with stores[0].read() as tx:
        assert (sorted(statuses), tx.datasets.get(dataset_id).name) == ([200, 412], "web+")
    for store in stores:
        store.close()


@pytest.mark.both_stores
def test_a_change_is_refused_after_a_simultaneous_change_without_a_condition(settings: ApiSettings) -> None:
    """A change without `If-Match` counts if it is committed between the first check and the second."""
    store = Store.open(settings)
    with store.begin() as tx:
        dataset_id = tx.datasets.add("web", {"kind": "synthetic"}).id

    def rename() -> None:
        with store.begin() as tx:
            tx.datasets.get(dataset_id).name = "other"

    with ThreadPoolExecutor(1) as pool:
        barrier = threading.Barrier(1, lambda: pool.submit(rename).result())
        status = Renaming(store, dataset_id, barrier).change('"web"')
    with store.read() as tx:
        assert (status, tx.datasets.get(dataset_id).name) == (412, "other")
    store.close()


@pytest.mark.both_stores
def test_the_check_before_the_commit_needs_no_thread_of_requests(settings: ApiSettings) -> None:
    """All of these threads may wait for the lock that the change holds."""
    store = Store.open(settings)
    with store.begin() as tx:
        dataset_id = tx.datasets.add("1", {"kind": "synthetic"}).id
    change, application = Change(), Renaming(store, dataset_id, threading.Barrier(1)).application

    async def run() -> None:
        to_thread.current_default_thread_limiter().total_tokens = 1
        await change.passed_to(application)

    asyncio.run(run())
    with store.read() as tx:
        assert (change.status, tx.datasets.get(dataset_id).name) == (200, "1+")
    store.close()


def test_a_change_is_refused_if_its_check_takes_too_long(settings: ApiSettings) -> None:
    """The client may send the change again, as nothing was changed."""
    store = Store.open(settings)
    with store.begin() as tx:
        dataset_id = tx.datasets.add("1", {"kind": "synthetic"}).id
    has_passed, has_ended = threading.Event(), threading.Event()

    class SlowlyRead(Renaming):
        def _get(self, request: Request) -> Response:
            if not has_passed.is_set():
                return super()._get(request)
            has_ended.wait(30)
            return Response()

    application = SlowlyRead(store, dataset_id, threading.Barrier(1, has_passed.set)).application
    answer = TestClient(application).patch("/", headers={"If-Match": '"1"'})
    has_ended.set()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    with store.read() as tx:
        assert tx.datasets.get(dataset_id).name == "1"
    store.close()


@pytest.mark.parametrize("status", [304, 429, 503])
def test_a_change_is_refused_while_the_current_version_is_unknown(status: int) -> None:
    """A change must not be made unless the condition is known to hold (RFC 9110, 13.1.1)."""
    application = Starlette(
        routes=[
            Route("/", lambda _: Response(status_code=status), methods=["GET"]),
            Route("/", lambda _: Response(), methods=["DELETE"]),
        ],
    )
    answer = TestClient(Preconditions(application)).delete("/", headers={"If-Match": "*"})
    assert answer.status_code == 412
