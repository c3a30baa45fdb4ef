"""Separate thread pools: requests that block one pool do not delay scoring requests."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from fastapi import FastAPI

from core.store import Model, Store
from tests.app.conftest import TestClient

SHARED_THREADS = 40
PATIENCE_SECONDS = 30.0


@contextmanager
def all_threads_busy(application: FastAPI, client: TestClient, headers: dict[str, str]) -> Iterator[None]:
    """Occupy every thread that FastAPI runs functions in until the block ends."""
    release, busy = threading.Event(), threading.Semaphore(0)

    def wait() -> None:
        busy.release()
        release.wait(PATIENCE_SECONDS * 2)

    application.add_api_route("/v1/wait", wait)
    with ThreadPoolExecutor(SHARED_THREADS + 5) as callers:
        for _ in range(SHARED_THREADS + 5):
            callers.submit(client.get, "/v1/wait", headers=headers)
        try:
            for _ in range(SHARED_THREADS):
                assert busy.acquire(timeout=PATIENCE_SECONDS)
            yield
        finally:
            release.set()


@pytest.mark.long
@pytest.mark.parametrize("explain", [False, True])
def test_documents_are_scored_while_all_other_threads_wait(
    application: FastAPI, client: TestClient, store: Store, add_model: Callable[..., Model], explain: bool
) -> None:
    """Scoring works with a key that the service has not seen before, and a model that is not in memory."""
    add_model("web")
    with store.begin() as tx:
        readers, searchers = (
            {"Authorization": f"Bearer {tx.api_keys.create(scope, [scope])[1]}"}
            for scope in ("read", "score")
        )
    body = {"queries": [{"id": "q", "documents": [{"id": "d", "features": [1, 2, 3]}]}], "explain": explain}
    with ThreadPoolExecutor(1) as caller, all_threads_busy(application, client, readers):
        answer = caller.submit(client.post, "/v1/models/web/rank", json=body, headers=searchers)
        assert answer.result(PATIENCE_SECONDS).status_code == 200
