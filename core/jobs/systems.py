"""Systems that rank documents, models and uploaded runs, and references in stored specifications."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.stored import Stored, entry, first_named

# Entries with the name of a system, in order of preference; jobs of early releases have only the id.
SYSTEM_NAME_ENTRIES = ("system", "model", "model_id", "ranking_id")
# Entries that contain one or several ids or references of stored models and rankings.
_REFERENCE_ENTRIES = frozenset({"model_id", "ranking_id", "model", "models", "init_model", "labels_from"})
_CLICK_LOG_ENTRIES = frozenset({"click_log_id", "log"})
_DATASET_ENTRIES = frozenset({"dataset_id", "test_dataset_id"})
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
    model_id: str | None = entry(None, omit_default=True)
    ranking_id: str | None = entry(None, omit_default=True)
    reference: str | None = entry(None, names=("model",), omit_default=True)


def named_systems(stored: Any) -> Iterator[str]:
    """Yield the ids and references of models and rankings in a stored specification."""
    return (each.removeprefix(_TEACHER_PREFIX) for each in _texts(stored, _REFERENCE_ENTRIES))


def named_click_logs(stored: Any) -> Iterator[str]:
    """Yield the ids of click logs in a stored specification."""
    return _texts(stored, _CLICK_LOG_ENTRIES)


def named_datasets(stored: Any) -> Iterator[str]:
    """Yield the ids of datasets in a stored specification."""
    return _texts(stored, _DATASET_ENTRIES)


def _texts(stored: Any, names: Collection[str]) -> Iterator[str]:
    """Yield the texts of all entries with the given names, at any depth; an entry may be a list of texts."""
    if isinstance(stored, list):
        for each in stored:
            yield from _texts(each, names)
    elif isinstance(stored, Mapping):
        for name, value in stored.items():
            texts = value if isinstance(value, list) else [value]
            if name in names and all(isinstance(each, str) for each in texts):
                yield from texts
            else:
                yield from _texts(value, names)


def system_names(stored: Stored) -> list[str]:
    """Return the display names of the stored `systems`, without those that have none."""
    names = (first_named(system, SYSTEM_NAME_ENTRIES) for system in stored.get("systems") or ())
    return [name for name in names if name]
