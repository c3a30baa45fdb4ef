"""Bytes of a text, eight at a time."""

import numpy as np
import numpy.typing as npt
from numba.cpython.unsafe import numbers

from core.jit import exact_inlined

Text = npt.NDArray[np.uint8]

_ONE = np.uint64(1)
_ASCII_ZEROS = np.uint64(0x3030303030303030)
_SIXES = np.uint64(0x0606060606060606)
_HIGH_NIBBLES = np.uint64(0xF0F0F0F0F0F0F0F0)
_THREES = np.uint64(0x3333333333333333)


@exact_inlined
def load_eight(text: Text, at: np.uint64) -> np.uint64:
    """Load eight bytes as a little-endian word; it compiles to one load instruction for any alignment."""
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
def first_marked(word: np.uint64) -> np.uint64:
    """Return the position, 0 to 7, of the lowest byte of a word that is not 0; there must be one."""
    zeros: np.uint64 = numbers.trailing_zeros(word)  # type: ignore[call-arg]
    return zeros >> np.uint64(3)


@exact_inlined
def are_digits(word: np.uint64) -> bool:
    """Return whether all of eight bytes are digits."""
    return bool(_nibbles(word) == _THREES)


@exact_inlined
def count_digits(word: np.uint64) -> np.uint64:
    """Count the leading digits of eight bytes, up to seven; at least one byte must not be a digit."""
    return np.uint64(first_marked(_nibbles(word) ^ _THREES))


@exact_inlined
def _nibbles(word: np.uint64) -> np.uint64:
    # A digit's high nibble is 3, also after 6 is added.
    return np.uint64((word & _HIGH_NIBBLES) | (((word + _SIXES) & _HIGH_NIBBLES) >> np.uint64(4)))


@exact_inlined
def digits_value(word: np.uint64, count: np.uint64) -> np.uint64:
    """Read the first `count` of eight bytes, up to seven, as a whole number."""
    # Pad with zeros before the digits; shift twice, since one shift by all 64 bits is undefined.
    shift = np.uint64(56) - np.uint64(8) * count
    digits = ((word << np.uint64(8)) << shift) | (_ASCII_ZEROS >> (np.uint64(8) * count))
    return np.uint64(eight_digits_value(digits))


@exact_inlined
def eight_digits_value(word: np.uint64) -> np.uint64:
    """Read eight digits as a whole number, pair by pair (Lemire 2021, section 7)."""
    values = word - _ASCII_ZEROS
    values = values * np.uint64(10) + (values >> np.uint64(8))
    low = (values & np.uint64(0x000000FF000000FF)) * np.uint64(0x000F424000000064)
    high = ((values >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(0x0000271000000001)
    return (low + high) >> np.uint64(32)
