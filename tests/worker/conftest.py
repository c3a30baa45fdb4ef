"""A store, jobs claimed from it, and the Dask cluster that tests share."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.scorers.trial import TriedModel, try_file
from core.store import Store
from tests.servers.dask import DaskCluster, running_cluster
from tests.servers.fixtures import StoreArguments
from tests.worker.inline_worker import InlineWorker
from worker import WorkerSettings
from worker.job.run import JobRun
from worker.runners import imports

# Secrets in the environment of a Dask worker, which no rank may see.
DASK_SECRETS = {
    "RANKERY_DATABASE_URL": "postgresql://rankery:secret@127.0.0.1/rankery",
    "RANKERY_BROKER_URL": "redis://:secret@127.0.0.1:6379/0",
    "RANKERY_ENCRYPTION_KEYS": "secret",
    "RANKERY_CREDENTIALS_WAREHOUSE": "secret",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "PGPASSWORD": "secret",
}

# Each report is a transaction, which takes longer than one iteration of a small training.
_FEW_REPORTS = {"report_seconds": 3600.0}


@pytest.fixture(scope="session")
def dask_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data root of the shared Dask cluster; each test has a folder in it."""
    return tmp_path_factory.mktemp("dask-root")


@pytest.fixture(scope="package")
def dask_cluster(tmp_path_factory: pytest.TempPathFactory, dask_root: Path) -> Iterator[DaskCluster]:
    """A Dask scheduler and two workers over TLS, which tests share and do not kill."""
    environment = {**DASK_SECRETS, "RANKERY_DATA_ROOTS": str(dask_root)}
    with running_cluster(tmp_path_factory.mktemp("dask"), environment=environment) as cluster:
        yield cluster


@pytest.fixture
def settings(store_arguments: StoreArguments) -> WorkerSettings:
    """Settings of a worker that writes each report immediately and has no broker."""
    return worker_settings(store_arguments)


def worker_settings(store_arguments: StoreArguments) -> WorkerSettings:
    """Return settings of a worker with this store, which writes each report immediately without a broker."""
    return WorkerSettings(
        **store_arguments,
        broker_url="redis://127.0.0.1:1/0",
        report_seconds=0.0,
        lease_seconds=30.0,
        cancel_grace_seconds=60.0,  # a job that exceeds it would end the test process
        stop_grace_seconds=60.0,
    )


@pytest.fixture
def store(settings: WorkerSettings) -> Iterator[Store]:
    """An empty store."""
    store = Store.open(settings)
    yield store
    store.close()


@pytest.fixture
def inline_worker(store: Store, settings: WorkerSettings) -> InlineWorker:
    """An empty store with a worker that writes only the first and the last report of a training."""
    return InlineWorker(store, settings.model_copy(update=_FEW_REPORTS))


@pytest.fixture(scope="session")
def shared_worker(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InlineWorker]:
    """A file store with a worker, which tests share; each test adds data and models with distinct names."""
    with opened_inline_worker(migrated_file, tmp_path_factory.mktemp("worker")) as inline_worker:
        yield inline_worker


@contextmanager
def opened_inline_worker(migrated_file: Path, data_dir: Path) -> Iterator[InlineWorker]:
    """Open an empty file store with a worker, for several tests."""
    shutil.copy(migrated_file, data_dir)
    settings = worker_settings({"data_dir": data_dir}).model_copy(update=_FEW_REPORTS)
    store = Store.open(settings)
    yield InlineWorker(store, settings)
    store.close()


@pytest.fixture
def tried_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try imported models in the process of the test, which saves the start of another process."""

    def try_here(run: JobRun, path: Path) -> TriedModel:
        return try_file(path.read_bytes(), run.settings.reading_limits.features)

    monkeypatch.setattr(imports, "try_model", try_here)


@pytest.fixture
def queue_job(store: Store) -> Callable[..., str]:
    """A function that queues a job and returns its id."""

    def queue(kind: str = "train", **spec: Any) -> str:
        with store.begin() as tx:
            return tx.jobs.add(kind, spec).id

    return queue


@pytest.fixture
def claim_job(store: Store, settings: WorkerSettings, queue_job: Callable[..., str]) -> Callable[..., JobRun]:
    """A function that queues a job and claims it."""

    def claim(kind: str = "train", limits: dict[str, Any] | None = None, **changed: Any) -> JobRun:
        queue_job(kind, limits=limits)
        claimed = JobRun.claim_next(store, settings.model_copy(update=changed), {kind}, "w1")
        assert claimed is not None
        return claimed

    return claim
