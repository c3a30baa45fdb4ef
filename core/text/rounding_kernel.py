"""Decimal mantissa and power of ten to float64, correctly rounded (ties to even).

The algorithm of Eisel and Lemire (Lemire, "Number parsing at a gigabyte per second", 2021): multiply
the mantissa by a power of five in 128 bits. This precision is enough for every mantissa of 64 bits (Mushtak
and Lemire, "Fast number parsing without fallback", 2023).
"""

import numpy as np

from core.jit import exact_inlined, exact_nonallocating
from core.text.instructions import float64_of_bits, leading_zeros, upper_word
from core.types import UInt64Array

_MIN_POWER, _MAX_POWER = -342, 308  # beyond these powers, every mantissa of 64 bits gives 0 or infinity
_MIN_EXACT_POWER = -27  # 5**27 is the largest power of five in 64 bits
_WORD = 2**64

_ONE, _THREE = np.uint64(1), np.uint64(3)
_MANTISSA_BITS = np.uint64(52)
_INFINITE_EXPONENT = 0x7FF
_INFINITY = np.uint64(_INFINITE_EXPONENT << 52)
# Bits of the product's upper word below the mantissa and its rounding bit.
_SPARE = np.uint64(64 - 52 - 3)
_SPARE_BITS = np.uint64((1 << 9) - 1)


def _powers_of_five() -> UInt64Array:
    """Return (n, 2) upper and lower words of the leading 128 bits of each power."""
    words = []
    for power in range(_MIN_POWER, _MAX_POWER + 1):
        five = 5 ** abs(power)
        bits = five.bit_length()
        if power >= 0:
            leading = five << 128 >> bits
        elif power >= _MIN_EXACT_POWER:
            leading = (1 << (bits + 127)) // five + 1  # rounded up, so that no product is too small
        else:
            leading = (1 << (2 * bits + 128)) // five + 1 >> bits + 1
        words.append((leading // _WORD, leading % _WORD))
    return np.array(words, np.uint64)


_POWERS = _powers_of_five()


@exact_inlined
def nearest_float64(mantissa: np.uint64, power: int) -> float:
    """Return mantissa · 10^power, rounded once; infinity where it is beyond float64."""
    return float(float64_of_bits(_nearest_bits(mantissa, power)))


@exact_inlined
def _nearest_bits(mantissa: np.uint64, power: int) -> np.uint64:
    if mantissa == np.uint64(0) or power < _MIN_POWER:
        return np.uint64(0)
    if power > _MAX_POWER:
        return _INFINITY
    shift = np.uint64(leading_zeros(mantissa))
    shifted, five = mantissa << shift, _POWERS[power - _MIN_POWER]
    upper, lower = upper_word(shifted, five[0]), shifted * five[0]
    if upper & _SPARE_BITS == _SPARE_BITS:
        more = upper_word(shifted, five[1])
        lower += more
        upper += np.uint64(lower < more)
    top = upper >> np.uint64(63)
    dropped_bits = top + _SPARE
    rounded = upper >> dropped_bits
    # 217706 / 2**16 approximates log2(10), closely enough for all powers of the table.
    exponent = ((217706 * power) >> 16) + 63 + int(top) - int(shift) + 1023
    if exponent <= 0 or exponent >= _INFINITE_EXPONENT:
        return np.uint64(_beyond_normal(rounded, exponent))
    if lower <= _ONE and -4 <= power <= 23 and rounded & _THREE == _ONE and rounded << dropped_bits == upper:
        rounded -= _ONE  # a tie: round down to the even number
    rounded = (rounded + (rounded & _ONE)) >> _ONE
    # If rounding overflows the mantissa, the addition carries into the exponent, as it should.
    return np.uint64((np.uint64(exponent - 1) << _MANTISSA_BITS) + rounded)


@exact_nonallocating
def _beyond_normal(rounded: np.uint64, exponent: int) -> np.uint64:
    """Return the bits of a subnormal number, 0 or infinity. No decimal of 19 digits is a tie there."""
    if exponent > 0:
        return _INFINITY
    if exponent <= -63:
        return np.uint64(0)
    rounded >>= np.uint64(1 - exponent)
    return np.uint64((rounded + (rounded & _ONE)) >> _ONE)
