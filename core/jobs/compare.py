"""The job kind `compare`: compare systems query by query."""

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
        systems: The systems; each later one is compared with each earlier one, unless there is a reference.
        dataset_id: The dataset.
        measures: Metrics and their options.
        permutations: Random assignments of Fisher's randomisation test.
        reference: Position of the system to compare all others with; None for all pairs.
        correction: `holm` over all pairs and metrics, or `none`.
        pool_folds: Whether to use the models' rankings by folds, on the queries that all of them rank.
    """

    kind: ClassVar[str] = "compare"
    label: ClassVar[str] = "Comparison"

    systems: tuple[System, ...]
    measures: Measures
    permutations: int
    reference: int | None = None
    correction: str = "holm"
    pool_folds: bool = False

    @classmethod
    def from_json(cls, stored: Stored) -> "CompareJob":
        """Parse the stored JSON."""
        return cls(
            systems=tuple(map(System.from_json, required(stored, "systems"))),
            measures=Measures.from_json(stored),
            permutations=required(stored, "permutations"),
            reference=stored.get("reference"),
            correction=stored.get("correction") or "holm",
            pool_folds=bool(stored.get("pool_folds")),
            **cls._shared(stored),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            **self._shared_json(),
            "systems": [system.to_json() for system in self.systems],
            **self.measures.to_json(),
            "permutations": self.permutations,
            **self._later_json(),
        }

    def _later_json(self) -> Json:
        """Return the entries that earlier releases lack, if they differ from the defaults."""
        given = {
            "reference": (self.reference, None),
            "correction": (self.correction, "holm"),
            "pool_folds": (self.pool_folds, False),
        }
        return {name: value for name, (value, default) in given.items() if value != default}

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the names of the systems."""
        return ", ".join(filter(None, map(system_name, stored.get("systems") or ()))) or None
