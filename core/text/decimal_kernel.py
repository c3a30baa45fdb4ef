"""Decimal numbers of JSON and of LETOR text to float64."""

import numpy as np

from core.jit import exact_inlined, exact_nonallocating
from core.text.bytes_kernel import (
    Text,
    are_digits,
    count_digits,
    digits_value,
    eight_digits_value,
    load_eight,
)
from core.text.instructions import negated_if
from core.text.rounding_kernel import nearest_float64

# Kinds of results: no number; a number of up to 19 digits without leading zeros; a longer number.
MALFORMED, ROUNDED, CUT = range(3)

_MINUS, _PLUS, _POINT, _ZERO, _SMALL_E = (ord(character) for character in "-+.0e")
_LOWER_CASE = 32  # the bit that distinguishes lower case from upper case
_MAX_DIGITS = np.uint64(19)  # every number of 19 digits fits in 64 bits
_EXPONENT_LIMIT = 10**15  # more than the digits of any text can offset, and far from overflow
_NOTHING, _ONE, _SEVEN, _EIGHT, _TEN = (np.uint64(number) for number in (0, 1, 7, 8, 10))
_HUNDRED_MILLION = np.uint64(10**8)
_WHOLE_TENS = 10 ** np.arange(9, dtype=np.uint64)
_SHORT_DIGITS = np.uint64(15)  # every number of 15 digits is below 2**53, exact in float64
_TENS = 10.0 ** np.arange(16)


@exact_inlined
def read_decimal(text: Text, at: np.uint64, size: np.uint64, json: bool) -> tuple[int, np.uint64, float]:
    """Read the number at a position.

    Args:
        text: ASCII, or UTF-8.
        size: End of the text; for JSON, after at least eight zero bytes of padding.
        json: Whether to accept only JSON: no leading zeros, and digits on both sides of a point. Otherwise
            accept the numbers of Python's `float`, except for a leading +, words and underscores.

    Returns:
        `MALFORMED`, `ROUNDED` or `CUT`; the position after the number; and its value, infinity beyond
        float64. For `CUT`, the value is that of the first 19 digits: the correctly rounded number is the
        value, or the next float64 farther from 0.
    """
    negative, start, at, mantissa, digits, places = _scan(text, at, size, json)
    if digits == 0:
        return MALFORMED, at, 0.0
    has_exponent = _inside(at, size, json) and text[at] | _LOWER_CASE == _SMALL_E
    if digits <= _SHORT_DIGITS and not has_exponent:
        return ROUNDED, at, float(negated_if(_quotient(mantissa, places), negative))
    kind, power = ROUNDED, -np.int64(places)
    if digits > _MAX_DIGITS:
        kind, mantissa, cut = _first_digits(text, start, at)
        power += cut
    if has_exponent:
        first = at + _ONE
        at, exponent = _exponent(text, first, size)
        if at == first:
            return MALFORMED, at, 0.0
        power += exponent
    return kind, at, float(negated_if(nearest_float64(mantissa, power), negative))


@exact_inlined
def read_short_decimal(text: Text, at: np.uint64, size: np.uint64) -> tuple[bool, np.uint64, float]:
    """Read up to 15 digits with an optional sign and point, in a few instructions.

    Returns:
        Whether the digits were read; the position after the digits, where an exponent may follow; the value.
    """
    negative, _, at, mantissa, digits, places = _scan(text, at, size, False)
    if digits - _ONE >= _SHORT_DIGITS:
        return False, at, 0.0
    return True, at, float(negated_if(_quotient(mantissa, places), negative))


@exact_inlined
def _quotient(mantissa: np.uint64, places: np.uint64) -> float:
    # Both are exact in float64, so that the quotient is rounded once (Clinger 1990).
    return float(np.float64(mantissa) / _TENS[places])


@exact_inlined
def _scan(
    text: Text, at: np.uint64, size: np.uint64, json: bool
) -> tuple[bool, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """Read an optional sign, digits and an optional point.

    Returns:
        Whether there is a minus; start and end of the digits; their value modulo 2**64; the number of digits,
        0 without a number; and the number of digits after the point.
    """
    negative = _inside(at, size, json) and text[at] == _MINUS
    start = at
    if json:  # no branch: random signs would be mispredicted
        start = at + np.uint64(negative)
    elif negative:  # rare in LETOR text
        start = at + _ONE
    at, mantissa = _whole(text, start, size, json)
    digits, places = at - start, _NOTHING
    if json and (digits == 0 or (digits > 1 and text[start] == _ZERO)):
        return negative, start, at, mantissa, _NOTHING, places
    if _inside(at, size, json) and text[at] == _POINT:
        point = at + _ONE
        at, mantissa = _fraction(text, point, size, mantissa, json)
        places = at - point
        digits = _NOTHING if json and places == 0 else digits + places
    return negative, start, at, mantissa, digits, places


@exact_inlined
def _inside(at: np.uint64, size: np.uint64, json: bool) -> bool:
    return bool(json or at < size)  # the zero bytes after JSON end every loop


@exact_inlined
def _is_digit(byte: int) -> bool:
    return bool(np.uint64(byte) - np.uint64(_ZERO) < _TEN)


@exact_inlined
def _whole(text: Text, at: np.uint64, size: np.uint64, json: bool) -> tuple[np.uint64, np.uint64]:
    # Most whole parts have one to three digits, too few to read eight bytes at a time.
    mantissa = _NOTHING
    while _inside(at, size, json) and _is_digit(text[at]):
        mantissa = mantissa * _TEN + (np.uint64(text[at]) - np.uint64(_ZERO))
        at += _ONE
    return at, mantissa


@exact_inlined
def _fraction(
    text: Text, at: np.uint64, size: np.uint64, mantissa: np.uint64, json: bool
) -> tuple[np.uint64, np.uint64]:
    while _inside(at + _SEVEN, size, json):
        word = load_eight(text, at)
        if not are_digits(word):
            run = count_digits(word)
            return at + run, mantissa * _WHOLE_TENS[run] + digits_value(word, run)
        mantissa = mantissa * _HUNDRED_MILLION + eight_digits_value(word)
        at += _EIGHT
    while _inside(at, size, json) and _is_digit(text[at]):
        mantissa = mantissa * _TEN + (np.uint64(text[at]) - np.uint64(_ZERO))
        at += _ONE
    return at, mantissa


@exact_nonallocating
def _first_digits(text: Text, at: np.uint64, stop: np.uint64) -> tuple[int, np.uint64, int]:
    """Read the first 19 digits after leading zeros; also return the number of digits after these."""
    mantissa, n_digits, cut = _NOTHING, _NOTHING, 0
    while at < stop:
        if text[at] != _POINT:
            if n_digits < _MAX_DIGITS:
                mantissa = mantissa * _TEN + (np.uint64(text[at]) - np.uint64(_ZERO))
                n_digits += np.uint64(mantissa > _NOTHING)
            else:
                cut += 1
        at += _ONE
    return CUT if cut else ROUNDED, mantissa, cut


@exact_nonallocating
def _exponent(text: Text, at: np.uint64, size: np.uint64) -> tuple[np.uint64, int]:
    """Read an exponent with its sign; return the given position if it has no digits."""
    first, negative = at, False
    if at < size and (text[at] == _MINUS or text[at] == _PLUS):
        negative = text[at] == _MINUS
        at += _ONE
    start, exponent = at, 0
    while at < size and _is_digit(text[at]):
        exponent = min(exponent * 10 + int(text[at]) - _ZERO, _EXPONENT_LIMIT)
        at += _ONE
    return at if at > start else first, -exponent if negative else exponent
