"""Comparing systems query by query."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures
from core.jobs.stored import Json, Stored, required
from core.jobs.systems import System, system_name


@dataclass(frozen=True, kw_only=True)
class CompareJob(SubmittedJob):
    """Compare models and rankings on one dataset.

    Attributes:
        systems: What is compared; each later one against each earlier one.
        dataset_id: What they rank.
        measures: How they are measured.
        permutations: Random assignments of Fisher's randomisation test.
    """

    kind: ClassVar[str] = "compare"
    label: ClassVar[str] = "Comparison"

    systems: tuple[System, ...]
    measures: Measures
    permutations: int

    @classmethod
    def from_json(cls, stored: Stored) -> "CompareJob":
        """Parse the stored JSON."""
        return cls(
            systems=tuple(map(System.from_json, required(stored, "systems"))),
            measures=Measures.from_json(stored),
            permutations=required(stored, "permutations"),
            **cls._shared(stored),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            **self._shared_json(),
            "systems": [system.to_json() for system in self.systems],
            **self.measures.to_json(),
            "permutations": self.permutations,
        }

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the names of the systems."""
        return ", ".join(filter(None, map(system_name, stored.get("systems") or ()))) or None
