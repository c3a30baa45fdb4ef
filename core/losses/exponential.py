"""e^x for arrays, in loops that LLVM vectorises; `exp` of the C library would be one call per value."""

import numpy as np

from core.jit import exact_inlined
from core.types import Float64Array, Int64Array

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.6931471803691238  # the first 33 bits of ln 2, so that k · _LN2_HIGH is exact
_LN2_LOW = 1.9082149292705877e-10
_MANTISSA_BITS = 52
_BIAS = 1023


@exact_inlined
def exponentials(x: Float64Array, n: int, result: Float64Array, powers: Int64Array) -> None:
    """Fill `result[:n]` with e^x, to a few units in the last place for x in −700..0.

    x = k ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree 12, whose first missing
    term is below 2e-16; 2^k by writing its exponent bits. Outside the range the result is wrong, finite or
    infinite.

    Args:
        result: Output array.
        powers: Scratch, at least n entries.
    """
    for i in range(np.uint64(n)):
        k = np.floor(x[i] * _LOG2_E + 0.5)
        r = (x[i] - k * _LN2_HIGH) - k * _LN2_LOW
        p = 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        result[i] = p
        powers[i] = (np.int64(max(k, -1022.0)) + _BIAS) << _MANTISSA_BITS
    scales = powers.view(np.float64)
    for i in range(np.uint64(n)):
        result[i] *= scales[i]
