"""The job kind `evaluate`: evaluate a model or an uploaded run on a dataset."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures
from core.jobs.systems import SYSTEM_NAME_ENTRIES, System
from core.stored import Json, Stored, entry, write_entries

if TYPE_CHECKING:
    from core.losses import Loss


def _loss(stored: Stored) -> "Loss":
    from core.losses import stored_loss

    return stored_loss(**stored)


def _loss_json(loss: "Loss") -> Json:
    from core.losses import loss_values

    return loss_values(loss)


def _system_json(system: System) -> Json:
    return {"model": None, "ranking_id": None} | write_entries(system)


@dataclass(frozen=True, kw_only=True)
class LossDiagnostics:
    """Diagnostics of a loss at the scores of the model.

    Attributes:
        loss: The loss.
        cutoff: k of the examined top k.
    """

    loss: "Loss" = entry(read=_loss, write=_loss_json)
    cutoff: int


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
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES

    system: System = entry(write=_system_json, flat=True)
    measures: Measures = entry(flat=True)
    diagnostics: LossDiagnostics | None = None
