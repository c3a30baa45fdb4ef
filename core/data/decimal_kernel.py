"""Decimal text to float32, bit for bit as `numpy.float32(float(text))`.

Most numbers are decided here. The rare ones that lie too near to the middle of two float32 values are
reported as `UNDECIDED` and left to Python's own correctly rounded `float`.
"""

from typing import Any

import numpy as np

from core.data.text_kernel import Text
from core.jit import exact_bare

DECIDED, UNDECIDED, NOT_A_NUMBER, INFINITE, TOO_LARGE, MALFORMED = range(6)

_DIGITS_KEPT = 18  # 10**18 fits in int64
_ALWAYS_ZERO = -70  # 10**18 * 10**-70 is far below half of float32's smallest, 2**-150 = 7e-46
_ALWAYS_TOO_LARGE = 40  # 10**40 is above float32's largest, 3.4e38
_EXPONENT_CLAMP = 10**15  # above any digit count that a file can hold, so that adding never overflows
POWERS = np.array([float(f"1e{exponent}") for exponent in range(-_ALWAYS_ZERO + 1)])
_EXACT_MANTISSA = 2**53
_EXACT_EXPONENT = 22  # 10**22 is float64's largest exact power of ten
# Mantissa, power and their product each round once, and cut digits add 1e-17: 2**-51 in all, doubled here.
_BELOW = 1.0 - 2.0**-50
_ABOVE = 1.0 + 2.0**-50


@exact_bare
def parse_decimal(text: Text, start: int, stop: int) -> tuple[int, float]:
    """Read the number in `text[start:stop]`.

    Returns:
        One of the kinds above, and the value as a float64 that rounds to the right float32 where the kind is
        `DECIDED`, or lies very near to the number where it is `UNDECIDED`.
    """
    at = start
    negative = False
    if at < stop and (text[at] == 43 or text[at] == 45):
        negative = text[at] == 45
        at += 1
    if at < stop and text[at] > 57:
        return _word(text, at, stop), np.nan
    read, mantissa, exponent = _scan(text, at, stop)
    if not read:
        return MALFORMED, 0.0
    kind, value = _rounded(mantissa, exponent)
    return kind, -value if negative else value


@exact_bare
def _scan(text: Text, start: int, stop: int) -> tuple[bool, int, int]:
    whole, mantissa, kept, cut = _digits(text, start, stop, 0, 0)
    exponent = cut
    digits = whole - start
    at = whole
    if at < stop and text[at] == 46:
        at, mantissa, kept, cut = _digits(text, whole + 1, stop, mantissa, kept)
        exponent -= at - whole - 1 - cut
        digits += at - whole - 1
    if digits == 0:
        return False, 0, 0
    if at < stop and (text[at] == 69 or text[at] == 101):
        at, written = _exponent(text, at + 1, stop)
        exponent += written
    return at == stop, mantissa, exponent


@exact_bare
def _digits(text: Text, at: int, stop: int, mantissa: int, kept: int) -> tuple[int, int, int, int]:
    while mantissa == 0 and at < stop and text[at] == 48:
        at += 1
    first = at
    full = min(stop, at + _DIGITS_KEPT - kept)
    while at < full and 48 <= text[at] <= 57:
        mantissa = mantissa * 10 + (int(text[at]) - 48)
        at += 1
    kept += at - first
    first = at
    while at < stop and 48 <= text[at] <= 57:
        at += 1
    return at, mantissa, kept, at - first


@exact_bare
def _exponent(text: Text, at: int, stop: int) -> tuple[int, int]:
    negative = False
    if at < stop and (text[at] == 43 or text[at] == 45):
        negative = text[at] == 45
        at += 1
    if at == stop:
        return -1, 0  # an exponent without digits: no position equals -1, so the number is malformed
    exponent = 0
    while at < stop and 48 <= text[at] <= 57:
        exponent = min(exponent * 10 + (int(text[at]) - 48), _EXPONENT_CLAMP)
        at += 1
    return at, -exponent if negative else exponent


@exact_bare
def _rounded(mantissa: int, exponent: int) -> tuple[int, float]:
    if mantissa == 0 or exponent < _ALWAYS_ZERO:
        return DECIDED, 0.0
    if exponent > _ALWAYS_TOO_LARGE:
        return TOO_LARGE, np.inf
    power = POWERS[abs(exponent)]
    value = mantissa / power if exponent < 0 else mantissa * power
    if mantissa <= _EXACT_MANTISSA and abs(exponent) <= _EXACT_EXPONENT:
        return DECIDED, value
    # Rounding is monotone: if both ends of the error interval agree, so does everything between them.
    low = np.float32(value * _BELOW)
    if low != np.float32(value * _ABOVE):
        return UNDECIDED, value
    return (TOO_LARGE if np.isinf(low) else DECIDED), value


@exact_bare
def _word(text: Text, start: int, stop: int) -> int:
    if _spells(text, start, stop, b"nan"):
        return NOT_A_NUMBER
    if _spells(text, start, stop, b"inf") or _spells(text, start, stop, b"infinity"):
        return INFINITE
    return MALFORMED


@exact_bare
def _spells(text: Text, start: int, stop: int, word: Any) -> bool:
    if stop - start != len(word):
        return False
    for offset in range(len(word)):  # noqa: SIM110 - numba compiles no generator expressions
        if (text[start + offset] | 32) != word[offset]:  # 32 is what lower case differs by
            return False
    return True
