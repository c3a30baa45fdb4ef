"""Real servers: Valkey, the API and a worker, started once and shared, or started for a single test."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack
from tests.integration.requests import train_job
from tests.integration.services import QUICK_RECOVERY, Service
from tests.servers import S3Server
from tests.servers.fixtures import ServicePlaces
from tests.servers.web import WebServer

# Settings that single tests need and that do not disturb the others.
_FOR_ALL = QUICK_RECOVERY | {
    "RANKERY_OUTBOUND_ALLOWED": "localhost,127.0.0.1/32",
    "RANKERY_RETENTION_JOBS_DAYS": "3650",
    "RANKERY_RETENTION_MODELS_DAYS": "30",
    "RANKERY_SCORE_LOG_SHARE": "1",
    "RANKERY_SCORE_LOG_SECONDS": "0.2",
}


@pytest.fixture(scope="session")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """The web server that the shared service may import from, over TLS."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    with WebServer(tmp_path_factory.mktemp("web")) as web:
        yield web


@pytest.fixture(scope="session")
def source_bucket(s3: S3Server) -> str:
    """The bucket that the shared service on servers may import from, with the credentials `bucket`."""
    return s3.new_bucket()[0]


@pytest.fixture(scope="package")
def stack(
    service_kind: str, service_places: ServicePlaces, request: pytest.FixtureRequest
) -> Iterator[EmbeddedStack]:
    """The service that tests share; each test makes separate datasets and models."""
    environment, sources = _FOR_ALL | service_places.environment, []
    if shutil.which("openssl") is not None:
        web: WebServer = request.getfixturevalue("web")
        environment |= {"SSL_CERT_FILE": str(web.authority)}
        sources.append(web.url)
    if service_kind == "servers":
        bucket: str = request.getfixturevalue("source_bucket")
        s3: S3Server = request.getfixturevalue("s3")
        named = {"prefixes": [bucket], "options": s3.options}
        environment |= {"RANKERY_CREDENTIALS_BUCKET": json.dumps(named)}
        sources.append(bucket)
    environment |= {"RANKERY_SOURCES": ",".join(sources)}
    with EmbeddedStack(service_places.data_dir, environment=environment) as stack:
        yield stack


@pytest.fixture(scope="package")
def client(stack: EmbeddedStack) -> Iterator[Client]:
    """A client of the shared service."""
    with Client(stack.url) as client:
        yield client


@pytest.fixture(scope="package")
def datasets(client: Client) -> dict[str, str]:
    """Ids of three ready synthetic datasets of one polynomial: train, validation and test."""
    sizes = {"train": 60, "validation": 30, "test": 40}
    sent = {
        name: client.synthetic_dataset(size, seed=seed, polynomial_seed=3, name=name)
        for seed, (name, size) in enumerate(sizes.items())
    }
    return {name: dataset.wait(timeout_seconds=200).id for name, dataset in sent.items()}


@pytest.fixture(scope="package")
def trained(client: Client, datasets: dict[str, str]) -> Job:
    """A succeeded training job with validation and test data."""
    job = client.submit(train_job(datasets, model_name="shared", num_iterations=20))
    return job.wait(timeout_seconds=200)


@pytest.fixture
def serve() -> Iterator[Callable[..., Service]]:
    """Function that starts a `rankery serve` process, which does not outlive the test."""
    services: list[Service] = []

    def start(data_dir: Path, *arguments: str, **environment: str) -> Service:
        options = arguments or ("--port", "0")
        services.append(Service(data_dir, QUICK_RECOVERY | environment, *options))
        return services[-1]

    yield start
    for service in services:
        service.popen.kill()
        service.wait_for_end()
