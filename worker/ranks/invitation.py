"""Parameters of a rank's process."""

from dataclasses import dataclass

from worker.ranks.identity import Identity


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
