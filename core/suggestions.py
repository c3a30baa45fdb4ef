"""Suggestions for misspelt names."""

from collections.abc import Mapping
from difflib import get_close_matches

_MIN_SIMILARITY = 0.6
_MAX_COMPARED_LENGTH = 100  # of a name; difflib takes quadratic time


def did_you_mean(name: str, known: Mapping[str, str]) -> str | None:
    """Return a question with the most similar known name, None without a similar one.

    Args:
        name: The wrong name.
        known: Canonical names, keyed by each accepted spelling.

    Example:
        >>> known = {"num_leaves": "num_leaves", "num_iterations": "num_iterations"}
        >>> did_you_mean("num_leafs", known)
        'did you mean num_leaves?'
        >>> did_you_mean("n_estimators", known | {"n_estimators": "num_iterations"})
        'did you mean num_iterations?'
        >>> did_you_mean("objective", known)
    """
    spellings = {spelling.lower(): meant for spelling, meant in known.items()}
    written = name[:_MAX_COMPARED_LENGTH].lower()
    matches = get_close_matches(written, spellings, n=1, cutoff=_MIN_SIMILARITY)
    return f"did you mean {spellings[matches[0]]}?" if matches else None
