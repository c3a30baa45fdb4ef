"""Patterns of file names, and the order of the files that match one."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from core.errors import InvalidInput
from core.names import is_visible

MAX_FILES = 1_000  # of one dataset
MAX_PATTERN_LENGTH = 200
_POINTER = "/files"
_DIGITS = re.compile(r"(\d+)")


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names that match a pattern, in natural order: `part-2` is before `part-10`.

    Names that begin with `.` or `_`, such as `_SUCCESS`, are left out, and empty ones: an object named
    `folder/` marks a folder that was created in the console of a bucket.

    Args:
        names: Names of the files in a folder.
        pattern: Shell-style (glob) pattern with `*`, `?` and `[…]`.

    Raises:
        InvalidInput: The pattern is not a name, matches nothing, or matches more than `MAX_FILES` files.

    Example:
        >>> matching(["part-10.csv", "part-2.csv", "_SUCCESS"], "part-*.csv")
        ['part-2.csv', 'part-10.csv']
    """
    if not pattern or len(pattern) > MAX_PATTERN_LENGTH or "/" in pattern or not is_visible(pattern):
        raise InvalidInput.at(
            _POINTER, "must be a pattern of names of files in the folder, such as part-*.parquet"
        )
    matches = [name for name in names if name[:1] not in ("", ".", "_") and fnmatchcase(name, pattern)]
    if not matches:
        raise InvalidInput.at(_POINTER, "matches no file in the folder")
    if len(matches) > MAX_FILES:
        raise InvalidInput.at(_POINTER, f"must match at most {MAX_FILES:,} files; found {len(matches):,}")
    return sorted(matches, key=_natural_order)


def _natural_order(name: str) -> tuple[list[tuple[int, str]], str]:
    pieces = _DIGITS.split(name)
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces], name
