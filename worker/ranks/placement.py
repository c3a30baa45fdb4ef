"""Placements, which start the processes of ranks: the interface, and the one on this machine."""

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Protocol, cast

from core.machine import available_cpus
from core.subprocesses import harmless_environment, module_command, module_environment
from worker.dask.settings import ANY_PORT
from worker.ranks.identity import Identity

BEATS = 5  # heartbeats within the timeout after which a process counts as lost


@dataclass(frozen=True)
class Invitation:
    """Parameters of one rank.

    Attributes:
        rank: Number of the rank, from 0.
        driver: Address of the driver.
        host: Address at which the other ranks reach the rank's machine.
        silence_seconds: Timeout without a message of the driver, after which the rank ends.
    """

    identity: Identity
    rank: int
    driver: str
    host: str
    threads: int
    silence_seconds: float


class StartedRank(Protocol):
    """Process of a rank on any machine."""

    def has_ended(self) -> bool:
        """Return whether the process has ended, as far as known."""
        ...

    def end(self) -> None:
        """Kill the process and wait until it has ended; do nothing if it already has."""
        ...


class Placement(Protocol):
    """Start of the ranks for one attempt at a training.

    Attributes:
        driver_host: Address at which ranks reach the driver's machine.
        driver_ports: Ports for the driver to try in order; 0 is any free port.
    """

    driver_host: str
    driver_ports: Sequence[int]

    def available_ranks(self, at_least: int, at_most: int, check: Callable[[], None]) -> int:
        """Return the number of ranks that can be started now.

        Args:
            at_least: Fewest ranks.
            check: Called while waiting; may raise to stop.

        Raises:
            ClusterUnavailable: Fewer than `at_least` ranks can be started in time.
        """
        ...

    def start(self, rank: int, invite: Callable[[str], Invitation]) -> StartedRank:
        """Start a rank.

        Args:
            rank: Number of the rank, below the result of `available_ranks`.
            invite: Returns the invitation for the address of the machine that the rank runs on.
        """
        ...


_HOST = "127.0.0.1"
_MODULE = "worker.ranks"


class LocalPlacement:
    """Placement of ranks on the machine of the driver."""

    driver_host = _HOST
    driver_ports = ANY_PORT

    def __init__(self, threads_per_rank: int) -> None:
        self._threads = threads_per_rank

    def available_ranks(self, at_least: int, at_most: int, check: Callable[[], None]) -> int:
        """Return the number of ranks that the CPUs allow, within `at_least` and `at_most`."""
        check()
        return min(at_most, max(at_least, available_cpus() // self._threads))

    def start(self, rank: int, invite: Callable[[str], Invitation]) -> "RankSubprocess":
        """Start a rank."""
        return RankSubprocess(invite(_HOST))


class RankSubprocess:
    """A rank as a child of this process, killed when the thread that starts it ends.

    Args:
        invitation: Parameters of the rank, written to its standard input, which no other process can read.
    """

    def __init__(self, invitation: Invitation) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the command is our own
            module_command(_MODULE, os.getpid()),  # the rank ends with the process of this id
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=rank_environment(invitation.threads),
            start_new_session=True,  # Ctrl-C signals only the driver
        )
        # `has_ended` reports a process that dies before it has read its invitation.
        with contextlib.suppress(BrokenPipeError), cast("IO[bytes]", self._process.stdin) as stdin:
            stdin.write(json.dumps(asdict(invitation)).encode() + b"\n")

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, None while the process runs."""
        return self._process.poll()

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def ended_within(self, seconds: float) -> bool:
        """Wait for the process to end; return whether it has."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """Kill the process and wait until it has ended."""
        self._process.kill()
        self._process.wait()


def rank_environment(threads: int) -> dict[str, str]:
    """Return the environment of a rank, with its number of threads.

    The environment has no credentials: ranks only read URLs that their driver signs.
    """
    return {
        **module_environment(harmless_environment()),
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive",
        # Return freed memory to the system, which saves a tenth of a rank's memory.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_MMAP_THRESHOLD_": str(2**22),
        "MALLOC_TRIM_THRESHOLD_": str(2**23),
    }
