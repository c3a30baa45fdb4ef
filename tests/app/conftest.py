"""The application on a new store, without broker and worker, and recorded objects for tests."""

import functools
import hashlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import structlog
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from httpx2 import Response as Answer  # response type of the test client
from starlette.testclient import TestClient

from app import ApiSettings, create_app
from app.http import openapi
from app.http.services import Services, registered
from core.scorers import Network, Sum, write_network, write_sum
from core.store import Model, Store
from core.store.artifacts.keys import model_key
from tests.servers.fixtures import StoreArguments

__all__ = ["Answer", "TestClient"]

# Port 1 is reserved and never listens.
NO_BROKER = "redis://127.0.0.1:1/0"
MAX_UPLOAD_BYTES = 200_000
FEATURE_NAMES = ["bm25", "pagerank", "age/days"]
_ELSEWHERE = Path("/nowhere/at-all")


@pytest.fixture(scope="session", autouse=True)
def _shared_document() -> Iterator[None]:
    """Generate the OpenAPI document of equal routes only once, since that takes longer than most tests."""
    generated: dict[str, str] = {}

    def generate_once(*, servers: Any = None, **described: Any) -> Any:
        key = json.dumps([(route.path, route.name) for route in described["routes"]])
        if key not in generated:
            generated[key] = json.dumps(get_openapi(**described))
        document = json.loads(generated[key])
        first = {name: document.pop(name) for name in ("openapi", "info")}
        return first | ({"servers": servers} if servers else {}) | document

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openapi, "get_openapi", generate_once)
        yield


@pytest.fixture
def settings(store_arguments: StoreArguments) -> ApiSettings:
    """Settings of an API process with a separate store and small limits."""
    return _settings(store_arguments)


@pytest.fixture
def application(settings: ApiSettings) -> FastAPI:
    """The application before it starts."""
    return create_app(settings)


@pytest.fixture(scope="session")
def openapi_document() -> dict[str, Any]:
    """OpenAPI document of any application, generated once; it needs no running service."""
    return create_app(ApiSettings(broker_url=NO_BROKER)).openapi()


@pytest.fixture
def client(application: FastAPI) -> Iterator[TestClient]:
    """A client of the running application."""
    with _usual_logging(), _running(application) as client:
        yield client


@pytest.fixture(scope="module")
def refusing_client(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of an application that the tests of a file share, for requests that change nothing."""
    folder = tmp_path_factory.mktemp("refusing")
    shutil.copy(migrated_file, folder)
    no_limits = {"reads_per_second": 0.0, "writes_per_second": 0.0}
    application = create_app(_settings({"data_dir": folder}).model_copy(update=no_limits))
    with ExitStack() as stack:
        with _usual_logging():
            client = stack.enter_context(_running(application))
        yield client


@pytest.fixture
def store(client: TestClient, application: FastAPI) -> Store:
    """The store of the running application."""
    return registered(application, Services).store


@pytest.fixture
def ready_dataset(store: Store) -> Callable[[], str]:
    """Function that records a ready dataset and returns its id."""

    def add() -> str:
        with store.begin() as tx:
            dataset = tx.datasets.add("judged", {"kind": "synthetic", "queries": 3, "seed": 0})
            tx.datasets.mark_ready(dataset.id, statistics={"queries": 3, "documents": 9, "features": 3})
        return dataset.id

    return add


@pytest.fixture
def add_model(store: Store, ready_dataset: Callable[[], str]) -> Callable[..., Model]:
    """Function that records a version of a model; by default, the score rises with `bm25` alone."""
    model_text = _model_text()

    def add(
        name: str,
        dataset_id: str | None = None,
        text: str = model_text,
        feature_names: Sequence[str] = FEATURE_NAMES,
        **spec: str,
    ) -> Model:
        dataset_id = dataset_id or ready_dataset()
        with store.begin() as tx:
            job = tx.jobs.add("train", {"model_name": name, **spec}, dataset_ids=[dataset_id])
            model = tx.models.add(
                name=name,
                job_id=job.id,
                dataset_id=dataset_id,
                feature_names=list(feature_names),
                loss={"name": "lambdarank"},
                hyperparameters={"num_leaves": 4},
                best_iteration=2,
                sha256=hashlib.sha256(text.encode()).hexdigest(),
                size_bytes=len(text),
            )
        store.artifacts.write_bytes(model_key(model.id), text.encode())
        return model

    return add


@pytest.fixture
def models(add_model: Callable[..., Model]) -> list[str]:
    """Two versions that each rank by their first feature, whose name differs between the versions."""
    reversed_names = [*FEATURE_NAMES[1:], FEATURE_NAMES[0]]
    return [add_model("web").reference, add_model("web", feature_names=reversed_names).reference]


@pytest.fixture
def add_network(store: Store, ready_dataset: Callable[[], str]) -> Callable[..., Model]:
    """Function that records a version of a model: a linear scorer, a network or a sum of three features."""

    def add(name: str, network: Network | Sum, scorer: dict[str, Any] | None = None) -> Model:
        content = write_sum(network) if isinstance(network, Sum) else write_network(network)
        dataset_id = ready_dataset()
        with store.begin() as tx:
            job = tx.jobs.add("train", {"model_name": name}, dataset_ids=[dataset_id])
            model = tx.models.add(
                name=name,
                job_id=job.id,
                dataset_id=dataset_id,
                feature_names=list(FEATURE_NAMES),
                loss={"name": "ranknet"},
                scorer=scorer or {"kind": network.kind},
                best_iteration=7,
                sha256=hashlib.sha256(content).hexdigest(),
                size_bytes=len(content),
            )
        store.artifacts.write_bytes(model_key(model.id), content)
        return model

    return add


@pytest.fixture
def train_request(ready_dataset: Callable[[], str]) -> dict[str, Any]:
    """The smallest training job."""
    return {
        "kind": "train",
        "model_name": "web",
        "dataset_id": ready_dataset(),
        "loss": {"name": "lambdarank"},
    }


def error_pointers(answer: Answer) -> list[str]:
    """Return the pointers of the errors of a refused request."""
    assert answer.status_code == 422, answer.text
    return [error["pointer"] for error in answer.json()["errors"]]


def _settings(store_arguments: StoreArguments) -> ApiSettings:
    """Return settings with small limits; the environment, which takes long to read, is read once."""
    if set(store_arguments) != {"data_dir"}:
        return _read_settings(**store_arguments)
    data_dir: Path = store_arguments["data_dir"]
    environment = frozenset(item for item in os.environ.items() if item[0].startswith("RANKERY_"))
    elsewhere = _settings_elsewhere(environment)
    moved = {
        name: getattr(elsewhere, name).replace(str(_ELSEWHERE), str(data_dir))
        for name in ("database_url", "storage_url")
    }
    return elsewhere.model_copy(update={"data_dir": data_dir, **moved}, deep=True)


@functools.cache
def _settings_elsewhere(environment: frozenset[tuple[str, str]]) -> ApiSettings:
    """Return the settings of a data folder that no test uses, for an environment."""
    return _read_settings(data_dir=_ELSEWHERE)


def _read_settings(**store_arguments: Any) -> ApiSettings:
    return ApiSettings(
        **store_arguments,
        broker_url=NO_BROKER,
        max_upload_bytes=MAX_UPLOAD_BYTES,
        max_json_bytes=20_000,
        max_rank_bytes=100_000,
    )


def _running(application: FastAPI) -> TestClient:
    return TestClient(application, base_url="http://127.0.0.1", raise_server_exceptions=False)


@contextmanager
def _usual_logging() -> Iterator[None]:
    """Restore the logging configuration after the block, since a starting application changes it."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@functools.cache
def _model_text() -> str:
    bm25 = np.linspace(0.0, 1.0, 200)
    features = np.column_stack([bm25, np.zeros(200), np.zeros(200)])
    parameters = {"objective": "regression", "num_leaves": 8, "min_data_in_leaf": 5, "verbosity": -1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(features, bm25), num_boost_round=2)
    return str(booster.model_to_string())


def wait_for_probes() -> None:
    """Wait until no probe of a server is running, so that no connection outlives its store."""
    for thread in threading.enumerate():
        if thread.name == "probe":
            thread.join()
