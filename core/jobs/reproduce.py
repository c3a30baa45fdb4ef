"""The job kind `reproduce`: train a model again and compare the bytes."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.boosting import BoostingJob
from core.jobs.stored import Json, Stored, required
from core.jobs.systems import SYSTEM

# Entries of a training that do not determine the model.
_ASIDE = frozenset({"diagnostics", "limits", "priority", "tags"})


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
    def from_json(cls, stored: Stored) -> "ReproduceJob":
        """Parse the stored JSON."""
        deciding = {name: value for name, value in stored.items() if name not in _ASIDE}
        model_id = required(stored, "model_id")
        return cls(model_id=model_id, system=stored.get("system") or model_id, **cls._shared(deciding))

    def to_json(self) -> Json:
        """Return the JSON to store."""
        deciding = {name: value for name, value in self._shared_json().items() if name not in _ASIDE}
        return deciding | {"model_id": self.model_id, "system": self.system}

    @property
    def allows_absent_features(self) -> bool:
        """Return True: a model that was trained can be trained again."""
        return True
