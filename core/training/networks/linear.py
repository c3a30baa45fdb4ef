"""Fit a linear scorer: scores, derivatives and steps in float64, without JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np

from core.jit import exact_nonallocating, nonallocating
from core.ranges import over_ranges
from core.scorers import NetworkScorer
from core.training.networks.checkpoint import Weights
from core.types import Float32Array, Float64Array

State = tuple[Weights, list[Any]]
# Kingma and Ba (2015), algorithm 1.
_FIRST_DECAY, _SECOND_DECAY, _EPSILON = 0.9, 0.999, 1e-8


class LinearDescent:
    """A linear scorer with its optimiser, which computes the steps of `Differentiation` in float64.

    Weights, gradients and moments are vectors of n_inputs + 1 numbers, the bias last. Steps modify them.

    Args:
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
        """Return copies of the weights and of the optimiser's state."""
        first, second = _layer(self._first), _layer(self._second)
        return self.weights(), [np.int64(self._steps), *first.values(), *second.values()]

    @staticmethod
    def as_arrays(state: State) -> State:
        """Return a state unchanged: it consists of NumPy arrays already."""
        return state

    def weights(self) -> Weights:
        """Return a copy of the weights as NumPy arrays."""
        return [_layer(self._weights)]

    def score(self, inputs: Float32Array, _: int) -> Float64Array:
        """Return the scores, float64 (n_documents,), of inputs (n_documents, n_inputs)."""
        scores = np.empty(len(inputs))
        over_ranges(_scores, len(inputs), inputs, self._weights[:-1], self._weights[-1:], scores)
        return scores

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
        gradient = self._clipped(gradient * self._factors)
        if self._scorer.optimizer == "adam":
            self._steps += 1
            corrections = 1.0 - _FIRST_DECAY**self._steps, 1.0 - _SECOND_DECAY**self._steps
            moments = self._first, self._second
            _adam(self._weights, *moments, gradient, *corrections, learning_rate, self._scorer.weight_decay)
        else:
            self._descend(gradient, learning_rate)
        return value

    def _clipped(self, gradient: Float64Array) -> Float64Array:
        max_norm = self._scorer.gradient_clip
        if max_norm is None:
            return gradient
        norm = float(np.sqrt((gradient[:-1] ** 2).sum() + gradient[-1] ** 2))
        return gradient if norm < max_norm else gradient / norm * max_norm

    def _descend(self, gradient: Float64Array, learning_rate: float) -> None:
        scorer = self._scorer
        moves = gradient
        if scorer.momentum:
            self._first[:] = moves = gradient + scorer.momentum * self._first
        if scorer.weight_decay:
            moves = moves.copy()
            moves[:-1] += scorer.weight_decay * self._weights[:-1]
        self._weights -= learning_rate * moves


def _vector(weights: Any, bias: Any) -> Float64Array:
    return np.append(weights, bias).astype(np.float64)


def _layer(vector: Float64Array) -> dict[str, Float64Array]:
    return {"weights": vector[:-1, np.newaxis].copy(), "bias": vector[-1:].copy()}


@nonallocating
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


@nonallocating
def _add_products(inputs: Float32Array, score_gradient: Float64Array, gradient: Float64Array) -> None:
    """Add each document's inputs times its derivative, document by document."""
    for i in range(len(score_gradient)):
        for j in range(inputs.shape[1]):
            gradient[j] += score_gradient[i] * inputs[i, j]


@exact_nonallocating
def _adam(
    weights: Float64Array,
    first: Float64Array,
    second: Float64Array,
    gradient: Float64Array,
    first_correction: float,
    second_correction: float,
    learning_rate: float,
    weight_decay: float,
) -> None:
    """Update the weights and both moments in place; the bias does not decay."""
    bias = len(weights) - 1
    for i in range(len(weights)):
        first[i] = _FIRST_DECAY * first[i] + (1.0 - _FIRST_DECAY) * gradient[i]
        second[i] = _SECOND_DECAY * second[i] + (1.0 - _SECOND_DECAY) * (gradient[i] * gradient[i])
        move = (first[i] / first_correction) / (np.sqrt(second[i] / second_correction) + _EPSILON)
        if weight_decay != 0.0 and i < bias:
            move += weight_decay * weights[i]
        weights[i] -= learning_rate * move
