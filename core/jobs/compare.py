"""The job kind `compare`: compare systems query by query."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures
from core.jobs.systems import System, system_names
from core.stored import Stored, entry


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
        pool_folds: Whether to rank each query by the fold model that was not trained on the query.
    """

    kind: ClassVar[str] = "compare"
    label: ClassVar[str] = "Comparison"

    systems: tuple[System, ...]
    measures: Measures = entry(flat=True)
    permutations: int
    reference: int | None = entry(None, omit_default=True)
    correction: str = entry("holm", omit_default=True)
    pool_folds: bool = entry(False, omit_default=True)

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the names of the systems."""
        return ", ".join(system_names(stored)) or None
