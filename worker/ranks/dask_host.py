"""Run ranks as processes of a Dask worker, which starts, monitors and kills them.

The plugin runs in the event loop of the Dask worker. A rank occupies no thread of the worker's pool. So
trainings on the same Dask workers never wait for each other, nor for the reading of files.
"""

import asyncio
import contextlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, cast

from distributed import WorkerPlugin
from distributed.comm.addressing import get_address_host

from worker.ranks.placement import Invitation, RankSubprocess

if TYPE_CHECKING:
    from distributed import Worker

TOPIC = "rankery-ranks"  # topic of the Dask events about ended ranks
_PLUGIN = "rankery-ranks"
_PACKAGES = ("rankery-server", "lightgbm", "numpy")
_POLL_SECONDS = 0.2
_END_SECONDS = 3.0


@dataclass(frozen=True)
class HostReport:
    """State of a Dask worker.

    Attributes:
        host: Address of the worker's machine, at which other ranks reach its ranks.
        packages: Versions of the packages on which the bytes of a model depend.
    """

    host: str
    n_ranks: int
    packages: dict[str, str]


async def describe_host(dask_worker: "Worker") -> HostReport:
    """Return the state of this Dask worker for a driver; runs on a Dask worker."""
    host = await _rank_host(dask_worker)
    return HostReport(get_address_host(dask_worker.address), len(host.ranks), packages())


async def start_rank(key: str, invitation: Invitation, dask_worker: "Worker") -> None:
    """Start a rank; runs on a Dask worker.

    Args:
        key: Dask key of a value on this worker. The rank is killed when the value is deleted, which is
            when the driver's client releases the value or loses its connection.
        invitation: Parameters of the rank; not a dictionary, since Dask logs the arguments of failed calls.

    Raises:
        OSError: The process cannot be started.
    """
    host = await _rank_host(dask_worker)
    host.start(key, invitation)


async def end_rank(key: str, dask_worker: "Worker") -> None:
    """Kill a rank and wait until its process has ended; runs on a Dask worker."""
    host = await _rank_host(dask_worker)
    await host.end(key)


class RankHost(WorkerPlugin):
    """Ranks of a Dask worker, which end with the worker, even if it is killed."""

    name = _PLUGIN

    def __init__(self) -> None:
        self.ranks: dict[str, RankSubprocess] = {}

    def setup(self, worker: "Worker") -> None:
        """Start the task that monitors the ranks."""
        self._worker = worker
        self._watching = asyncio.create_task(self._watch())

    async def teardown(self, worker: "Worker") -> None:
        """Kill all ranks."""
        self._watching.cancel()
        await asyncio.gather(*map(self.end, list(self.ranks)))

    def start(self, key: str, invitation: Invitation) -> None:
        """Start a rank in this thread: the kernel kills the process when the thread that starts it ends."""
        self.ranks[key] = RankSubprocess(invitation)

    async def end(self, key: str) -> None:
        """Kill a rank and wait until it has ended."""
        rank = self.ranks.pop(key, None)
        if rank is not None:
            await asyncio.wait_for(asyncio.to_thread(rank.end), _END_SECONDS)

    async def _watch(self) -> None:
        """Report ended ranks, and kill those whose key was released."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            for key, rank in list(self.ranks.items()):
                if rank.has_ended():
                    del self.ranks[key]
                    self._worker.log_event(TOPIC, {"key": key, "exit_code": rank.exit_code})
                elif not self._is_wanted(key):
                    with contextlib.suppress(TimeoutError):
                        await self.end(key)

    def _is_wanted(self, key: str) -> bool:
        task = self._worker.state.tasks.get(key)
        return task is not None and task.state == "memory"


@cache
def packages() -> dict[str, str]:
    """Return the versions of the packages on which the bytes of a model depend."""
    versions = {}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


async def _rank_host(dask_worker: "Worker") -> RankHost:
    """Return the plugin of a Dask worker; add the plugin if this is the first driver."""
    if _PLUGIN not in dask_worker.plugins:
        await dask_worker.plugin_add(RankHost(), name=_PLUGIN, catch_errors=False)
    return cast("RankHost", dask_worker.plugins[_PLUGIN])
