"""Numbers, times and jobs as people read them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

# What a job makes or is about, what people call it first.
_NAMES = ("model_name", "name", "system", "model", "ranking_id")


def number(value: float | None, digits: int = 4) -> str:
    """Return a measured value, empty where it is undefined."""
    return "" if value is None else f"{value:.{digits}f}"


def interval(lower: float | None, upper: float | None) -> str:
    """Return the ends of an interval, empty where it is undefined."""
    return "" if lower is None or upper is None else f"{lower:.4f} to {upper:.4f}"


def p_value(value: float | None) -> str:
    """Return a p-value."""
    if value is None:
        return ""
    return "<.0001" if value < 1e-4 else f"{value:.4f}"


def count(value: Any) -> str:
    """Return a whole number, empty where it is not known."""
    return "" if value is None else f"{value:,}"


def moment(value: datetime | None) -> str:
    """Return a time in the reader's own zone, empty where there is none."""
    return "" if value is None else value.astimezone().strftime("%Y-%m-%d %H:%M")


def size(n_bytes: int | None) -> str:
    """Return a length in bytes."""
    if n_bytes is None:
        return ""
    amount, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def loss(spec: dict[str, Any] | None) -> str:
    """Return a loss by its name and what of it was chosen, not left at None."""
    if not spec:
        return ""
    chosen = [f"{name}={value}" for name, value in spec.items() if name != "name" and value is not None]
    return f"{spec.get('name')} ({', '.join(chosen)})" if chosen else str(spec.get("name"))


def about(spec: Mapping[str, Any]) -> str:
    """Return what a job makes, measures or moves; empty where its spec does not name it.

    Example:
        >>> about({"systems": [{"system": "web:1"}, {"system": "bm25"}]})
        'web:1, bm25'
        >>> about({"systems": [{"system": "web:1"}, {"system": "web:2"}], "alias": "champion"})
        'web:2 for @champion'
    """
    systems = [_named(one) for one in spec.get("systems") or ()]
    if systems and spec.get("alias"):
        return f"{systems[-1]} for @{spec['alias']}"
    return ", ".join(systems) or _named(spec)


def _named(spec: Mapping[str, Any]) -> str:
    return next((str(spec[name]) for name in _NAMES if spec.get(name)), "")
