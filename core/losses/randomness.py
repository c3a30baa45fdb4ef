"""Random numbers keyed by (seed, iteration, query, …): the same on any number of threads."""

from typing import Any

import numpy as np

from core.jit import bare, exact
from core.parameters import parameter
from core.types import Int64Array


def seed_parameter(description: str) -> Any:
    """Declare the seed of a loss that draws random numbers.

    None stands for the seed of the job, see `core.losses.seeded`, and for 0 where there is no job.
    """
    return parameter(None, f"{description}; the job's `seed` when null.", minimum=0, maximum=2**31 - 1)


@exact
def mix(key: int, number: int) -> int:
    """Combine a key with a number into a new 64-bit key (SplitMix64, Steele, Lea and Flood 2014)."""
    z = np.uint64(key) ^ (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))  # type: ignore[return-value]


@bare
def uniform(key: int, number: int) -> float:
    """Draw from the open interval (0, 1)."""
    return (np.float64(mix(key, number) >> np.uint64(11)) + 0.5) / 9007199254740992.0


@bare
def normal(key: int, number: int) -> float:
    """Draw from the standard normal distribution (Box and Muller 1958)."""
    radius = np.sqrt(-2.0 * np.log(uniform(key, 2 * number)))
    return radius * np.cos(2.0 * np.pi * uniform(key, 2 * number + 1))  # type: ignore[no-any-return]


@bare
def shuffle(values: Int64Array, key: int) -> None:
    """Put values into an order drawn from all of them (Fisher and Yates 1938)."""
    for i in range(len(values) - 1, 0, -1):
        j = np.int64(mix(key, i) % np.uint64(i + 1))
        values[i], values[j] = values[j], values[i]
