"""Find blanks, words, tokens and line ends of a text."""

import numpy as np

from core.jit import exact_inlined
from core.text.bytes_kernel import Text, first_marked, load_eight

LINE_FEED = 10
HASH = 35
COLON = 58
EQUALS = 61

_ONE = np.uint64(1)
_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)


@exact_inlined
def is_blank(byte: int) -> bool:
    """Return whether a byte is a space, a tab, or the carriage return of CRLF."""
    return byte == 32 or byte == 9 or byte == 13


@exact_inlined
def is_token_end(byte: int) -> bool:
    """Return whether this byte ends a token: a blank, a line end or #."""
    return is_blank(byte) or byte in (LINE_FEED, HASH)


@exact_inlined
def skip_blanks(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Return the position of the next byte that is not a blank, or the size of the text."""
    while at < size and is_blank(text[at]):
        at += _ONE
    return at


@exact_inlined
def word_stop(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Return the position of the next blank or line end, or the size of the text."""
    while at < size and text[at] != LINE_FEED and not is_blank(text[at]):
        at += _ONE
    return at


@exact_inlined
def token_stop(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Return the position of the next blank, line end or #: the end of a token before a comment."""
    while at + np.uint64(8) <= size:
        word = load_eight(text, at)
        # Set the high bit of each byte with a value of at most `#`. After the first such byte, the bits of
        # other bytes may be set, too (Mycroft 1987); therefore `is_token_end` checks each byte.
        below = (word - _ONES * np.uint64(HASH + 1)) & ~word & _HIGH
        if below == 0:
            at += np.uint64(8)
            continue
        at += first_marked(below)
        if is_token_end(text[at]):
            return at
        at += _ONE
    while at < size:
        if is_token_end(text[at]):
            return at
        at += _ONE
    return at


@exact_inlined
def line_stop(text: Text, at: np.uint64, size: np.uint64) -> np.uint64:
    """Return the position of the next line end, or the size of the text."""
    while at < size and text[at] != LINE_FEED:
        at += _ONE
    return at


@exact_inlined
def same_bytes(
    text: Text, start: np.uint64, stop: np.uint64, other: np.uint64, other_stop: np.uint64
) -> bool:
    """Return whether two parts of the text are equal."""
    if stop - start != other_stop - other:
        return False
    same = True
    for offset in range(stop - start):
        same &= text[start + np.uint64(offset)] == text[other + np.uint64(offset)]
    return same


@exact_inlined
def starts_with(text: Text, at: np.uint64, size: np.uint64, word: bytes) -> bool:
    """Return whether the text has this word at `at`."""
    if at + np.uint64(len(word)) > size:
        return False
    same = True
    for offset in range(len(word)):
        same &= text[at + np.uint64(offset)] == word[offset]
    return same
