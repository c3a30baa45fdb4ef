"""Visible names, names, numbers and texts in messages, and suggestions for misspelt names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

# Invisible characters, and characters that change the display of their neighbours: the content of a character
# class, for regular expressions of Python, Rust and ECMAScript. It contains control characters, separators of
# lines and paragraphs, format characters of the Basic Multilingual Plane (zero-width characters, direction
# overrides), and tag characters.
INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb" + "\U000e0001\U000e0020-\U000e007f"
)
MAX_SHORTENED_LENGTH = 40
_LISTED = 5
_INVISIBLE = re.compile(f"[{INVISIBLE}]")


def is_visible(name: str) -> bool:
    """Return whether a name has only visible characters."""
    return _INVISIBLE.search(name) is None


def shortened(text: str) -> str:
    """Shorten a text to 40 characters for a message."""
    return text if len(text) <= MAX_SHORTENED_LENGTH else text[: MAX_SHORTENED_LENGTH - 1] + "…"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun; the plural is the noun with an s, unless it is given.

    Example:
        >>> counted(1, "job"), counted(1_240, "job")
        ('1 job', '1,240 jobs')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def query_count(n_queries: int, kind: str = "") -> str:
    """Return a number of queries as text.

    Example:
        >>> query_count(1), query_count(1_240, "test")
        ('1 query', '1,240 test queries')
    """
    prefix = f"{kind} " if kind else ""
    return counted(n_queries, f"{prefix}query", f"{prefix}queries")


def first_names(names: Sequence[str]) -> str:
    """Return the first five names as text, with the number of the others.

    Example:
        >>> first_names(["a", "b"]), first_names(["a", "b", "c", "d", "e", "f"])
        ('a, b', 'a, b, c, d, e and 1 more')
    """
    others = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {others:,} more" if others > 0 else "")


_MIN_SIMILARITY = 0.6
_MAX_COMPARED_LENGTH = 100  # of a name; difflib takes quadratic time


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a question with the most similar known name, None without a similar one.

    Args:
        known: Known names; a mapping from each accepted spelling has the canonical names as values.

    Example:
        >>> known = {"num_leaves": "num_leaves", "n_estimators": "num_iterations"}
        >>> did_you_mean("num_leafs", ["num_leaves", "num_iterations"])
        'did you mean num_leaves?'
        >>> did_you_mean("n_estimatos", known)
        'did you mean num_iterations?'
        >>> did_you_mean("objective", known)
    """
    canonical = known if isinstance(known, Mapping) else {each: each for each in known}
    names = {spelling.lower(): each for spelling, each in canonical.items()}
    written = name[:_MAX_COMPARED_LENGTH].lower()
    matches = get_close_matches(written, names, n=1, cutoff=_MIN_SIMILARITY)
    return f"did you mean {names[matches[0]]}?" if matches else None
