"""Placements, which start the processes of ranks, and the parameters of such a process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from worker.ranks.identity import Identity

BEATS = 5  # heartbeats within the timeout after which a process counts as lost


@dataclass(frozen=True)
class Invitation:
    """Parameters of one rank.

    Attributes:
        identity: Credentials of the training.
        rank: Number of the rank, from 0.
        driver: Address of the driver.
        host: Address at which the other ranks reach the rank's machine.
        threads: Threads of the rank.
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
            at_most: Most ranks.
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
