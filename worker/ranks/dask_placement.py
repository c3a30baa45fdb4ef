"""Place ranks on Dask workers, at most one rank of a training on each.

Ranks are not Dask tasks: two trainings that wait for each other's threads would deadlock. `Client.run` starts
ranks outside of the task queue; see `worker.ranks.dask_host`. For each rank the client holds the future of a
value on the rank's Dask worker. The scheduler deletes the value when the client releases the future or
disconnects, and then the Dask worker kills the rank.
"""

import asyncio
import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import structlog
from distributed.comm.addressing import get_address_host

from core.errors import ClusterUnavailable
from worker.dask.settings import ANY_PORT
from worker.ranks.dask_host import TOPIC, HostReport, describe_host, end_rank, packages, start_rank
from worker.ranks.placement import Invitation
from worker.ranks.team import RankLost

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")

HOSTS_SECONDS = 10.0  # timeout for enough Dask workers to join
_ANSWER_SECONDS = 3.0
_HURRIED_SECONDS = 0.5  # timeout of a call after another one has timed out
_PAUSE_SECONDS = 0.5
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True)
class _Host:
    """A Dask worker that can run a rank.

    Attributes:
        report: State reported by the Dask worker.
    """

    address: str
    report: HostReport


class DaskPlacement:
    """Placement of ranks on the workers of a Dask cluster.

    Args:
        client: Client of the cluster, open until the placement is closed.
        hosts_seconds: Timeout of waiting for enough Dask workers.
        driver_ports: Ports at which ranks may reach the driver.
    """

    def __init__(
        self,
        client: "Client",
        hosts_seconds: float = HOSTS_SECONDS,
        driver_ports: Sequence[int] = ANY_PORT,
    ) -> None:
        self.driver_ports = driver_ports
        self._client = client
        self._hosts_seconds = hosts_seconds
        self._hosts: list[_Host] = []
        self._ranks: dict[str, DaskRank] = {}
        self._answer_seconds = _ANSWER_SECONDS
        # The local address of the connection to the scheduler is reachable from the cluster's machines.
        self.driver_host = _bracketed(_local_host(client))

    def available_ranks(self, at_least: int, at_most: int, check: Callable[[], None]) -> int:
        """Select the Dask workers that can each run a rank, those with the fewest ranks first; count them.

        Raises:
            ClusterUnavailable: There are too few workers after the timeout, or the scheduler is lost.
        """
        deadline = time.monotonic() + self._hosts_seconds
        while True:
            check()
            hosts, refusals = self._query_hosts()
            if len(hosts) >= at_least:
                break
            if time.monotonic() > deadline:
                others = "".join(f"; {refusal}" for refusal in refusals)
                raise ClusterUnavailable(
                    f"at least {at_least} Dask workers are needed, one for each rank, but only {len(hosts)}"
                    f" can run a rank{others}"
                )
            time.sleep(_PAUSE_SECONDS)
        self._hosts = sorted(hosts, key=lambda host: (host.report.n_ranks, host.address))[:at_most]
        self._client.subscribe_topic(TOPIC, self._on_event)  # again, since the client may have reconnected
        self._answer_seconds = _ANSWER_SECONDS
        return len(self._hosts)

    def start(self, rank: int, invite: Callable[[str], Invitation]) -> "DaskRank":
        """Start a rank on a Dask worker that runs no other rank of the training.

        Raises:
            RankLost: The Dask worker is lost, does not answer, or cannot start a process.
        """
        host = self._hosts[rank]
        key = f"rankery-rank-{rank}-{secrets.token_hex(16)}"
        started = DaskRank(self, host.address, key)
        self._ranks[key] = started
        try:
            started.hold(
                self._call(self._start_rank(host.address, key, invite(_bracketed(host.report.host))))
            )
        except Exception as error:
            started.end()
            reason = str(error) or type(error).__name__
            raise RankLost(rank, host.address, f"could not be started: {reason}") from error
        return started

    def close(self) -> None:
        """Unsubscribe from the events; call after all ranks have ended."""
        if self._client.status == "running":
            self._client.unsubscribe_topic(TOPIC)

    def ask_to_end(self, address: str, key: str) -> None:
        """Ask a Dask worker to kill a rank; ignore a lost worker, since its ranks end with it."""
        if self._client.status != "running":
            return  # a Dask worker kills its ranks when it loses the scheduler or this client
        try:
            self._call(self._run(address, end_rank, key))
        except TimeoutError:
            self._answer_seconds = _HURRIED_SECONDS
            _log.warning("rank.end_unanswered", dask_worker=address)
        except Exception as error:  # noqa: BLE001 - an error of the Dask worker or of the connection
            _log.info("rank.end_failed", dask_worker=address, reason=str(error))

    def _query_hosts(self) -> tuple[list[_Host], list[str]]:
        """Query all Dask workers; return those that can run a rank, and the reasons why others cannot."""
        try:
            addresses = list(self._call(self._workers()))
            answers = self._call(self._descriptions(addresses), _ANSWER_SECONDS + 1)
        except OSError as error:
            raise ClusterUnavailable("the Dask scheduler was lost") from error
        hosts, refusals = [], []
        for address, answer in zip(addresses, answers, strict=True):
            refusal = _refusal(answer)
            if refusal is None:
                hosts.append(_Host(address, answer))
            else:
                refusals.append(f"{address} {refusal}")
        return hosts, refusals

    async def _workers(self) -> Iterable[str]:
        if self._client.scheduler is None:
            raise ConnectionError("the client has been closed")
        cores: dict[str, int] = await self._client.scheduler.ncores()
        return cores

    async def _descriptions(self, addresses: Sequence[str]) -> list[Any]:
        calls = (asyncio.wait_for(self._run(each, describe_host), _ANSWER_SECONDS) for each in addresses)
        return await asyncio.gather(*calls, return_exceptions=True)

    async def _start_rank(self, address: str, key: str, invitation: Invitation) -> "Future[Any]":
        futures: dict[str, Future[Any]] = await self._client.scatter(
            {key: None}, workers=[address], direct=False
        )
        await self._run(address, start_rank, key, invitation)
        return futures[key]

    async def _run(self, address: str, function: Callable[..., Any], *arguments: object) -> Any:
        answers: dict[str, Any] = await self._client.run(function, *arguments, workers=[address])
        return answers[address]

    def _call(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Run a coroutine in the client's event loop."""

        async def timed() -> T:
            return await asyncio.wait_for(work, seconds or self._answer_seconds)

        result: T = self._client.sync(timed)
        return result

    def _on_event(self, event: tuple[float, dict[str, Any]]) -> None:
        """Mark a rank as ended; the events include ranks of other trainings."""
        rank = self._ranks.get(event[1]["key"])
        if rank is not None:
            rank.mark_ended()


class DaskRank:
    """A rank on a Dask worker.

    Args:
        key: Dask key of the value that keeps the rank alive.
    """

    def __init__(self, placement: DaskPlacement, address: str, key: str) -> None:
        self._placement = placement
        self._address = address
        self._key = key
        self._future: Future[Any] | None = None
        self._ended = threading.Event()

    def hold(self, future: "Future[Any]") -> None:
        """Keep the future whose release kills the rank."""
        self._future = future

    def mark_ended(self) -> None:
        """Mark the process as ended."""
        self._ended.set()

    def has_ended(self) -> bool:
        """Return whether the process has ended, or is lost with its Dask worker or the scheduler."""
        return self._ended.is_set() or (self._future is not None and self._future.status != "finished")

    def end(self) -> None:
        """Kill the process and wait until it has ended, unless its Dask worker does not answer."""
        if not self.has_ended():
            self._placement.ask_to_end(self._address, self._key)
        self._ended.set()
        if self._future is not None:
            with contextlib.suppress(Exception):  # the client may be closed
                self._future.release()
            self._future = None


def _refusal(answer: Any) -> str | None:
    """Return the reason why a Dask worker cannot run a rank, None if it can."""
    if isinstance(answer, TimeoutError):
        return "does not answer"
    if isinstance(answer, BaseException):
        return f"failed: {str(answer) or type(answer).__name__}"
    for name, required in packages().items():
        installed = answer.packages.get(name)
        if installed != required:
            return f"has {name} {installed or 'not installed'}, the driver has {required}"
    return None


def _local_host(client: "Client") -> str:
    """Return the local address of the connection to the scheduler."""
    stream = client.scheduler_comm
    if stream is None or stream.comm is None:
        raise ClusterUnavailable("the Dask scheduler was lost")
    host: str = get_address_host(stream.comm.local_address)
    return host


def _bracketed(host: str) -> str:
    """Return a host to write before a port, with IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
