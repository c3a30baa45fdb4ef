"""Random numbers keyed by (seed, iteration, query, …): the same on any number of threads."""

from typing import Any

import numpy as np

from core.jit import exact_inlined, exact_nonallocating, nonallocating
from core.parameters import parameter
from core.types import Float64Array, Int64Array

_LN2 = 0.6931471805599453
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # √½ as a float64
_MANTISSA_BITS = 52
_BELOW_1 = 1.0 - 2.0**-53


def seed_parameter(description: str) -> Any:
    """Declare the seed of a loss that draws random numbers.

    None means the seed of the job, see `core.losses.seeded`, and 0 where there is no job.
    """
    return parameter(None, f"{description}; the job's `seed` when null.", minimum=0, maximum=2**31 - 1)


@exact_inlined
def mix(key: int, number: int) -> int:
    """Combine a key with a number into a new 64-bit key (SplitMix64, Steele, Lea and Flood 2014)."""
    z = np.uint64(key) ^ (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))  # type: ignore[return-value]


@exact_inlined
def uniform(key: int, number: int) -> float:
    """Draw from the open interval (0, 1)."""
    # The largest number would be rounded up to 1.
    return min((np.float64(mix(key, number) >> np.uint64(11)) + 0.5) / 9007199254740992.0, _BELOW_1)


@exact_nonallocating
def fill_normal(key: int, n: int, result: Float64Array, bits: Int64Array) -> None:
    """Draw from the standard normal distribution (Box and Muller 1958), in loops that LLVM vectorises.

    With h = ⌈n / 2⌉, the i-th and the (h + i)-th are √(−2 ln u) times cos 2πv and sin 2πv to 1e-14, u and v
    the uniform numbers 2i and 2i + 1 of the key. For u = 2^e m with m in √½..√2, ln u is e ln 2 +
    2 artanh((m − 1) / (m + 1)); for x = π (v − ½), cos 2πv is 2 sin² x − 1 and sin 2πv is −2 sin x cos x. All
    are summed by their series until below 1e-15.

    Args:
        key: Key of the random numbers.
        result: Output array.
        bits: Scratch, at least n entries.
    """
    words, mantissas = result.view(np.int64), bits.view(np.float64)
    half = np.uint64((n + 1) // 2)
    for i in range(half):
        result[i] = uniform(key, np.uint64(2) * i)
    for i in range(half):
        exponent = (words[i] - _SQRT_HALF_BITS) >> _MANTISSA_BITS
        bits[i] = words[i] - (exponent << _MANTISSA_BITS)
        result[i] = np.float64(exponent)
    for i in range(half):
        s = (mantissas[i] - 1.0) / (mantissas[i] + 1.0)
        z = s * s
        p = 1.0 / 21.0
        p = p * z + 1.0 / 19.0
        p = p * z + 1.0 / 17.0
        p = p * z + 1.0 / 15.0
        p = p * z + 1.0 / 13.0
        p = p * z + 1.0 / 11.0
        p = p * z + 1.0 / 9.0
        p = p * z + 1.0 / 7.0
        p = p * z + 1.0 / 5.0
        p = p * z + 1.0 / 3.0
        p = p * z + 1.0
        result[i] = np.sqrt(-2.0 * (result[i] * _LN2 + 2.0 * s * p))
    for i in range(half):
        x = np.pi * (uniform(key, np.uint64(2) * i + np.uint64(1)) - 0.5)
        z = x * x
        p = -1.0 / 121645100408832000.0
        p = p * z + 1.0 / 355687428096000.0
        p = p * z - 1.0 / 1307674368000.0
        p = p * z + 1.0 / 6227020800.0
        p = p * z - 1.0 / 39916800.0
        p = p * z + 1.0 / 362880.0
        p = p * z - 1.0 / 5040.0
        p = p * z + 1.0 / 120.0
        p = p * z - 1.0 / 6.0
        p = p * z + 1.0
        q = 1.0 / 2432902008176640000.0
        q = q * z - 1.0 / 6402373705728000.0
        q = q * z + 1.0 / 20922789888000.0
        q = q * z - 1.0 / 87178291200.0
        q = q * z + 1.0 / 479001600.0
        q = q * z - 1.0 / 3628800.0
        q = q * z + 1.0 / 40320.0
        q = q * z - 1.0 / 720.0
        q = q * z + 1.0 / 24.0
        q = q * z - 0.5
        q = q * z + 1.0
        sine = x * p
        mantissas[i] = -2.0 * result[i] * sine * q
        result[i] *= 2.0 * sine * sine - 1.0
    for i in range(np.uint64(n) - half):
        result[half + i] = mantissas[i]


@exact_nonallocating
def fill_gumbel(key: int, n: int, result: Float64Array) -> None:
    """Draw from the standard Gumbel distribution, −ln(−ln u).

    Ranking scores with this noise added draws from their Plackett–Luce model (Yellott 1977, theorem 5).

    Args:
        key: Key of the random numbers.
        result: Output array.
    """
    for i in range(np.uint64(n)):
        result[i] = -np.log(-np.log(uniform(key, i)))


@nonallocating
def shuffle(values: Int64Array, key: int) -> None:
    """Shuffle values (Fisher and Yates 1938)."""
    for i in range(len(values) - 1, 0, -1):
        j = np.int64(mix(key, i) % np.uint64(i + 1))
        values[i], values[j] = values[j], values[i]
