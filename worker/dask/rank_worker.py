"""Run a Dask worker for ranks of trainings and for reading files, for `rankery rank-worker`."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from core.errors import ClusterUnavailable, InvalidInput
from rankery.loopback import is_loopback
from worker.dask.cluster import CONNECT_SECONDS, security_of
from worker.dask.settings import ANY_PORT, DaskSettings

if TYPE_CHECKING:
    from distributed import Security, Worker

_PAUSE_SECONDS = 2.0
_CLOSE_SECONDS = 5.0  # timeout for ending the ranks and disconnecting from the scheduler
_CONFIGURATION = {
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
    "distributed.worker.profile.enabled": False,
    # Fifty checks of the event loop per second took most of an idle worker's processor time.
    "distributed.admin.tick.interval": "500ms",
    # Status pages are served without certificates, so their port listens on the loopback address.
    "distributed.worker.http.routes": ["distributed.http.health"],
}
_STATUS_ADDRESS = "127.0.0.1:0"
_LOG = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True)
class RankWorkerOptions:
    """Options of a Dask worker.

    Attributes:
        threads: Threads that read files; the threads of ranks are set by their job.
        memory: Memory for read files, in Dask's notation of sizes; beyond it files are spilled to the disk.
        host: Address at which other machines reach the worker; None for this machine's address on the route
            to the scheduler.
        ports: Ports at which the worker may listen; 0 is any free port.
    """

    threads: int
    memory: str = "auto"
    host: str | None = None
    ports: Sequence[int] = ANY_PORT


def run_until_stopped(settings: DaskSettings, options: RankWorkerOptions) -> None:
    """Run a Dask worker until SIGINT or SIGTERM; rejoin after the scheduler was lost.

    Raises:
        ExtraMissing: Dask is not installed.
        InvalidInput: The memory option is not a size.
        ClusterUnavailable: The certificates cannot be read, or the worker cannot listen at its address.
    """
    security = security_of(settings)
    import dask
    from dask.utils import parse_bytes

    try:
        parse_bytes("0" if options.memory == "auto" else options.memory)
    except ValueError as error:
        raise InvalidInput.at("--memory", f"must be a size such as 8GiB; found {options.memory}") from error
    with dask.config.set(_CONFIGURATION):
        asyncio.run(_serve(str(settings.dask_scheduler), security, options))
    _LOG.info("rank_worker.stopped", scheduler=settings.dask_scheduler)


async def _serve(scheduler: str, security: "Security", options: RankWorkerOptions) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stopped = asyncio.create_task(stop.wait())
    while not stop.is_set():
        await _run_unless_stopped(stopped, _wait_for(scheduler, security))
        if not stop.is_set():
            async with joined(scheduler, security, options) as worker:
                await _run_unless_stopped(stopped, worker.finished())
            if not stop.is_set():
                _LOG.warning("rank_worker.scheduler_lost", scheduler=scheduler)
                await _run_unless_stopped(stopped, asyncio.sleep(_PAUSE_SECONDS))


async def _run_unless_stopped(stopped: "asyncio.Task[Any]", work: Coroutine[Any, Any, Any]) -> None:
    """Wait for a coroutine; cancel it when the process is stopped."""
    working = asyncio.create_task(work)
    await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if not working.done():
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working
    elif not working.cancelled():
        working.result()


async def _wait_for(scheduler: str, security: "Security") -> None:
    """Wait until the scheduler accepts connections; log failed attempts with the reason."""
    from distributed.comm.core import connect

    try:
        arguments = security.get_connection_args("worker")
    except (OSError, ValueError) as error:
        raise ClusterUnavailable(f"the certificates for the Dask cluster cannot be used: {error}") from error
    while True:
        try:
            comm = await connect(scheduler, timeout=CONNECT_SECONDS, **arguments)
        except OSError as error:
            reason = str(error.__cause__ or error)
            _LOG.warning("rank_worker.scheduler_unreachable", scheduler=scheduler, reason=reason)
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            await comm.close()
            return


@contextlib.asynccontextmanager
async def joined(scheduler: str, security: "Security", options: RankWorkerOptions) -> AsyncIterator["Worker"]:
    """Join the cluster until the block ends.

    Raises:
        ClusterUnavailable: The worker cannot listen at its address.
    """
    from distributed import Worker

    host = options.host or _loopback_of(scheduler)
    worker = Worker(
        scheduler,
        nthreads=options.threads,
        memory_limit=options.memory,
        host=host,
        port=options.ports,
        security=security,
        dashboard=False,
        dashboard_address=_STATUS_ADDRESS,
    )
    try:
        await worker
    except RuntimeError as error:  # caused by an OSError, or by a ValueError if no port of several is free
        address, reason = host or "the address of this machine", error.__cause__ or error
        raise ClusterUnavailable(f"the rank worker cannot listen at {address}: {reason}") from error
    _LOG.info("rank_worker.ready", scheduler=scheduler, address=worker.address, threads=options.threads)
    try:
        yield worker
    finally:
        # Do not wait for tasks, which Dask reassigns to other workers.
        await worker.close(timeout=_CLOSE_SECONDS, executor_wait=False)


def _loopback_of(scheduler: str) -> str | None:
    """Return the scheduler's host if it is a loopback address, which the worker must use, too; else None."""
    host = scheduler.partition("://")[2].rpartition(":")[0]
    return host.strip("[]") if is_loopback(host) else None
