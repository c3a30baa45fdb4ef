"""What lists of jobs tell of each: what it is called, and its main metric."""

from collections.abc import Mapping
from typing import Any

MAX_TITLE = 255

# What a job makes or is about, the most telling first.
_NAMES = ("model_name", "name", "system", "model", "model_id")
# What metrics are measured on, where it says most first.
_PARTS = ("test", "validation", "train")
# It stands among the metrics of the training data, and is none.
_LOSS = "loss"


def title_of(spec: Mapping[str, Any]) -> str | None:
    """Return the name that people know a job by, None where its spec holds none."""
    if systems := spec.get("systems"):
        names = [s.get("system") or s.get("model") or s.get("ranking_id") or "" for s in systems]
        return ", ".join(names)[:MAX_TITLE]
    found = next((spec[name] for name in _NAMES if spec.get(name)), None)
    return None if found is None else str(found)[:MAX_TITLE]


def main_metric_of(spec: Mapping[str, Any], metrics: Mapping[str, Any] | None) -> float | None:
    """Return the latest value of what early stopping watches, else of the first metric asked for.

    Args:
        spec: What the job was asked for.
        metrics: Its latest means, by data and metric.

    Returns:
        The value on the test data, else on the validation data, else on the training data; None without.
    """
    parts = [part for name in _PARTS if (part := (metrics or {}).get(name))]
    known = [name for part in parts for name in part if name != _LOSS]
    wanted = [(spec.get("early_stopping") or {}).get("metric"), *(spec.get("metrics") or ()), *known]
    name = next((name for name in wanted if name in known), None)
    return next((part[name] for part in parts if part.get(name) is not None), None)
