"""Where the processes of ranks run."""

from collections.abc import Callable, Sequence
from typing import Protocol

from worker.ranks.invitation import Invitation


class StartedRank(Protocol):
    """A rank's process, wherever it runs."""

    def has_ended(self) -> bool:
        """Tell whether the process is known to have ended."""
        ...

    def end(self) -> None:
        """Kill the process and wait until it has gone; nothing to do where it has ended."""
        ...


class Placement(Protocol):
    """A way to start ranks, for one attempt at a training.

    Attributes:
        driver_host: Address of this machine at which ranks reach the driver.
        driver_ports: Ports for it there, the first that is free; 0 is any.
    """

    driver_host: str
    driver_ports: Sequence[int]

    def room(self, at_least: int, at_most: int, check: Callable[[], None]) -> int:
        """Return how many ranks can be started now.

        Args:
            at_least: Fewer are no use.
            at_most: More are not wanted.
            check: Called while it waits; what it raises ends the waiting.

        Raises:
            ClusterUnavailable: There is no room for so many in time.
        """
        ...

    def start(self, rank: int, invite: Callable[[str], Invitation]) -> StartedRank:
        """Start a rank.

        Args:
            rank: Its number, below what `room` returned.
            invite: Returns the invitation for the address of the machine that the rank runs on.
        """
        ...

    def close(self) -> None:
        """Leave nothing behind; called once all ranks have been ended."""
        ...
