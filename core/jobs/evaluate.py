"""Measuring a model, or a ranking from elsewhere, on a dataset."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures
from core.jobs.stored import Json, Stored
from core.jobs.systems import SYSTEM, System

if TYPE_CHECKING:
    from core.losses import Loss


@dataclass(frozen=True)
class LossDiagnostics:
    """What to find out about a loss at the scores of the model.

    Attributes:
        loss: The loss.
        cutoff: k of the top k that is looked at.
    """

    loss: "Loss"
    cutoff: int

    @classmethod
    def from_json(cls, stored: Stored) -> "LossDiagnostics":
        """Parse the stored JSON."""
        from core.losses import stored_loss

        return cls(stored_loss(**stored["loss"]), stored["cutoff"])

    def to_json(self) -> Json:
        """Return the JSON to store."""
        from core.losses import loss_values

        return {"loss": loss_values(self.loss), "cutoff": self.cutoff}


@dataclass(frozen=True, kw_only=True)
class EvaluateJob(SubmittedJob):
    """Measure a system on a dataset.

    Attributes:
        system: What ranks.
        dataset_id: What it ranks.
        measures: How it is measured.
        diagnostics: What to find out about a loss, or None.
    """

    kind: ClassVar[str] = "evaluate"
    label: ClassVar[str] = "Evaluation"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM

    system: System
    measures: Measures
    diagnostics: LossDiagnostics | None = None

    @classmethod
    def from_json(cls, stored: Stored) -> "EvaluateJob":
        """Parse the stored JSON."""
        diagnostics = stored.get("diagnostics")
        return cls(
            system=System.from_json(stored),
            measures=Measures.from_json(stored),
            diagnostics=diagnostics and LossDiagnostics.from_json(diagnostics),
            **cls._shared(stored),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            **self._shared_json(),
            "model": None,
            "ranking_id": None,
            **self.system.to_json(),
            **self.measures.to_json(),
            "diagnostics": self.diagnostics and self.diagnostics.to_json(),
        }
