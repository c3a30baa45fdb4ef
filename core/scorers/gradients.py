"""Explanations of scores of networks: integrated gradients.

Sundararajan, Taly and Yan, "Axiomatic attribution for deep networks" (2017), equation 1: input `i`
contributes `x_i ∫ ∂F(α x) / ∂x_i dα`, α from 0 to 1. The baseline is the document whose inputs are all 0: the
centre of each scaled feature, which also replaces missing values.

The path is divided into parts, and each part is integrated by Lobatto's rule with four points. The difference
between the integral on a part and the known change of the score is the rule's error. The parts with the
largest errors are halved until the sum of errors is at most `TOLERANCE` times the sum of absolute changes.
Halving also ends at `MAX_POINTS` evaluated points. A linear scorer is explained exactly.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.scorers.gradient_kernels import evaluate
from core.scorers.inputs import InputTransform
from core.scorers.kernels import BLOCK, NORM_AT, WIDTH, add_products, round_up
from core.scorers.network import ACTIVATION_CODES, Network
from core.scorers.packing import Layer, PackedNetwork
from core.scorers.tiles import ROWS
from core.types import Float64Array, FloatArray, Int64Array

TOLERANCE = 1e-4
MAX_POINTS = 64 * BLOCK
_NODES = np.array([0.0, 0.5 - 0.5 / np.sqrt(5.0), 0.5 + 0.5 / np.sqrt(5.0), 1.0])
_NODE_WEIGHTS = np.array([1.0, 5.0, 5.0, 1.0]) / 12.0
_PARTS = BLOCK // len(_NODES)  # parts of the path that one block of points evaluates
# Measured: cost of a point and of each of its units, in steps of 5 ns; number of weights per step.
_STEPS_PER_POINT, _STEPS_PER_UNIT, _WEIGHTS_PER_STEP = 200, 4, 64


class IntegratedGradients:
    """Explainer of the scores of a network.

    Attributes:
        steps: Largest cost of one explanation, in steps of about 5 ns.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self.steps = explanation_steps(network)
        n_inputs = network.inputs.n_inputs
        network_of_inputs = replace(
            network, feature_names=("",) * n_inputs, inputs=InputTransform.unscaled(n_inputs)
        )
        self.base = float(network_of_inputs.score(np.zeros((1, n_inputs)))[0])

    def explain(self, features: FloatArray) -> tuple[Float64Array, Float64Array]:
        """Explain documents.

        Args:
            features: (n_documents, n_features) in the network's feature order; NaN where missing.

        Returns:
            (n_documents,) the score of the baseline, the same for all; and (n_documents, n_features) the
            contribution of each feature, its missing indicator included. Their sum is the score, within
            `TOLERANCE` of the sum of absolute changes along the path, unless `MAX_POINTS` ends the
            integration.
        """
        inputs = self._network.inputs(features)
        input_contributions = inputs * self.mean_gradients(inputs)
        n_features = self._network.n_features
        contributions = input_contributions[:, :n_features].copy()
        contributions[:, self._network.inputs.indicators] += input_contributions[:, n_features:]
        return np.full(len(inputs), self.base), contributions

    def mean_gradients(self, inputs: Float64Array) -> Float64Array:
        """Return the mean gradient on the path from 0 to the inputs, both (n_documents, n_inputs)."""
        first = self._network.layers[0]
        if len(self._network.layers) == 1:
            return np.broadcast_to(first.weights[:, 0].astype(np.float64), inputs.shape)
        slopes = _products(inputs, self._network.packed, 0)
        means = np.empty_like(slopes)
        for slope, mean in zip(slopes, means, strict=True):
            mean[:] = IntegrationPath(self._network, self._transposed, slope).mean_gradient()
        # Chain rule: the derivative of a first-layer sum with respect to an input is the weight.
        return _products(means[:, : first.weights.shape[1]], self._transposed, 0)[:, : inputs.shape[1]]

    @cached_property
    def _transposed(self) -> PackedNetwork:
        return packed_transposed(self._network)


def explanation_steps(network: Network) -> int:
    """Return the largest cost of explaining one score, in steps of about 5 ns."""
    first, *others = network.layers
    steps = 1 + first.weights.size // _WEIGHTS_PER_STEP
    if not others:
        return steps
    n_weights = sum(layer.weights.size for layer in others[:-1])
    n_units = sum(len(layer.weights) for layer in others)
    steps_per_point = _STEPS_PER_POINT + _STEPS_PER_UNIT * n_units + n_weights // _WEIGHTS_PER_STEP
    return steps + MAX_POINTS * steps_per_point


def packed_transposed(network: Network) -> PackedNetwork:
    """Pack the transposed weights of the hidden layers for backpropagation."""
    layers = [Layer(each.weights.T, np.zeros(len(each.weights), np.float32)) for each in network.layers[:-1]]
    return PackedNetwork.of((*layers, network.layers[-1]))


@dataclass(frozen=True, eq=False)
class IntegrationPath:
    """The straight path from zero inputs to the inputs of one document.

    Attributes:
        transposed: See `packed_transposed`.
        slopes: (width,) change of the first layer's sums along the path.
    """

    network: Network
    transposed: PackedNetwork
    slopes: Float64Array

    def mean_gradient(self) -> Float64Array:
        """Return the mean gradient with respect to the first layer's sums, (width,)."""
        begins = np.arange(_PARTS) / _PARTS
        ends = begins + 1.0 / _PARTS
        sums, changes, errors = self._integrals(begins, ends)
        for _ in range(MAX_POINTS // BLOCK - 1):
            if errors.sum() <= TOLERANCE * np.abs(changes).sum():
                break
            worst = np.argpartition(errors, -_PARTS // 2)[-_PARTS // 2 :]
            middles = 0.5 * (begins[worst] + ends[worst])
            halves = np.concatenate([begins[worst], middles]), np.concatenate([middles, ends[worst]])
            new_parts = (*halves, *self._integrals(*halves))
            begins, ends, sums, changes, errors = (
                np.concatenate([np.delete(old, worst, axis=0), new])
                for old, new in zip((begins, ends, sums, changes, errors), new_parts, strict=True)
            )
        mean: Float64Array = sums.sum(axis=0)
        return mean

    def _integrals(
        self, begins: Float64Array, ends: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Integrate the gradients on parts of the path; return integrals, score changes and errors."""
        lengths = (ends - begins)[:, np.newaxis]
        scores, gradients = self.evaluated((begins[:, np.newaxis] + lengths * _NODES).ravel())
        gradients = gradients.reshape(len(begins), len(_NODES), -1)
        integrals = np.einsum("ij,ijk->ik", lengths * _NODE_WEIGHTS, gradients)
        changes = scores[len(_NODES) - 1 :: len(_NODES)] - scores[:: len(_NODES)]
        return integrals, changes, np.abs(np.einsum("ik,k->i", integrals, self.slopes) - changes)

    def evaluated(self, points: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return scores, (BLOCK,), and gradients with respect to the first layer's sums, (BLOCK, width).

        Args:
            points: (BLOCK,) positions on the path, from 0 to 1.
        """
        packed = self.network.packed
        offsets, size = _scratch_offsets(packed.layout)
        scores, gradients = np.empty(BLOCK), np.empty((BLOCK, len(self.slopes)))
        evaluate(
            self.slopes,
            points,
            packed.layout,
            packed.weights,
            self.transposed.layout,
            self.transposed.weights,
            ACTIVATION_CODES[self.network.activation],
            offsets,
            np.empty(size),
            scores,
            gradients,
        )
        return scores, gradients


def _products(rows: Float64Array, packed: PackedNetwork, layer: int) -> Float64Array:
    """Return the products of rows, (n_rows, n_inputs), and a layer's weights, (n_rows, width)."""
    n_rows, stride = rows.shape
    line = packed.layout[layer]
    width, begin = int(line[WIDTH]), round_up(n_rows, ROWS) * stride
    scratch = np.zeros(begin + round_up(n_rows, ROWS) * width)
    scratch[: rows.size] = rows.ravel()
    add_products(scratch, 0, stride, n_rows, line, packed.weights, begin)
    return scratch[begin : begin + n_rows * width].reshape(n_rows, width)


def _scratch_offsets(layout: Int64Array) -> tuple[Int64Array, int]:
    """Lay out the scratch of `evaluate`; return the offsets and the size of the scratch."""
    offsets = np.zeros((len(layout), 3), np.int64)
    end = 0
    for line, offset in zip(layout[:-1], offsets, strict=False):
        units = BLOCK * int(line[WIDTH])
        normed = units if line[NORM_AT] >= 0 else 0
        offset[:] = end, end + units, end + units + normed
        end += units + normed + BLOCK
    widest = BLOCK * int(layout[:-1, WIDTH].max())
    offsets[-1, :2] = end, end + widest
    return offsets, end + 2 * widest
