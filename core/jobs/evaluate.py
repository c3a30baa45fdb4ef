"""The job kind `evaluate`: evaluate a model or an uploaded run on a dataset."""

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
    """Diagnostics of a loss at the scores of the model.

    Attributes:
        loss: The loss.
        cutoff: k of the examined top k.
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
        system: The system.
        dataset_id: The dataset.
        measures: Metrics and their options.
        diagnostics: Diagnostics of a loss, or None.
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
