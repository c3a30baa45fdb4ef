"""Distributed trainings whose ranks run on the workers of a Dask cluster, over TLS."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.data import RankingDataset, synthetic_dataset
from core.store import Job
from tests.servers.dask import DaskCluster, processes_of, running_cluster
from tests.worker.workshop import Workshop

pytestmark = pytest.mark.long

MANY_TREES = {"num_iterations": 40, "num_leaves": 31, "min_data_in_leaf": 5}
_LEFT_SECONDS = 15.0


def ranks(least: int, most: int | None = None) -> dict[str, Any]:
    """Return the part of a job that asks for so many ranks."""
    return {"ranks": {"at_least": least, "at_most": most or least}, "threads_per_rank": 1}


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Queries enough that a training takes seconds."""
    return synthetic_dataset(400, seed=1, documents_per_query=50, n_features=20)


def on_cluster(workshop: Workshop, cluster: DaskCluster, **changed: Any) -> Workshop:
    """Return a workshop whose worker uses a Dask cluster, and keeps a checkpoint after each tree."""
    update = {**cluster.settings, "rank_silence_seconds": 3.0, "checkpoint_seconds": 0.0, **changed}
    return Workshop(workshop.store, workshop.settings.model_copy(update=update))


def train(workshop: Workshop, dataset_id: str, **spec: Any) -> Job:
    """Train with validation on two ranks, unless told otherwise."""
    asked = {"hyperparameters": MANY_TREES, "validation": {"fraction": 0.3}, "distribution": ranks(2)}
    return workshop.train(dataset_id, **{**asked, **spec})


def text_of(workshop: Workshop, job: Job) -> str:
    """Return the model of a job, which must have succeeded."""
    assert job.status == "succeeded", job.problem
    return workshop.model_text(job.result or {})


def ranks_of(cluster: DaskCluster) -> list[int]:
    """Return the processes of ranks that the workers of a cluster have started."""
    return [pid for worker in cluster.workers for pid in processes_of([f"worker.ranks {worker.pid}"])]


def ranks_left(cluster: DaskCluster, seconds: float) -> list[int]:
    """Wait until no rank is left; return those that are."""
    deadline = time.monotonic() + seconds
    while (left := ranks_of(cluster)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


class Once(threading.Thread):
    """Does something once there are trees of a job that runs.

    Args:
        workshop: Where it runs.
        action: What to do.
    """

    def __init__(self, workshop: Workshop, action: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._workshop = workshop
        self._action = action
        self.acted_at: float | None = None
        self.start()

    def run(self) -> None:
        """Wait for the third tree."""
        while not self._has_trees():
            time.sleep(0.02)
        self._action()
        self.acted_at = time.monotonic()

    def _has_trees(self) -> bool:
        with self._workshop.store.read() as tx:
            running = tx.jobs.running_on("w1")
        return any((job.progress or {}).get("iteration", 0) >= 3 for job in running)


def test_the_model_is_that_of_local_ranks(
    workshop: Workshop, dataset: RankingDataset, dask_cluster: DaskCluster
) -> None:
    """Byte for byte; the ranks run on both Dask workers, and are gone afterwards."""
    dataset_id = workshop.add(dataset, "d1")
    here = train(workshop, dataset_id)
    there = train(on_cluster(workshop, dask_cluster), dataset_id)
    assert text_of(workshop, there) == text_of(workshop, here)
    assert there.progress is not None
    assert [rank["rank"] for rank in there.progress["ranks"]] == [0, 1]
    assert there.progress["restarts"] == 0
    assert ranks_left(dask_cluster, 1.0) == []
