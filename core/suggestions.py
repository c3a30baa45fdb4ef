"""Suggestions for misspelt names."""

from collections.abc import Mapping
from difflib import get_close_matches

_MIN_SIMILARITY = 0.6
_MAX_COMPARED_LENGTH = 100  # of a name; difflib takes quadratic time


def did_you_mean(name: str, spellings: Mapping[str, str]) -> str | None:
    """Return a question with the most similar known name, None without a similar one.

    Args:
        name: The wrong name.
        spellings: Canonical names, keyed by each accepted spelling.

    Example:
        >>> spellings = {"num_leaves": "num_leaves", "num_iterations": "num_iterations"}
        >>> did_you_mean("num_leafs", spellings)
        'did you mean num_leaves?'
        >>> did_you_mean("n_estimators", spellings | {"n_estimators": "num_iterations"})
        'did you mean num_iterations?'
        >>> did_you_mean("objective", spellings)
    """
    names = {spelling.lower(): canonical for spelling, canonical in spellings.items()}
    written = name[:_MAX_COMPARED_LENGTH].lower()
    matches = get_close_matches(written, names, n=1, cutoff=_MIN_SIMILARITY)
    return f"did you mean {names[matches[0]]}?" if matches else None
