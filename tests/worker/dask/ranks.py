"""Trainings on a Dask cluster, and the processes of ranks that its workers have started."""

import time
from typing import Any

from tests.servers.dask import DaskCluster, processes_of
from tests.worker.inline_worker import InlineWorker


def on_cluster(inline_worker: InlineWorker, cluster: DaskCluster, **changed: Any) -> InlineWorker:
    """Return a worker that trains on a Dask cluster, with a report and a checkpoint after each tree."""
    update = {"rank_silence_seconds": 3.0, "checkpoint_seconds": 0.0, "report_seconds": 0.0, **changed}
    return InlineWorker(
        inline_worker.store, inline_worker.settings.model_copy(update={**cluster.settings, **update})
    )


def ranks_of(cluster: DaskCluster) -> list[int]:
    """Return the processes of ranks that the workers of a cluster have started."""
    return [pid for worker in cluster.workers for pid in processes_of([f"worker.ranks {worker.pid}"])]


def ranks_left(cluster: DaskCluster, seconds: float) -> list[int]:
    """Wait until no rank is left; return the ranks that remain after the time limit."""
    deadline = time.monotonic() + seconds
    while (left := ranks_of(cluster)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left
