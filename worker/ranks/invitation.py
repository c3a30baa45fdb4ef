"""Parameters of a rank's process."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worker.ranks.identity import Identity


@dataclass(frozen=True)
class Invitation:
    """Parameters of one rank.

    Attributes:
        identity: Credentials of the training.
        rank: Number of the rank, from 0.
        driver: Address of the driver.
        host: Address of the rank's machine at which the other ranks reach it.
        threads: Threads of the rank.
        silence_seconds: Silence of the driver after which the rank ends.
    """

    identity: Identity
    rank: int
    driver: str
    host: str
    threads: int
    silence_seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form for the standard input of the rank's process."""
        return {**vars(self), "identity": self.identity.to_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Invitation":
        """Return the invitation of a message that `to_json` returned."""
        return cls(**{**values, "identity": Identity.from_json(values["identity"])})
