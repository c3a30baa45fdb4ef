"""The checker of words that need a second reading."""

import tomllib

import pytest

from tools.plain_words import WORDS, Finding, Word, findings

_WORD = Word.from_row("at once", "immediately", ["all at once"])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Delete it at once.", [1]),
        ("first line\nAt once, or later", [2]),
        ("Comments wrap: delete it at\n    # once, or later", [1]),
        ("return delete_at_once(x)\nat_once = 1", [1, 2]),
        ("Load them all at once.", []),
        ("Format at oncelet; that once", []),
    ],
)
def test_phrases_of_whole_words_are_found(text: str, lines: list[int]) -> None:
    """Phrases are found in prose, over a line break and in names, but not within an exception or a word."""
    assert [finding.line for finding in findings(text, [_WORD])] == lines


def test_findings_are_in_order_of_lines() -> None:
    """Each finding has its phrase on one line and the plain words."""
    words = [Word.from_row("told", "reported"), _WORD]
    assert findings("at\nonce\ntold\nat once", words) == [
        Finding(1, "at once", "immediately"),
        Finding(3, "told", "reported"),
        Finding(4, "at once", "immediately"),
    ]


def test_words_to_write_are_not_on_the_list() -> None:
    """No row advises a phrase of the list, and each phrase is on the list once."""
    rows = tomllib.loads(WORDS.read_text())["words"]
    words = [Word.from_row(**row) for row in rows]
    assert not [finding for row in rows for finding in findings(row["plain"], words)]
    assert len({row["phrase"] for row in rows}) == len(rows)
