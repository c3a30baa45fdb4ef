"""Fit a linear scorer: scores, derivatives and steps in float64, without JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np

from core.jit import bare
from core.ranges import over_ranges
from core.scorers import NetworkScorer
from core.training.networks.checkpoint import Weights
from core.types import Float32Array, Float64Array

State = tuple[Weights, list[Any]]
# Kingma and Ba (2015), algorithm 1.
_FIRST_DECAY, _SECOND_DECAY, _EPSILON = 0.9, 0.999, 1e-8


class LinearDescent:
    """A linear scorer with its optimiser, which computes the steps of `Differentiation` in float64.

    Weights, gradients and moments are vectors of n_inputs + 1 numbers, the bias last.

    Args:
        scorer: Hyperparameters of the scorer.
        parameters: Initial weights, one layer.
        factors: Factors of the gradient, in the structure of the parameters.
    """

    def __init__(self, scorer: NetworkScorer, parameters: Weights, factors: Weights) -> None:
        self._scorer = scorer
        self._factors = _vector(**factors[0])
        self.restart(parameters)

    def restart(self, parameters: Weights) -> None:
        """Replace the weights and reset the state of the optimiser."""
        self._weights = _vector(**parameters[0])
        self._first = np.zeros_like(self._weights)
        self._second = np.zeros_like(self._weights)
        self._steps = 0

    def restore(self, parameters: Weights, state: Any) -> None:
        """Set the weights and the optimiser's state, given as its arrays."""
        self.restart(parameters)
        steps, *moments = state
        self._steps = int(steps)
        self._first, self._second = _vector(*moments[:2]), _vector(*moments[2:])

    def state(self) -> State:
        """Return the weights and the optimiser's state, which later steps replace but never modify."""
        first, second = _layer(self._first), _layer(self._second)
        return self.weights(), [np.int64(self._steps), *first.values(), *second.values()]

    @staticmethod
    def as_arrays(state: State) -> State:
        """Return a state unchanged: it consists of NumPy arrays already."""
        return state

    def weights(self) -> Weights:
        """Return the weights as NumPy arrays."""
        return [_layer(self._weights)]

    def score(self, inputs: Float32Array, _: int) -> Float64Array:
        """Return the scores, float64 (n_documents,), of inputs (n_documents, n_inputs)."""
        scores = np.empty(len(inputs))
        over_ranges(_scores, len(inputs), inputs, self._weights[:-1], self._weights[-1:], scores)
        return scores

    @np.errstate(over="ignore", invalid="ignore")  # the caller refuses scores that are not finite
    def step(
        self,
        inputs: Float32Array,
        size: int,
        loss: Callable[[Float64Array], tuple[float, Float32Array]],
        learning_rate: float,
        number: int,
    ) -> float:
        """Take one step on a batch and return its loss; see `Differentiation.step` for the arguments."""
        value, score_gradient = loss(self.score(inputs, size))
        gradient = np.zeros_like(self._weights)
        _add_products(inputs, score_gradient.astype(np.float64), gradient[:-1])
        gradient[-1] = score_gradient.sum(dtype=np.float64)
        moves = self._moves(self._clipped(gradient * self._factors))
        self._weights = self._weights - learning_rate * moves
        return value

    def _clipped(self, gradient: Float64Array) -> Float64Array:
        max_norm = self._scorer.gradient_clip
        if max_norm is None:
            return gradient
        norm = float(np.sqrt((gradient[:-1] ** 2).sum() + gradient[-1] ** 2))
        return gradient if norm < max_norm else gradient / norm * max_norm

    def _moves(self, gradient: Float64Array) -> Float64Array:
        scorer = self._scorer
        if scorer.optimizer == "adam":
            moves = self._adam(gradient)
        elif scorer.momentum:
            moves = self._first = gradient + scorer.momentum * self._first
        else:
            moves = gradient
        if scorer.weight_decay:
            moves = moves.copy()
            moves[:-1] += scorer.weight_decay * self._weights[:-1]
        return moves

    def _adam(self, gradient: Float64Array) -> Float64Array:
        self._steps += 1
        self._first = _FIRST_DECAY * self._first + (1.0 - _FIRST_DECAY) * gradient
        self._second = _SECOND_DECAY * self._second + (1.0 - _SECOND_DECAY) * gradient**2
        first_correction = 1.0 - _FIRST_DECAY**self._steps
        second_correction = 1.0 - _SECOND_DECAY**self._steps
        return (self._first / first_correction) / (np.sqrt(self._second / second_correction) + _EPSILON)


def _vector(weights: Any, bias: Any) -> Float64Array:
    return np.append(weights, bias).astype(np.float64)


def _layer(vector: Float64Array) -> dict[str, Float64Array]:
    return {"weights": vector[:-1, np.newaxis], "bias": vector[-1:]}


@bare
def _scores(
    first: int,
    last: int,
    inputs: Float32Array,
    weights: Float64Array,
    bias: Float64Array,
    scores: Float64Array,
) -> None:
    for i in range(first, last):
        total = bias[0]
        for j in range(len(weights)):
            total += inputs[i, j] * weights[j]
        scores[i] = total


@bare
def _add_products(inputs: Float32Array, score_gradient: Float64Array, gradient: Float64Array) -> None:
    """Add each document's inputs times its derivative, document by document."""
    for i in range(len(score_gradient)):
        for j in range(inputs.shape[1]):
            gradient[j] += score_gradient[i] * inputs[i, j]
