"""Patterns of file names."""

import pytest

from core.data.folders import MAX_FILES, matching
from core.errors import InvalidInput


def test_names_are_in_natural_order() -> None:
    """Numbers in names count as numbers; names of the same numbers are in the order of their characters."""
    names = ["part-10", "part-9", "part-09", "part-", "part-1a", "part-1", "whole"]
    assert matching(names, "part-*") == ["part-", "part-1", "part-1a", "part-09", "part-9", "part-10"]


def test_marker_files_are_left_out() -> None:
    """Spark writes `_SUCCESS` and hidden checksums beside its files."""
    assert matching(["_SUCCESS", ".part-0.crc", "part-0"], "*") == ["part-0"]


@pytest.mark.parametrize(
    ("pattern", "detail"),
    [
        ("", "must be a pattern"),
        ("../*", "must be a pattern"),
        ("p\u202e*", "must be a pattern"),
        ("x" * 201, "must be a pattern"),
        ("train-*", "matches no file"),
        ("PART-*", "matches no file"),
        ("*", "must match at most 1,000 files; found 1,001"),
    ],
)
def test_patterns_that_cannot_be_used_are_refused(pattern: str, detail: str) -> None:
    """The error points at `/files` and describes the mistake."""
    with pytest.raises(InvalidInput) as caught:
        matching([f"part-{number}" for number in range(MAX_FILES + 1)], pattern)
    assert caught.value.problems[0].pointer == "/files"
    assert detail in caught.value.problems[0].detail
