"""Systems that rank documents: models and uploaded runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.stored import entry, first_named

# Entries with the name of a system, the preferred first; jobs of early releases have only the id.
SYSTEM_NAME_ENTRIES = ("system", "model", "model_id", "ranking_id")
# Entries with ids or references of stored models and rankings, one or several.
_REFERENCE_ENTRIES = frozenset({"model_id", "ranking_id", "model", "models", "init_model", "labels_from"})
_TEACHER_PREFIX = "model:"


@dataclass(frozen=True)
class System:
    """A stored model or an uploaded run.

    Attributes:
        name: Display name: `web:3`, or the name of the run.
        model_id: The model, or None.
        ranking_id: The stored ranking, or None for a model.
        reference: The reference of the model in the request, `web@champion`, or None.
    """

    # Jobs queued by early releases have only the id of the model.
    name: str = entry(names=("system", "model_id"))
    model_id: str | None = entry(None, later=True)
    ranking_id: str | None = entry(None, later=True)
    reference: str | None = entry(None, names=("model",), later=True)


def named_systems(stored: Any) -> Iterator[str]:
    """Yield the ids and references of models and rankings in a stored specification."""
    if isinstance(stored, list):
        for each in stored:
            yield from named_systems(each)
    elif isinstance(stored, Mapping):
        for name, value in stored.items():
            references = value if isinstance(value, list) else [value]
            if name in _REFERENCE_ENTRIES and all(isinstance(each, str) for each in references):
                yield from (each.removeprefix(_TEACHER_PREFIX) for each in references)
            else:
                yield from named_systems(value)


def system_name(stored: Mapping[str, Any]) -> str | None:
    """Return the display name of an entry of the stored `systems`."""
    return first_named(stored, SYSTEM_NAME_ENTRIES)
