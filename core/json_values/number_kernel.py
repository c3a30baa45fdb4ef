"""JSON's numbers to float64, correctly rounded, for texts with a hundred thousand of them.

The algorithm of Eisel and Lemire (Lemire, "Number parsing at a gigabyte per second", 2021): the decimal
mantissa times a power of five of 128 bits, which decides all but the rarest numbers of up to 19 digits.
"""

import numpy as np

from core.jit import exact_inlined
from core.json_values.words import leading_zeros, upper_word
from core.types import UInt8Array, UInt64Array

LEAVE = -1  # what is returned instead of a position where the text is left to a general parser
NAN = np.uint64(0x7FF8000000000000)  # its bits

_MOST_DIGITS = 19  # fit in 64 bits
_LEAST_POWER, _MOST_POWER = -342, 308
_EXACT_POWERS = (-27, 55)  # whose product with a word is never too short to decide by
_WORD = 2**64
_EXPONENT_LIMIT = 10**15  # beyond the digits of any text, which count against it, and far from overflow

_MINUS, _PLUS, _POINT, _ZERO, _NINE, _SMALL_E, _LARGE_E = (ord(character) for character in "-+.09eE")
_NULL = b"null"
_SIGN = np.uint64(1 << 63)
_ALL = np.uint64(2**64 - 1)
_NOTHING, _ONE, _THREE, _EIGHT, _TEN = (np.uint64(number) for number in (0, 1, 3, 8, 10))
_HUNDRED_MILLION = np.uint64(100_000_000)
_UPPER_HALVES = np.uint64(0xF0F0F0F0F0F0F0F0)
_MANTISSA_BITS = 52
_INFINITE_EXPONENT = 0x7FF
_UNDECIDED = _ALL  # a NaN that no number has for its bits
# Of the product's upper word: bits below the mantissa and the one that rounds it.
_SPARE = np.uint64(64 - _MANTISSA_BITS - 3)
_SPARE_BITS = np.uint64((1 << 9) - 1)


def _powers_of_five() -> UInt64Array:
    """Return (n, 2) upper and lower words of the leading 128 bits of each power."""
    words = []
    for power in range(_LEAST_POWER, _MOST_POWER + 1):
        five = 5 ** abs(power)
        bits = five.bit_length()
        if power >= 0:
            leading = five << 128 >> bits
        elif power >= _EXACT_POWERS[0]:
            leading = (1 << (bits + 127)) // five + 1  # the next one above, so that a product is never short
        else:
            leading = (1 << (2 * bits + 128)) // five + 1 >> bits + 1
        words.append((leading // _WORD, leading % _WORD))
    return np.array(words, np.uint64)


POWERS = _powers_of_five()


@exact_inlined
def read_value(text: UInt8Array, words: UInt64Array, at: int) -> tuple[int, np.uint64]:
    """Read a number or `null` at a position.

    Args:
        text: JSON, and eight bytes of 0 or more.
        words: The same memory, the lowest byte of a word first.
        at: Of the first character.

    Returns:
        The position behind it, or `LEAVE` where it is neither or cannot be decided here; and the bits of the
        float64, NaN for `null`.
    """
    if text[at] == _NULL[0]:
        return _null_end(text, at), NAN
    negative = text[at] == _MINUS
    start = at + int(negative)
    at, mantissa = _digits(text, words, start, _NOTHING)
    digits, exponent = at - start, 0
    if digits == 0 or (digits > 1 and text[start] == _ZERO):
        return LEAVE, NAN
    if text[at] == _POINT:
        point = at + 1
        at, mantissa = _digits(text, words, point, mantissa)
        exponent = point - at
        digits -= exponent
        if exponent == 0:
            return LEAVE, NAN
    if digits > _MOST_DIGITS and digits - _leading_zero_digits(text, start) > _MOST_DIGITS:
        return LEAVE, NAN
    if text[at] == _SMALL_E or text[at] == _LARGE_E:
        at, written = _exponent(text, at + 1)
        exponent += written
    bits = _rounded(mantissa, exponent)
    if bits == _UNDECIDED:
        return LEAVE, NAN
    return at, bits | _SIGN if negative else bits


@exact_inlined
def _null_end(text: UInt8Array, at: int) -> int:
    for offset in range(1, len(_NULL)):
        if text[at + offset] != _NULL[offset]:
            return LEAVE
    return at + len(_NULL)


@exact_inlined
def _digits(text: UInt8Array, words: UInt64Array, at: int, mantissa: np.uint64) -> tuple[int, np.uint64]:
    place = np.uint64(at)  # for a position below 0 is another one, which has to be asked for each time
    eight = eight_bytes(words, at)
    while _are_digits(eight):
        mantissa = mantissa * _HUNDRED_MILLION + _of_digits(eight)
        place += _EIGHT
        eight = eight_bytes(words, place)
    while _ZERO <= text[place] <= _NINE:
        mantissa = mantissa * _TEN + np.uint64(text[place] - _ZERO)
        place += _ONE
    return int(np.int64(place)), mantissa


@exact_inlined
def eight_bytes(words: UInt64Array, at: int) -> np.uint64:
    """Return the bytes from a position on, the first one lowest."""
    word, bits = np.uint64(at) >> _THREE, (np.uint64(at) & np.uint64(7)) << _THREE
    # Shifted twice, for a word is not shifted by all of its bits at once.
    return np.uint64(words[word] >> bits | (words[word + _ONE] << _ONE) << (np.uint64(63) - bits))


@exact_inlined
def _are_digits(eight: np.uint64) -> bool:
    above = (eight + np.uint64(0x0606060606060606)) & _UPPER_HALVES
    return bool((eight & _UPPER_HALVES) | (above >> np.uint64(4)) == np.uint64(0x3333333333333333))


@exact_inlined
def _of_digits(eight: np.uint64) -> np.uint64:
    """Return the number that eight digits mean: pairs of them, then pairs of pairs."""
    digits = eight - np.uint64(0x3030303030303030)
    pairs = digits * _TEN + (digits >> np.uint64(8))
    mask = np.uint64(0x000000FF000000FF)
    first = (pairs & mask) * np.uint64(100 + (1_000_000 << 32))
    second = ((pairs >> np.uint64(16)) & mask) * np.uint64(1 + (10_000 << 32))
    return (first + second) >> np.uint64(32)


@exact_inlined
def _leading_zero_digits(text: UInt8Array, at: int) -> int:
    zeros = 0
    while text[at] == _ZERO or text[at] == _POINT:
        zeros += int(text[at] == _ZERO)
        at += 1
    return zeros


@exact_inlined
def _exponent(text: UInt8Array, at: int) -> tuple[int, int]:
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    start, exponent = at, 0
    while _ZERO <= text[at] <= _NINE:
        exponent = min(exponent * 10 + int(text[at] - _ZERO), _EXPONENT_LIMIT)
        at += 1
    return at if at > start else LEAVE, -exponent if negative else exponent


@exact_inlined
def _rounded(mantissa: np.uint64, power: int) -> np.uint64:
    if mantissa == _NOTHING or power < _LEAST_POWER:
        return _NOTHING
    if power > _MOST_POWER:
        return _UNDECIDED
    shift = np.uint64(leading_zeros(mantissa))
    shifted, five = mantissa << shift, POWERS[power - _LEAST_POWER]
    upper, lower = upper_word(shifted, five[0]), shifted * five[0]
    if upper & _SPARE_BITS == _SPARE_BITS:
        more = upper_word(shifted, five[1])
        lower += more
        upper += np.uint64(lower < more)
        if lower == _ALL and not _EXACT_POWERS[0] <= power <= _EXACT_POWERS[1]:
            return _UNDECIDED
    top = upper >> np.uint64(63)
    kept = top + _SPARE
    rounded = upper >> kept
    # 217706 / 2**16 is the logarithm of 10 to the base 2, for all powers that there are.
    exponent = ((217706 * power) >> 16) + 63 + int(top) - int(shift) + 1023
    if exponent <= 0 or exponent >= _INFINITE_EXPONENT - 1:
        return _UNDECIDED  # below the normal numbers, or beyond all: rare enough for the general parser
    if lower <= _ONE and -4 <= power <= 23 and rounded & _THREE == _ONE and rounded << kept == upper:
        rounded -= _ONE  # exactly between two numbers, of which the even one counts
    rounded = (rounded + (rounded & _ONE)) >> _ONE
    # A mantissa that overflows has carried into the exponent, where it belongs.
    return np.uint64((np.uint64(exponent - 1) << np.uint64(_MANTISSA_BITS)) + rounded)
