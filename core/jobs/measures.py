"""Metrics of a job with their options: conventions, label map and seed of resampling."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from core.stored import Json, Stored, entry, read_entries, required, write_entries

if TYPE_CHECKING:
    from core.metrics import Conventions


def _conventions(stored: Any = None) -> "Conventions":
    # The metrics are imported only when a specification is parsed: lists of jobs and administration do not
    # need them, and Numba takes a second to load.
    from core.metrics import conventions

    return conventions(stored)


@dataclass(frozen=True)
class Measures:
    """Metrics of a job with their options.

    Attributes:
        metrics: Spellings of the metrics, `ndcg@10`; the first one decides a comparison.
        contract: The conventions of the metrics; `contract` is their name in JSON and on the command line.
        label_map: The requested replacements of labels.
        seed: Seed of every random choice.
    """

    metrics: tuple[str, ...] = ()
    contract: "Conventions" = entry(
        default_factory=_conventions, read=_conventions, write=methodcaller("to_json")
    )
    label_map: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0


def read_single_metric(stored: Stored) -> Measures:
    """Read measures with the entry `metric` in place of `metrics`."""
    return read_entries(Measures, {**stored, "metrics": [required(stored, "metric")]})


def write_single_metric(measures: Measures) -> Json:
    """Return the JSON of measures with one metric, as `metric`; `read_single_metric` reads it back."""
    written = write_entries(measures)
    (metric,) = written.pop("metrics")
    return {"metric": metric} | written
