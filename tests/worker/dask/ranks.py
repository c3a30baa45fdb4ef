"""Processes of ranks that Dask workers have started."""

import time

from tests.servers.dask import DaskCluster, processes_of


def ranks_of(cluster: DaskCluster) -> list[int]:
    """Return the processes of ranks that the workers of a cluster have started."""
    return [pid for worker in cluster.workers for pid in processes_of([f"worker.ranks {worker.pid}"])]


def ranks_left(cluster: DaskCluster, seconds: float) -> list[int]:
    """Wait until no rank is left; return those that are."""
    deadline = time.monotonic() + seconds
    while (left := ranks_of(cluster)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left
