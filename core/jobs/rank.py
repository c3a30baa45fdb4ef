"""The job kind `rank`: rank a dataset's documents by a model."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import SubmittedJob
from core.jobs.stored import Json, Stored
from core.jobs.systems import SYSTEM, System


@dataclass(frozen=True, kw_only=True)
class RankJob(SubmittedJob):
    """Rank a dataset by a model.

    Attributes:
        system: The model.
        dataset_id: The dataset.
    """

    kind: ClassVar[str] = "rank"
    label: ClassVar[str] = "Ranking"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM

    system: System

    @classmethod
    def from_json(cls, stored: Stored) -> "RankJob":
        """Parse the stored JSON."""
        return cls(
            system=System.from_json(stored),
            **cls._shared(stored),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {**self._shared_json(), **self.system.to_json()}
