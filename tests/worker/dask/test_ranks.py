"""Distributed trainings whose ranks run on the workers of a Dask cluster, over TLS.

tests/worker/ranks/test_training.py compares the models with those of local ranks.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.data import RankingDataset, synthetic_dataset
from core.errors import ClusterUnavailable
from core.store import Job
from tests.servers.dask import DaskCluster, processes_of, running_cluster
from tests.worker.conftest import DASK_SECRETS
from tests.worker.dask.ranks import on_cluster, ranks_left, ranks_of
from tests.worker.inline_worker import InlineWorker
from worker.dask.cluster import cluster_client
from worker.dask.settings import DaskSettings
from worker.ranks.dask_placement import DaskPlacement
from worker.ranks.identity import Identity
from worker.ranks.team import RankLost, Team

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("ranks")]

MANY_TREES = {"num_iterations": 40, "num_leaves": 31, "min_data_in_leaf": 5}
END_SECONDS = 15.0


def ranks(least: int, most: int | None = None) -> dict[str, Any]:
    """Return the part of a job that requests this number of ranks."""
    return {"ranks": {"at_least": least, "at_most": most or least}, "threads_per_rank": 1}


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """A dataset with enough queries for a training of some seconds."""
    return synthetic_dataset(400, seed=1, documents_per_query=50, n_features=20)


def train(inline_worker: InlineWorker, dataset_id: str, **spec: Any) -> Job:
    """Train with validation on two ranks by default."""
    defaults = {"hyperparameters": MANY_TREES, "validation": {"fraction": 0.3}, "distribution": ranks(2)}
    return inline_worker.train(dataset_id, **{**defaults, **spec})


def text_of(inline_worker: InlineWorker, job: Job) -> str:
    """Return the model text of a job, which must have succeeded."""
    assert job.status == "succeeded", job.problem
    return inline_worker.model_text(job.result or {})


class AfterThreeTrees(threading.Thread):
    """A thread that runs an action once a running job has three trees.

    Args:
        inline_worker: Worker of the job.
        action: Action to run.
    """

    def __init__(self, inline_worker: InlineWorker, action: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._inline_worker = inline_worker
        self._action = action
        self.acted_at: float | None = None
        self.start()

    def run(self) -> None:
        """Wait for the third tree, and run the action."""
        while not self._has_trees():
            time.sleep(0.02)
        self._action()
        self.acted_at = time.monotonic()

    def _has_trees(self) -> bool:
        with self._inline_worker.store.read() as tx:
            running = tx.jobs.running_on("w1")
        return any((job.progress or {}).get("iteration", 0) >= 3 for job in running)


@pytest.mark.slow
def test_two_parallel_trainings_end(
    inline_worker: InlineWorker, dataset: RankingDataset, dask_cluster: DaskCluster
) -> None:
    """Each Dask worker has one thread, and runs a rank of each training."""
    inline_worker = on_cluster(inline_worker, dask_cluster)
    dataset_id = inline_worker.add(dataset, "d1")
    ended: list[Job] = []
    n_ranks: list[int] = []

    def run() -> None:
        ended.append(train(inline_worker, dataset_id))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        n_ranks.append(len(ranks_of(dask_cluster)))
        time.sleep(0.05)
    with inline_worker.store.read() as tx:  # a thread may run the other thread's job
        jobs = [tx.jobs.get(job.id) for job in ended]
    assert len({text_of(inline_worker, job) for job in jobs}) == 1
    assert max(n_ranks) == 4
    assert ranks_left(dask_cluster, 1.0) == []


@pytest.mark.slow
def test_trainings_do_not_occupy_the_threads_of_dask_workers(
    inline_worker: InlineWorker, dataset: RankingDataset, dask_cluster: DaskCluster
) -> None:
    """A training neither waits for other tasks of the Dask workers nor blocks them."""
    inline_worker = on_cluster(inline_worker, dask_cluster)
    dataset_id = inline_worker.add(dataset, "d1")
    with cluster_client(inline_worker.settings) as client:
        release = str(inline_worker.settings.data_dir / "release")
        busy = client.map(_wait_for_file, [release, f"{release}-2"], pure=False)
        job = train(inline_worker, dataset_id, hyperparameters={**MANY_TREES, "num_iterations": 3})
        assert not any(future.done() for future in busy)
        Path(release).touch()
        Path(f"{release}-2").touch()
        client.gather(busy)
    assert job.status == "succeeded", job.problem


def _wait_for_file(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.05)


@pytest.mark.slow
def test_a_killed_dask_worker_costs_no_job(
    inline_worker: InlineWorker, dataset: RankingDataset, tmp_path: Path
) -> None:
    """A rank ends with its worker; the training continues on other workers, to the same bytes."""
    dataset_id = inline_worker.add(dataset, "d1")
    undisturbed = train(inline_worker, dataset_id)
    with running_cluster(tmp_path / "own", n_workers=3) as cluster:
        inline_worker = on_cluster(inline_worker, cluster)

        def kill() -> None:
            next(worker for worker in cluster.workers if processes_of([f"worker.ranks {worker.pid}"])).kill()

        disturbance = AfterThreeTrees(inline_worker, kill)
        job = train(inline_worker, dataset_id)
        assert disturbance.acted_at is not None
        assert text_of(inline_worker, job) == text_of(inline_worker, undisturbed)
        assert job.progress is not None
        assert job.progress["restarts"] == 1
        assert ranks_left(cluster, 1.0) == []


@pytest.mark.slow
def test_a_lost_scheduler_ends_the_attempt(
    inline_worker: InlineWorker, dataset: RankingDataset, tmp_path: Path
) -> None:
    """The job is retried, fails with the reason after its last attempt, and leaves no rank."""
    dataset_id = inline_worker.add(dataset, "d1")
    with running_cluster(tmp_path / "own") as cluster:
        inline_worker = on_cluster(inline_worker, cluster, retry_seconds=0.1, attempts=2)
        disturbance = AfterThreeTrees(inline_worker, cluster.scheduler.kill)
        job = train(inline_worker, dataset_id)
        assert disturbance.acted_at is not None
        assert time.monotonic() - disturbance.acted_at < 30
        assert job.status == "failed"
        assert job.problem is not None
        assert job.problem["title"] == "Cluster unavailable"
        assert "the Dask scheduler" in job.problem["detail"]
        assert ranks_left(cluster, END_SECONDS) == []


def test_too_few_dask_workers_are_reported(dask_cluster: DaskCluster) -> None:
    """The message has the number of required workers and of connected ones."""
    with cluster_client(DaskSettings.model_validate(dask_cluster.settings)) as client:
        placement = DaskPlacement(client, hosts_seconds=0.5)
        with pytest.raises(
            ClusterUnavailable, match=r"at least 5 Dask workers are needed, .* but only 2 can run a rank"
        ):
            placement.available_ranks(5, 8, lambda: None)
        assert placement.available_ranks(2, 8, lambda: None) == 2


@pytest.mark.slow
def test_a_dask_worker_of_other_versions_is_not_used(tmp_path: Path) -> None:
    """Another version of LightGBM may grow different trees, so the error names the versions."""
    other = tmp_path / "packages" / "lightgbm-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: lightgbm\nVersion: 0.0.1\n")
    environment = {"PYTHONPATH": str(other.parent)}
    with (
        running_cluster(tmp_path / "own", n_workers=1, environment=environment) as cluster,
        cluster_client(DaskSettings.model_validate(cluster.settings)) as client,
    ):
        placement = DaskPlacement(client, hosts_seconds=0.0)
        with pytest.raises(
            ClusterUnavailable, match=r"only 0 can run a rank; tls://.* has lightgbm 0\.0\.1, the"
        ):
            placement.available_ranks(1, 1, lambda: None)


@pytest.mark.slow
def test_a_frozen_dask_worker_is_not_used(tmp_path: Path) -> None:
    """The frozen worker is still connected to the scheduler, but does not answer."""
    with (
        running_cluster(tmp_path / "own") as cluster,
        cluster_client(DaskSettings.model_validate(cluster.settings)) as client,
    ):
        cluster.workers[0].pause()
        placement = DaskPlacement(client, hosts_seconds=0.5)
        with pytest.raises(ClusterUnavailable, match=r"only 1 can run a rank; tls://.* does not answer"):
            placement.available_ranks(2, 8, lambda: None)
        assert placement.available_ranks(1, 8, lambda: None) == 1


def _team(placement: DaskPlacement, count: int) -> Team:
    return Team(placement, Identity.new("job_1", 1), count, 1, 6.0, lambda: None)


def test_ranks_have_no_credentials_and_are_ended(dask_cluster: DaskCluster) -> None:
    """Ranks have no credentials of the Dask worker; a killed rank is reported, and a frozen one is killed."""
    with cluster_client(DaskSettings.model_validate(dask_cluster.settings)) as client:
        placement = DaskPlacement(client)
        assert placement.available_ranks(2, 2, lambda: None) == 2
        with _team(placement, 2) as team:
            pids = ranks_of(dask_cluster)
            assert len(pids) == 2
            for pid in pids:
                variables = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
                names = {variable.partition("=")[0] for variable in variables}
                assert "PATH" in names
                assert not names & {*DASK_SECRETS, "RANKERY_DASK_TLS_KEY_FILE"}
            os.kill(pids[0], signal.SIGSTOP)
            os.kill(pids[1], signal.SIGKILL)
            with pytest.raises(RankLost):
                team.ask({"do": "nothing"})
            deadline = time.monotonic() + END_SECONDS
            while not any(member.process.has_ended() for member in team.members):
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert ranks_of(dask_cluster) == []
        placement.close()


_DRIVER = """
import sys, time
from worker.dask.cluster import cluster_client
from worker.dask.settings import DaskSettings
from worker.ranks.dask_placement import DaskPlacement
from worker.ranks.identity import Identity
from worker.ranks.team import Team
with cluster_client(DaskSettings()) as client:
    placement = DaskPlacement(client)
    placement.available_ranks(2, 2, lambda: None)
    with Team(placement, Identity.new("job_1", 1), 2, 1, 600.0, lambda: None):
        print("started", flush=True)
        time.sleep(600)
"""


@pytest.mark.slow
def test_ranks_of_a_killed_driver_are_killed(dask_cluster: DaskCluster) -> None:
    """A frozen rank, which cannot notice the loss of its driver, is killed as well."""
    environment = {f"RANKERY_{name}".upper(): str(value) for name, value in dask_cluster.settings.items()}
    driver = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _DRIVER],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
    )
    try:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"started\n"
        pids = ranks_of(dask_cluster)
        assert len(pids) == 2
        os.kill(pids[0], signal.SIGSTOP)
    finally:
        driver.kill()
        driver.communicate()
    assert ranks_left(dask_cluster, END_SECONDS) == []
