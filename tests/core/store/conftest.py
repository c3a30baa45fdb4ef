"""A store in real files or on real servers, and rows to start from."""

from collections.abc import Callable, Iterator

import pytest

from core.store import Dataset, Job, Model, Store, StoreSettings
from core.store.engines import open_engine, sqlite_path
from tests.servers.fixtures import StoreArguments


@pytest.fixture
def settings(store_arguments: StoreArguments) -> StoreSettings:
    """Settings of a separate store for the test, with a migrated database."""
    return StoreSettings(**store_arguments)


@pytest.fixture
def unmigrated_settings(unmigrated_store_arguments: StoreArguments) -> StoreSettings:
    """Settings of a separate store for the test, with an empty database."""
    settings = StoreSettings(**unmigrated_store_arguments)
    engine = open_engine(settings.database_url)
    if engine.dialect.name == "sqlite":
        sqlite_path(engine).touch()
    return settings


@pytest.fixture
def store(settings: StoreSettings) -> Iterator[Store]:
    """A migrated, empty store."""
    store = Store.open(settings)
    yield store
    store.close()


@pytest.fixture
def job(store: Store) -> Job:
    """A queued job."""
    with store.begin() as tx:
        return tx.jobs.add("train", {"seed": 1})


@pytest.fixture
def claimed(store: Store, job: Job) -> Job:
    """A job that a worker has just claimed."""
    with store.begin() as tx:
        claimed = tx.jobs.claim(job.id, "w1", 15)
    assert claimed is not None
    return claimed


@pytest.fixture
def ingest(store: Store) -> tuple[Dataset, Job]:
    """A pending dataset with the queued job that ingests it."""
    with store.begin() as tx:
        dataset = tx.datasets.add("web", {"kind": "upload", "format": "auto"})
        job = tx.jobs.add("ingest", {"dataset_id": dataset.id}, [dataset.id])
        tx.datasets.attach_job(dataset.id, job.id)
    return dataset, job


@pytest.fixture
def add_model(store: Store, job: Job) -> Callable[[str], Model]:
    """A function that records the next version of a model."""

    def add(name: str) -> Model:
        with store.begin() as tx:
            return tx.models.add(
                name=name,
                job_id=job.id,
                dataset_id="ds_gone",
                feature_names=["f1", "f2"],
                loss={"name": "lambdarank"},
                hyperparameters={"num_leaves": 31},
                best_iteration=7,
                sha256="0" * 64,
                size_bytes=10,
            )

    return add
