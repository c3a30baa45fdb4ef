"""Initial weights of a network."""

import itertools

import numpy as np
from numpy.typing import NDArray

from core.scorers import Mlp, NetworkScorer
from core.training.networks.checkpoint import Weights
from core.training.sampling import derived_seed, uniform_numbers
from core.types import Float32Array

_WEIGHTS = 102  # purpose of random choices, see `core.training.networks.batches`
_BLOCK_ROWS = 4_096


def drawn_weights(scorer: NetworkScorer, varies: NDArray[np.bool_], seed: int, restarts: int) -> Weights:
    """Draw weights uniformly from ±√(6 / n_inputs) (He et al., 2015), or ±√(6 / (n_inputs + n_outputs)).

    The first is for layers before `relu`, the second for all others (Glorot and Bengio, 2010). Weights of
    inputs that do not vary are 0, and `gradient_factors` keeps them at 0.

    Args:
        varies: bool (n_inputs,) whether an input varies over the training documents.
        restarts: Number of earlier draws.

    Returns:
        For each layer float32 `weights` (n_inputs, n_outputs) and `bias`, with `norm_scales` and
        `norm_shifts` where hidden layers are normalised.
    """
    is_relu = isinstance(scorer, Mlp) and scorer.activation == "relu"
    has_norms = isinstance(scorer, Mlp) and scorer.layer_norm
    sizes = (len(varies), *scorer.hidden_layers, 1)
    weights: Weights = []
    for number, (n_inputs, n_outputs) in enumerate(itertools.pairwise(sizes)):
        is_last = number == len(sizes) - 2
        bound = np.sqrt(6.0 / (n_inputs if is_relu and not is_last else n_inputs + n_outputs))
        key = np.uint64(derived_seed(seed, _WEIGHTS, restarts * 1_000 + number))
        drawn = uniform_numbers(key, n_inputs * n_outputs).reshape(n_inputs, n_outputs)
        layer = {
            "weights": (bound * (2.0 * drawn - 1.0)).astype(np.float32),
            "bias": np.zeros(n_outputs, np.float32),
        }
        if number == 0:
            layer["weights"][~varies] = 0.0
        if has_norms and not is_last:
            layer |= {
                "norm_scales": np.ones(n_outputs, np.float32),
                "norm_shifts": np.zeros(n_outputs, np.float32),
            }
        weights.append(layer)
    return weights


def gradient_factors(weights: Weights, varies: NDArray[np.bool_], *, is_shift_invariant: bool) -> Weights:
    """Return factors of the gradient: 1 for weights that are trained, 0 for weights that stay unchanged.

    Weights of inputs that do not vary stay unchanged, so that unseen values do not change a score. The last
    bias stays unchanged under a shift-invariant loss: its gradient is rounding noise, which Adam would scale
    to full steps.

    Args:
        weights: As `drawn_weights` returns them.
        varies: bool (n_inputs,) whether an input varies over the training documents.
        is_shift_invariant: Value of `Loss.is_shift_invariant`.

    Returns:
        For each layer and name, an array that broadcasts to the weights.
    """
    factors: Weights = [{name: np.ones(1, np.float32) for name in layer} for layer in weights]
    factors[0]["weights"] = varies[:, np.newaxis].astype(np.float32)
    if is_shift_invariant:
        factors[-1]["bias"] = np.zeros(1, np.float32)
    return factors


def varying_inputs(inputs: Float32Array) -> NDArray[np.bool_]:
    """Return whether each input varies over the documents, bool (n_inputs,)."""
    low, high = (np.full(inputs.shape[1], sign * np.inf, np.float32) for sign in (1, -1))
    for first in range(0, len(inputs), _BLOCK_ROWS):
        block = inputs[first : first + _BLOCK_ROWS]
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    varies: NDArray[np.bool_] = high > low
    return varies
