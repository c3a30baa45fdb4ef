"""Fit a linear scorer: scores, derivatives and steps in float64, without JAX."""

from collections.abc import Callable, Mapping
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

    Args:
        scorer: Hyperparameters of the scorer.
        parameters: Initial weights, one layer.
        factors: Factors of the gradient, in the structure of the parameters.
    """

    def __init__(self, scorer: NetworkScorer, parameters: Weights, factors: Weights) -> None:
        self._scorer = scorer
        self._factors = {name: np.asarray(each, np.float64) for name, each in factors[0].items()}
        self.restart(parameters)

    def restart(self, parameters: Weights) -> None:
        """Replace the weights and reset the state of the optimiser."""
        self._layer = {name: np.asarray(each, np.float64) for name, each in parameters[0].items()}
        self._first = {name: np.zeros_like(each) for name, each in self._layer.items()}
        self._second = {name: np.zeros_like(each) for name, each in self._layer.items()}
        self._steps = 0

    def restore(self, parameters: Weights, state: Any) -> None:
        """Set the weights and the optimiser's state, given as its arrays."""
        self.restart(parameters)
        steps, *moments = state
        self._steps = int(steps)
        names = list(self._layer)
        self._first = dict(zip(names, moments[: len(names)], strict=True))
        self._second = dict(zip(names, moments[len(names) :], strict=True))

    def state(self) -> State:
        """Return the weights and the optimiser's state, which later steps replace but never modify."""
        moments = [*self._first.values(), *self._second.values()]
        return [dict(self._layer)], [np.int64(self._steps), *moments]

    @staticmethod
    def as_arrays(state: State) -> State:
        """Return a state unchanged: it consists of NumPy arrays already."""
        return state

    def weights(self) -> Weights:
        """Return the weights as NumPy arrays."""
        return self.state()[0]

    def score(self, inputs: Float32Array, _: int) -> Float64Array:
        """Return the scores, float64 (n_documents,), of inputs (n_documents, n_inputs)."""
        scores = np.empty(len(inputs))
        weights, bias = self._layer["weights"].ravel(), self._layer["bias"]
        over_ranges(_scores, len(inputs), inputs, weights, bias, scores)
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
        weight_gradient = np.zeros(inputs.shape[1])
        _add_products(inputs, score_gradient.astype(np.float64), weight_gradient)
        gradient = {
            "weights": weight_gradient[:, np.newaxis],
            "bias": np.array([score_gradient.sum(dtype=np.float64)]),
        }
        gradient = {name: each * self._factors[name] for name, each in gradient.items()}
        moves = self._moves(self._clipped(gradient))
        self._layer = {name: each - learning_rate * moves[name] for name, each in self._layer.items()}
        return value

    def _clipped(self, gradient: dict[str, Float64Array]) -> dict[str, Float64Array]:
        max_norm = self._scorer.gradient_clip
        if max_norm is None:
            return gradient
        norm = float(np.sqrt(sum((each**2).sum() for each in gradient.values())))
        return (
            gradient if norm < max_norm else {name: each / norm * max_norm for name, each in gradient.items()}
        )

    def _moves(self, gradient: Mapping[str, Float64Array]) -> dict[str, Float64Array]:
        scorer = self._scorer
        if scorer.optimizer == "adam":
            moves = self._adam(gradient)
        elif scorer.momentum:
            self._first = {n: each + scorer.momentum * self._first[n] for n, each in gradient.items()}
            moves = dict(self._first)
        else:
            moves = dict(gradient)
        if scorer.weight_decay:
            moves["weights"] = moves["weights"] + scorer.weight_decay * self._layer["weights"]
        return moves

    def _adam(self, gradient: Mapping[str, Float64Array]) -> dict[str, Float64Array]:
        self._steps += 1
        first, second = self._first, self._second
        self._first = {n: _FIRST_DECAY * first[n] + (1.0 - _FIRST_DECAY) * g for n, g in gradient.items()}
        self._second = {
            n: _SECOND_DECAY * second[n] + (1.0 - _SECOND_DECAY) * g**2 for n, g in gradient.items()
        }
        first_correction, second_correction = (
            1.0 - _FIRST_DECAY**self._steps,
            1.0 - _SECOND_DECAY**self._steps,
        )
        return {
            name: (self._first[name] / first_correction)
            / (np.sqrt(self._second[name] / second_correction) + _EPSILON)
            for name in gradient
        }


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
