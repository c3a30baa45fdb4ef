"""Interface of placements, which start the processes of ranks."""

from collections.abc import Callable, Sequence
from typing import Protocol

from worker.ranks.invitation import Invitation


class StartedRank(Protocol):
    """Process of a rank on any machine."""

    def has_ended(self) -> bool:
        """Return whether the process is known to have ended."""
        ...

    def end(self) -> None:
        """Kill the process and wait until it has ended; do nothing if it has."""
        ...


class Placement(Protocol):
    """Start ranks for one attempt at a training.

    Attributes:
        driver_host: Address of this machine at which ranks reach the driver.
        driver_ports: Ports of the driver, of which the first free one is used; 0 is any.
    """

    driver_host: str
    driver_ports: Sequence[int]

    def room(self, at_least: int, at_most: int, check: Callable[[], None]) -> int:
        """Return how many ranks can be started now.

        Args:
            at_least: Fewest ranks.
            at_most: Most ranks.
            check: Called while it waits; may raise to stop.

        Raises:
            ClusterUnavailable: Fewer than `at_least` can be started in time.
        """
        ...

    def start(self, rank: int, invite: Callable[[str], Invitation]) -> StartedRank:
        """Start a rank.

        Args:
            rank: Number of the rank, below the result of `room`.
            invite: Returns the invitation for the address of the machine that the rank runs on.
        """
        ...

    def close(self) -> None:
        """Release all resources; call after all ranks have ended."""
        ...
