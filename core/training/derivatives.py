"""Sampling and rounding of a loss's derivatives before a tree is grown.

Every draw depends on the seed, the iteration and the position alone: neither the number of threads nor a
resumption changes it.
"""

import numpy as np
import numpy.typing as npt

from core.jit import exact
from core.losses.randomness import uniform
from core.training.hyperparameters import Hyperparameters
from core.training.sampling import (
    DOCUMENTS,
    GRADIENTS,
    HESSIANS,
    derived_seed,
    drawn_queries,
    uniform_numbers,
)
from core.types import Float32Array, Int64Array

_MANTISSA_BITS = 24  # of float32


class TreeDerivatives:
    """Gradients and hessians after sampling and rounding, as trees use them.

    Args:
        hyperparameters: `query_fraction`, `data_sample_strategy` and quantisation.
        query_boundaries: Query boundaries of the training data, or of a shard of consecutive queries.
        first_query: Position of the shard's first query in the whole training data.
        n_queries: Queries of the whole training data; None without shards.
    """

    def __init__(
        self,
        hyperparameters: Hyperparameters,
        query_boundaries: Int64Array,
        seed: int,
        *,
        first_query: int = 0,
        n_queries: int | None = None,
    ) -> None:
        self._hyperparameters = hyperparameters
        self._query_boundaries = query_boundaries
        self._seed = seed
        self._shard_queries = slice(first_query, first_query + len(query_boundaries) - 1)
        self._n_queries = self._shard_queries.stop if n_queries is None else n_queries

    def __call__(
        self, gradient: Float32Array, hessian: Float32Array, iteration: int
    ) -> tuple[Float32Array, Float32Array]:
        """Return the gradients and hessians for the tree of an iteration; the arguments are not changed."""
        hyperparameters = self._hyperparameters
        if hyperparameters.query_fraction < 1.0:
            is_drawn = self._in_drawn_queries(iteration)
            gradient, hessian = gradient * is_drawn, hessian * is_drawn
        full_trees = 1.0 / hyperparameters.learning_rate - 1.0  # they use all documents, as in LightGBM
        if hyperparameters.data_sample_strategy == "goss" and iteration > full_trees:
            factors = self._sampling_factors(gradient, hessian, iteration)
            gradient, hessian = gradient * factors, hessian * factors
        if hyperparameters.use_quantized_grad:
            return self._quantisable(gradient, hessian, iteration)
        return gradient, hessian

    def _in_drawn_queries(self, iteration: int) -> npt.NDArray[np.bool_]:
        """Return for each document whether its query is drawn."""
        # Draw from all queries, so that all shards together draw the same queries as one process does.
        drawn = drawn_queries(self._hyperparameters.query_fraction, self._n_queries, self._seed, iteration)
        return np.repeat(drawn[self._shard_queries], np.diff(self._query_boundaries))

    def _sampling_factors(
        self, gradient: Float32Array, hessian: Float32Array, iteration: int
    ) -> Float32Array:
        key = derived_seed(self._seed, DOCUMENTS, iteration)
        return goss_factors(
            np.abs(gradient * hessian), self._hyperparameters.top_rate, self._hyperparameters.other_rate, key
        )

    def _quantisable(
        self, gradient: Float32Array, hessian: Float32Array, iteration: int
    ) -> tuple[Float32Array, Float32Array]:
        """Round derivatives such that LightGBM's quantisation does not depend on the number of threads."""
        hyperparameters, seed = self._hyperparameters, self._seed
        if hyperparameters.quant_train_renew_leaf:
            return on_common_grid(gradient), on_common_grid(hessian)
        if not hyperparameters.stochastic_rounding:
            return gradient, hessian
        steps = hyperparameters.num_grad_quant_bins
        keys = [np.uint64(derived_seed(seed, purpose, iteration)) for purpose in (GRADIENTS, HESSIANS)]
        return rounded_at_random(gradient, steps // 2, keys[0]), rounded_at_random(hessian, steps, keys[1])


def goss_factors(sizes: Float32Array, top_rate: float, other_rate: float, key: int) -> Float32Array:
    """Return a factor for each document by gradient-based one-side sampling (Ke et al. 2017, algorithm 2).

    Documents of the largest sizes have factor 1. From the rest, `other_rate` of all documents are drawn with
    factor (n − top) / other, as in LightGBM; the remaining documents have factor 0.

    Args:
        sizes: (n_documents,) |gradient · hessian|.
        top_rate: Share of documents that are kept for their size.
        other_rate: Share of all documents that is drawn from the rest.
        key: Seed of the draw.
    """
    n = len(sizes)
    top, other = max(1, int(n * top_rate)), max(1, int(n * other_rate))
    is_rest = sizes < np.partition(sizes, n - top)[n - top]
    factors = np.where(is_rest, np.float32(0.0), np.float32(1.0))
    rest = np.flatnonzero(is_rest)
    if len(rest):
        numbers = uniform_numbers(np.uint64(key), n)[rest]
        count = min(other, len(rest))
        drawn = rest[numbers <= np.partition(numbers, count - 1)[count - 1]]
        factors[drawn] = np.float32((n - top) / other)
    return factors


def on_common_grid(values: Float32Array, largest: float | None = None) -> Float32Array:
    """Round to multiples of 2^-24 of the power of 2 above the largest magnitude.

    Float64 sums are then exact in any order.

    Args:
        values: (n,) values to round.
        largest: Largest magnitude, if several arrays share the grid; by default that of the values.
    """
    if largest is None:
        largest = float(np.abs(values).max(initial=0.0))
    step = np.exp2(np.frexp(largest)[1] - _MANTISSA_BITS)
    return np.asarray(np.rint(values / step) * step, np.float32)


@exact
def rounded_at_random(values: Float32Array, steps: int, key: int) -> Float32Array:
    """Round at random to a neighbouring multiple of 1/steps of the largest magnitude, without bias.

    LightGBM then rounds to the nearest multiple, which changes nothing: `stochastic_rounding` is off there.
    The largest magnitude stays unchanged, because LightGBM derives the step from it.
    """
    largest = np.float32(0.0)
    for value in values:
        largest = max(largest, abs(value))
    rounded = np.zeros_like(values)
    if largest == 0.0:
        return rounded
    step = np.float64(largest) / steps
    for i in range(len(values)):
        size = abs(values[i])
        multiple = min(np.floor(np.float64(size) / step + uniform(key, i)), np.float64(steps))
        if size == largest:
            multiple = np.float64(steps)
        rounded[i] = np.float32(multiple * step) if values[i] > 0.0 else np.float32(-multiple * step)
    return rounded
