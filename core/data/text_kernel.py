"""Bytes of a text, eight at a time where that is possible."""

import numpy as np
import numpy.typing as npt
from numba.cpython.unsafe import numbers

from core.jit import exact_inlined

Text = npt.NDArray[np.uint8]

LINE_FEED = 10
HASH = 35
COLON = 58
EQUALS = 61

_ONE = np.uint64(1)
_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)


@exact_inlined
def first_marked(word: np.uint64) -> np.uint64:
    """Return the position, 0 to 7, of the lowest byte of a word that is not 0; there must be one."""
    zeros: np.uint64 = numbers.trailing_zeros(word)  # type: ignore[call-arg]
    return zeros >> np.uint64(3)


@exact_inlined
def load_eight(text: Text, at: np.uint64) -> np.uint64:
    """Read eight bytes, the first one lowest: one load instruction, whatever the alignment."""
    word = np.uint64(text[at])
    word |= np.uint64(text[at + _ONE]) << np.uint64(8)
    word |= np.uint64(text[at + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(text[at + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(text[at + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(text[at + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(text[at + np.uint64(6)]) << np.uint64(48)
    word |= np.uint64(text[at + np.uint64(7)]) << np.uint64(56)
    return word


@exact_inlined
def is_blank(byte: int) -> bool:
    """Tell a space, a tab, or the carriage return of CRLF."""
    return byte == 32 or byte == 9 or byte == 13


@exact_inlined
def skip_blanks(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Go on to what is no blank."""
    while at < size and is_blank(text[at]):
        at += _ONE
    return at


@exact_inlined
def word_stop(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Go on to the next blank or line end."""
    while at < size and text[at] != LINE_FEED and not is_blank(text[at]):
        at += _ONE
    return at


@exact_inlined
def token_stop(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Go on to the next blank, line end or #: the end of a token that a comment may follow."""
    while at + np.uint64(8) <= size:
        word = load_eight(text, at)
        # Bytes up to # (and, seldom, some above the first of them) get their high bit set (Mycroft 1987).
        below = (word - _ONES * np.uint64(HASH + 1)) & ~word & _HIGH
        if below == 0:
            at += np.uint64(8)
            continue
        at += first_marked(below)
        byte = text[at]
        if byte in (HASH, LINE_FEED) or is_blank(byte):
            return at
        at += _ONE
    while at < size:
        byte = text[at]
        if byte in (HASH, LINE_FEED) or is_blank(byte):
            return at
        at += _ONE
    return at


@exact_inlined
def line_stop(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Go on to the line end."""
    while at < size and text[at] != LINE_FEED:
        at += _ONE
    return at


@exact_inlined
def starts_with(text: Text, at: np.uint64, size: np.uint64, word: bytes) -> bool:
    """Tell whether the text goes on with this word."""
    if at + np.uint64(len(word)) > size:
        return False
    same = True
    for offset in range(len(word)):
        same &= text[at + np.uint64(offset)] == word[offset]
    return same
