"""A real store, and jobs claimed from it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.store import Store
from tests.servers.fixtures import Places
from tests.worker.workshop import Workshop
from worker import WorkerSettings
from worker.job.run import JobRun


@pytest.fixture
def settings(places: Places) -> WorkerSettings:
    """Settings of a worker whose every report is written at once and whose broker is away."""
    return WorkerSettings(
        **places,
        broker_url="redis://127.0.0.1:1/0",
        report_seconds=0.0,
        lease_seconds=30.0,
        cancel_grace_seconds=60.0,  # a job that was too slow would end the process of the tests
        stop_grace_seconds=60.0,
    )


@pytest.fixture
def store(settings: WorkerSettings) -> Iterator[Store]:
    """An empty store."""
    store = Store.open(settings)
    yield store
    store.close()


@pytest.fixture
def workshop(store: Store, settings: WorkerSettings) -> Workshop:
    """An empty store with a worker."""
    return Workshop(store, settings)


@pytest.fixture
def queue_job(store: Store) -> Callable[..., str]:
    """Queue a job and return its id."""

    def queue(kind: str = "train", **spec: Any) -> str:
        with store.begin() as tx:
            return tx.jobs.add(kind, spec).id

    return queue


@pytest.fixture
def claim_job(store: Store, settings: WorkerSettings, queue_job: Callable[..., str]) -> Callable[..., JobRun]:
    """Queue a job and claim it."""

    def claim(kind: str = "train", limits: dict[str, Any] | None = None, **changed: Any) -> JobRun:
        queue_job(kind, limits=limits)
        claimed = JobRun.claim_next(store, settings.model_copy(update=changed), {kind}, "w1")
        assert claimed is not None
        return claimed

    return claim
