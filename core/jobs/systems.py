"""What ranks documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.jobs.stored import first_named, required

# The entries that name a system, best first; old jobs kept the id alone.
SYSTEM = ("system", "model", "model_id", "ranking_id")
# The entries that name a stored model or ranking, by id or reference, or several.
_NAMING = frozenset({"model_id", "ranking_id", "model", "models", "init_model", "labels_from"})
_TEACHER = "model:"


@dataclass(frozen=True)
class System:
    """A stored model, or a ranking from elsewhere.

    Attributes:
        name: What people call it: `web:3`, or the name of the ranking.
        model_id: The model, or None.
        ranking_id: The stored ranking that is measured, or None where a model ranks.
        reference: The reference that the request named the model by, `web@champion`, or None.
    """

    name: str
    model_id: str | None = None
    ranking_id: str | None = None
    reference: str | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "System":
        """Read a system from the specification of a job, or from an entry of its `systems`.

        Raises:
            InvalidInput: It names neither a model nor a ranking.
        """
        if model_id := stored.get("model_id"):
            # A job that was queued before systems were named knows the model alone.
            return cls(stored.get("system") or model_id, model_id=model_id, reference=stored.get("model"))
        return cls(required(stored, "system"), ranking_id=required(stored, "ranking_id"))

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` reads."""
        held = {"model": self.reference, "model_id": self.model_id, "ranking_id": self.ranking_id}
        return {name: value for name, value in held.items() if value is not None} | {"system": self.name}


def named_systems(stored: Any) -> Iterator[str]:
    """Yield the ids and references of models and rankings that a stored specification names."""
    if isinstance(stored, list):
        for each in stored:
            yield from named_systems(each)
    elif isinstance(stored, Mapping):
        for name, value in stored.items():
            named = value if isinstance(value, list) else [value]
            if name in _NAMING and all(isinstance(each, str) for each in named):
                yield from (each.removeprefix(_TEACHER) for each in named)
            else:
                yield from named_systems(value)


def system_name(stored: Mapping[str, Any]) -> str | None:
    """Return what people call an entry of the stored `systems`."""
    return first_named(stored, SYSTEM)
