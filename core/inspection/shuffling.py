"""Shuffle values reproducibly on any number of threads."""

import numpy as np

from core.jit import exact
from core.losses.randomness import mix
from core.types import FloatArray, Int64Array


@exact
def shuffle(values: FloatArray | Int64Array, boundaries: Int64Array, seed: np.uint64, number: int) -> None:
    """Shuffle the values of each group in place (Fisher and Yates).

    Args:
        values: (n_values,).
        boundaries: (n_groups + 1,) offsets of the groups; values stay in their group.
        seed: The same seed and number give the same order.
        number: Index of the permutation.
    """
    key = mix(seed, number)
    half = np.uint64(32)
    for group in range(len(boundaries) - 1):
        start = boundaries[group]
        for index in range(boundaries[group + 1] - 1, start, -1):
            # The upper half of a random 64-bit word selects by multiplication; the bias is below n / 2^32.
            choices = np.uint64(index - start + 1)
            other = start + np.int64(((mix(key, index) >> half) * choices) >> half)
            values[index], values[other] = values[other], values[index]
