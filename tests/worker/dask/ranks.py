"""Trainings on a Dask cluster, and the processes of ranks that its workers have started."""

import time
from typing import Any

from tests.servers.dask import DaskCluster, processes_of
from tests.worker.workshop import Workshop


def on_cluster(workshop: Workshop, cluster: DaskCluster, **changed: Any) -> Workshop:
    """Return a workshop on a Dask cluster that reports, and keeps a checkpoint, after each tree."""
    update = {"rank_silence_seconds": 3.0, "checkpoint_seconds": 0.0, "report_seconds": 0.0, **changed}
    return Workshop(workshop.store, workshop.settings.model_copy(update={**cluster.settings, **update}))


def ranks_of(cluster: DaskCluster) -> list[int]:
    """Return the processes of ranks that the workers of a cluster have started."""
    return [pid for worker in cluster.workers for pid in processes_of([f"worker.ranks {worker.pid}"])]


def ranks_left(cluster: DaskCluster, seconds: float) -> list[int]:
    """Wait until no rank is left; return those that are."""
    deadline = time.monotonic() + seconds
    while (left := ranks_of(cluster)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left
