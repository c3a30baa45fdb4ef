"""Metrics of a job with their options: conventions, label map and seed of resampling."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.jobs.stored import Json, Stored

if TYPE_CHECKING:
    from core.metrics import Conventions


@dataclass(frozen=True)
class Measures:
    """Metrics of a job with their options.

    Attributes:
        metrics: Spellings of the metrics, `ndcg@10`; the first one decides.
        contract: The conventions of the metrics.
        label_map: The requested replacements of labels.
        seed: Seed of every random choice.
    """

    metrics: tuple[str, ...]
    contract: "Conventions"
    label_map: Mapping[str, float]
    seed: int

    @classmethod
    def from_json(cls, stored: Stored) -> "Measures":
        """Parse the four entries; releases before each of them stored none.

        Raises:
            InvalidInput: The contract is unknown.
        """
        # The numeric parts of core are imported where a specification is parsed: lists of jobs and
        # administration need none, and Numba takes a second to load.
        from core.metrics import conventions

        return cls(
            tuple(stored.get("metrics") or ()),
            conventions(stored.get("contract")),
            dict(stored.get("label_map") or {}),
            stored.get("seed", 0),
        )

    def to_json(self) -> Json:
        """Return what `from_json` reads."""
        return {
            "metrics": list(self.metrics),
            "contract": self.contract.to_json(),
            "label_map": dict(self.label_map),
            "seed": self.seed,
        }
