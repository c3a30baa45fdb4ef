"""The job kind `reproduce`: train a model again and compare the bytes."""

from dataclasses import dataclass
from typing import ClassVar, Self

from core.jobs.boosting import BoostingJob
from core.jobs.stored import Json, Stored
from core.jobs.systems import SYSTEM

# Entries of a training that do not determine the model.
_ASIDE = frozenset({"diagnostics", "limits", "priority", "tags"})


def _deciding(stored: Stored) -> Json:
    return {name: value for name, value in stored.items() if name not in _ASIDE}


@dataclass(frozen=True, kw_only=True)
class ReproduceJob(BoostingJob):
    """Train a model again as it was trained, from the specification of its training.

    Attributes:
        model_id: The model to compare with.
        system: Its reference: `web:3`.
    """

    kind: ClassVar[str] = "reproduce"
    label: ClassVar[str] = "Training again"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM

    model_id: str
    system: str

    @classmethod
    def from_json(cls, stored: Stored) -> Self:
        """Parse the stored JSON, or the specification of a training."""
        named = {"system": stored.get("system") or stored.get("model_id")}
        return super().from_json(_deciding(stored) | named)

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return _deciding(super().to_json())

    @property
    def allows_absent_features(self) -> bool:
        """Return True: a model that was trained can be trained again."""
        return True
