"""Expensive reads: limited in number, and shared by equal concurrent requests."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import FastAPI
from starlette.exceptions import HTTPException

from app import ApiSettings
from app.http.admission.expensive_reads import ExpensiveReads
from app.http.services import registered
from app.http.thread_pools import UNKNOWN_CREDENTIALS
from core.jobs import System
from core.store import Model, Store
from core.store.artifacts.keys import ranking_key
from core.store.visibility import limited_to, visible_projects
from tests.app.conftest import TestClient

PATIENCE_SECONDS = 30.0


async def _wait_for_calls(calls: list[int], number: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(calls) < number:
            await asyncio.sleep(0.01)


def test_equal_requests_are_computed_once() -> None:
    """Sixty concurrent equal requests share one computation; a later request computes again."""

    async def ask() -> None:
        reads, calls, release = ExpensiveReads(1), list[int](), threading.Event()

        def work() -> int:
            calls.append(1)
            release.wait(PATIENCE_SECONDS)
            return len(calls)

        tasks = [asyncio.create_task(reads.answer("a", "q", work)) for _ in range(60)]
        await _wait_for_calls(calls, 1)
        tasks[0].cancel()
        release.set()
        assert await asyncio.gather(*tasks[1:]) == [1] * 59
        assert await reads.answer("a", "q", work) == 2

    asyncio.run(ask())


def test_equal_requests_of_other_projects_are_computed_separately() -> None:
    """Requests limited to the same projects share a result; others are computed separately."""

    async def ask() -> None:
        reads, calls, release = ExpensiveReads(3), list[int](), threading.Event()

        def work() -> tuple[str, ...] | None:
            calls.append(1)
            release.wait(PATIENCE_SECONDS)
            return visible_projects()

        tasks = []
        for names in (None, ("web",), ("web",), ("ads",)):
            with limited_to(names):
                tasks.append(asyncio.create_task(reads.answer("a", "q", work, UNKNOWN_CREDENTIALS)))
        await _wait_for_calls(calls, 2)
        release.set()
        assert await asyncio.gather(*tasks) == [None, ("web",), ("web",), ("ads",)]
        assert len(calls) == 3

    asyncio.run(ask())


def test_concurrent_requests_of_a_caller_are_limited() -> None:
    """More requests of a caller are 429, other callers wait, and failed requests free their slots."""

    async def ask() -> None:
        reads, calls, release = ExpensiveReads(3), list[int](), threading.Event()

        def work() -> None:
            calls.append(1)
            release.wait(PATIENCE_SECONDS)
            raise OverflowError

        tasks = [asyncio.create_task(reads.answer("a", number, work)) for number in range(3)]
        await _wait_for_calls(calls, 1)
        with pytest.raises(HTTPException) as refused:
            await reads.answer("a", 3, work)
        assert refused.value.status_code == 429
        tasks.append(asyncio.create_task(reads.answer("b", 3, work)))
        release.set()
        assert [type(end) for end in await asyncio.gather(*tasks, return_exceptions=True)] == [
            OverflowError
        ] * 4
        assert await reads.answer("a", 4, lambda: "well") == "well"

    asyncio.run(ask())


@pytest.fixture
def all_slots_taken(
    application: FastAPI, client: TestClient, settings: ApiSettings
) -> Iterator[threading.Event]:
    """Start as many expensive reads as the client's caller may have, until the event is set."""
    release, reads = threading.Event(), registered(application, ExpensiveReads)
    assert client.portal is not None
    for number in range(settings.expensive_reads_per_caller):
        client.portal.start_task_soon(reads.answer, "testclient", number, release.wait)
    yield release
    release.set()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models/web/export",
        "/v1/models/web/export/archive?format=c",
        "/v1/models/web/export/parity?format=solr",
        "/v1/models/web/importance",
        "/v1/models/web/trees/0",
        "/v1/rankings/{ranking}?format=trec",
        "/v1/rankings/{ranking}?format=parquet",
    ],
)
def test_expensive_requests_are_limited(
    client: TestClient,
    store: Store,
    add_model: Callable[..., Model],
    all_slots_taken: threading.Event,
    path: str,
) -> None:
    """429 with `Retry-After` while the limit is reached; other requests are served."""
    model = add_model("web")
    with store.begin() as tx:
        ranking = tx.rankings.add(
            job_id=model.job_id,
            system=System("web"),
            dataset_id=str(model.dataset_id),
            queries=0,
            documents=0,
        )
    store.artifacts.write_bytes(ranking_key(ranking.id), b"")
    path = path.format(ranking=ranking.id)
    refused = client.get(path)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert "at most 8 exports, downloads and inspections of a caller" in refused.json()["detail"]
    assert client.get("/v1/models/web").status_code == 200
    all_slots_taken.set()


@pytest.mark.long
def test_sixty_equal_parity_requests_are_answered(
    client: TestClient, add_model: Callable[..., Model]
) -> None:
    """No request is refused, although they exceed the limit of a caller, and all answers are equal."""
    add_model("web")
    path = "/v1/models/web/export/parity?format=solr"
    with ThreadPoolExecutor(60) as callers:
        answers = list(callers.map(lambda _: client.get(path), range(60)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
