"""The whole service with a Dask cluster: a job runs in a process that Celery forks."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankery import Client
from rankery.embedded.stack import EmbeddedStack
from tests.servers.dask import DaskCluster
from tests.worker.dask.ranks import ranks_left, ranks_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ranks")]


@pytest.fixture(scope="module")
def client(dask_cluster: DaskCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a service whose worker uses the Dask cluster."""
    named = {f"RANKERY_{name}".upper(): str(value) for name, value in dask_cluster.settings.items()}
    folder: Path = tmp_path_factory.mktemp("service")
    with EmbeddedStack(folder, port=0, environment=named) as stack, Client(stack.url) as client:
        yield client


def test_jobs_of_one_process_are_distributed(client: Client, dask_cluster: DaskCluster) -> None:
    """Two jobs run one after the other and leave no rank."""
    dataset = client.synthetic_dataset(80, seed=1, name="clicks").wait()
    for _ in range(2):
        job = client.train(
            "web", dataset, "lambdarank", hyperparameters={"num_iterations": 5}, distribution=2
        ).wait()
        assert job.progress is not None
        assert [rank.rank for rank in job.progress.ranks or ()] == [0, 1]
    assert ranks_left(dask_cluster, 1.0) == []


def test_a_cancelled_job_ends_its_ranks(client: Client, dask_cluster: DaskCluster) -> None:
    """The ranks on both Dask workers end within seconds."""
    dataset = client.synthetic_dataset(80, seed=2, name="more").wait()
    job = client.train("web", dataset, "lambdarank", hyperparameters={"num_iterations": 3000}, distribution=2)
    deadline = time.monotonic() + 60
    while len(ranks_of(dask_cluster)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    job.cancel()
    assert ranks_left(dask_cluster, 10.0) == []
