"""The job kind `reproduce`: train a model again and compare the bytes."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base_training import BaseTrainingJob
from core.jobs.systems import SYSTEM_NAME_ENTRIES
from core.stored import entry


@dataclass(frozen=True, kw_only=True)
class ReproduceJob(BaseTrainingJob):
    """Train a model again as it was trained, from the specification of its training.

    Attributes:
        model_id: The model to compare with.
        system: Reference of this model: `web:3`.
    """

    kind: ClassVar[str] = "reproduce"
    label: ClassVar[str] = "Reproduction"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES
    # Entries of a training that do not determine the model.
    ignored_entries: ClassVar[frozenset[str]] = frozenset({"diagnostics", "limits", "priority", "tags"})

    model_id: str
    system: str = entry(names=("system", "model_id"))

    @property
    def allows_absent_features(self) -> bool:
        """Return True: a model that was trained can be trained again."""
        return True
