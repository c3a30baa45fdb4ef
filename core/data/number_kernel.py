"""Parse numbers of LETOR text to float32, bit for bit as `numpy.float32(float(text))`."""

from typing import Any

import numpy as np

from core.data.text_kernel import is_token_end, token_stop
from core.jit import exact_inlined, exact_nonallocating
from core.text.bytes_kernel import Text
from core.text.decimal_kernel import CUT, read_decimal, read_short_decimal
from core.text.decimal_kernel import MALFORMED as NO_DECIMAL

# Kinds of tokens. DECIDED is a parsed number or NaN; an UNDECIDED number is left to Python's `float`.
DECIDED, UNDECIDED, INFINITE, TOO_LARGE, MALFORMED = range(5)

INFINITE_FLOAT32 = (2 - 2.0**-24) * 2.0**127  # float32 rounds this and larger numbers to infinity
INFINITE_FROM = 1.797e308  # files of Istella have the largest float64, in 12 digits, as an infinite value
_PLUS, _MINUS = ord("+"), ord("-")
_LOWER_CASE = 32  # the bit that distinguishes a lowercase letter from its uppercase one
_ONE = np.uint64(1)


@exact_inlined
def read_number(text: Text, at: np.uint64, size: np.uint64) -> tuple[int, np.uint64, float]:
    """Read the number, `nan`, `null` or `inf` that a token consists of.

    Returns:
        The kind of the token, such as `DECIDED`, the end of the token, and the value. The value rounds to
        the correct float32 where the kind is `DECIDED` or `INFINITE`.
    """
    short, stop, value = read_short_decimal(text, at, size)
    if short and (stop >= size or is_token_end(text[stop])):
        return DECIDED, stop, value
    kind, stop, value = _read_unusual(text, at, size)
    return kind, stop, value


@exact_nonallocating
def _read_unusual(text: Text, at: np.uint64, size: np.uint64) -> tuple[int, np.uint64, float]:
    """Read any token: a number of many digits or with an exponent, or a word."""
    stop = token_stop(text, at, size)
    has_plus = at + _ONE < stop and text[at] == _PLUS and text[at + _ONE] != _MINUS
    kind, end, value = read_decimal(text, at + np.uint64(has_plus), stop, False)
    if kind != NO_DECIMAL and end == stop:
        return _float32_kind(kind, value), stop, value
    negative = at < stop and text[at] == _MINUS
    word = at + np.uint64(negative or has_plus)
    if _spells(text, word, stop, b"nan") or _spells(text, at, stop, b"null"):
        return DECIDED, stop, np.nan
    if _spells(text, word, stop, b"inf") or _spells(text, word, stop, b"infinity"):
        return INFINITE, stop, -np.inf if negative else np.inf
    return MALFORMED, stop, 0.0


@exact_nonallocating
def _float32_kind(kind: int, value: float) -> int:
    if kind == CUT and _straddles(value):
        return UNDECIDED
    if abs(value) < INFINITE_FLOAT32:
        return DECIDED
    return INFINITE if INFINITE_FROM <= abs(value) < np.inf else TOO_LARGE


@exact_nonallocating
def _straddles(value: float) -> bool:
    """Return whether a float64 and the next one farther from 0 round to different float32."""
    return bool(np.float32(value) != np.float32(np.nextafter(value, np.copysign(np.inf, value))))


@exact_nonallocating
def _spells(text: Text, start: np.uint64, stop: np.uint64, word: Any) -> bool:
    if stop - start != np.uint64(len(word)):
        return False
    for offset in range(len(word)):  # noqa: SIM110 - numba compiles no generator expressions
        if (text[start + np.uint64(offset)] | _LOWER_CASE) != word[offset]:
            return False
    return True
