"""Systems that rank documents: models and uploaded runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.jobs.stored import first_named, required

# Entries with the name of a system, best first; jobs of early releases have only the id.
SYSTEM = ("system", "model", "model_id", "ranking_id")
# Entries with ids or references of stored models and rankings, one or several.
_NAMING = frozenset({"model_id", "ranking_id", "model", "models", "init_model", "labels_from"})
_TEACHER = "model:"


@dataclass(frozen=True)
class System:
    """A stored model or an uploaded run.

    Attributes:
        name: Display name: `web:3`, or the name of the run.
        model_id: The model, or None.
        ranking_id: The stored ranking, or None for a model.
        reference: The reference of the model in the request, `web@champion`, or None.
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
            # Jobs queued by early releases have only the id of the model.
            return cls(stored.get("system") or model_id, model_id=model_id, reference=stored.get("model"))
        return cls(required(stored, "system"), ranking_id=required(stored, "ranking_id"))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that `from_json` reads."""
        held = {"model": self.reference, "model_id": self.model_id, "ranking_id": self.ranking_id}
        return {name: value for name, value in held.items() if value is not None} | {"system": self.name}


def named_systems(stored: Any) -> Iterator[str]:
    """Yield the ids and references of models and rankings in a stored specification."""
    if isinstance(stored, list):
        for each in stored:
            yield from named_systems(each)
    elif isinstance(stored, Mapping):
        for name, value in stored.items():
            references = value if isinstance(value, list) else [value]
            if name in _NAMING and all(isinstance(each, str) for each in references):
                yield from (each.removeprefix(_TEACHER) for each in references)
            else:
                yield from named_systems(value)


def system_name(stored: Mapping[str, Any]) -> str | None:
    """Return the display name of an entry of the stored `systems`."""
    return first_named(stored, SYSTEM)
