"""Real servers: Redis, the API and a worker, started once and shared, or started by a test for itself."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack
from tests.integration.requests import train_job
from tests.integration.services import QUICK_RECOVERY, Service
from tests.servers.fixtures import ServicePlaces


@pytest.fixture(scope="session")
def stack(service_places: ServicePlaces) -> Iterator[EmbeddedStack]:
    """The service that tests share; they make their own datasets and models in it."""
    environment = QUICK_RECOVERY | service_places.environment
    with EmbeddedStack(service_places.data_dir, environment=environment) as stack:
        yield stack


@pytest.fixture(scope="session")
def client(stack: EmbeddedStack) -> Iterator[Client]:
    """A client of the shared service."""
    with Client(stack.url) as client:
        yield client


@pytest.fixture(scope="session")
def datasets(client: Client) -> dict[str, str]:
    """Ids of three ready synthetic datasets of one polynomial: train, validation and test."""
    sizes = {"train": 60, "validation": 30, "test": 40}
    sent = {
        name: client.synthetic_dataset(size, seed=seed, polynomial_seed=3, name=name)
        for seed, (name, size) in enumerate(sizes.items())
    }
    return {name: dataset.wait(timeout_seconds=200).id for name, dataset in sent.items()}


@pytest.fixture(scope="session")
def trained(client: Client, datasets: dict[str, str]) -> Job:
    """A succeeded training job with validation and test data."""
    job = client.submit(train_job(datasets, model_name="shared", num_iterations=20))
    return job.wait(timeout_seconds=200)


@pytest.fixture
def serve() -> Iterator[Callable[..., Service]]:
    """Start `rankery serve` processes that do not outlive the test."""
    services: list[Service] = []

    def start(data_dir: Path, *arguments: str, **environment: str) -> Service:
        given = arguments or ("--port", "0")
        services.append(Service(data_dir, QUICK_RECOVERY | environment, *given))
        return services[-1]

    yield start
    for service in services:
        service.popen.kill()
        service.ended()
