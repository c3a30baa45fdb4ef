"""Kernels of networks: what a document's score is does not depend on the documents beside it.

Every sum is taken in float64 and in one order: bias first, then the inputs four at a time. The compiler may
fuse a product with the sum that follows it, on all documents alike.
"""

import math
from typing import Any

import numpy as np

from core.jit import fused_bare
from core.types import Float32Array, Float64Array

ROWS, INPUTS = 4, 4  # documents and inputs that a step of `affine` takes together
EPSILON = 1e-5  # added to the variance by `layer_norm`, as PyTorch and ONNX do
RELU, TANH, SIGMOID = 0, 1, 2


@fused_bare
def scale(
    features: Float32Array,
    log1p: bool,
    means: Float64Array,
    deviations: Float64Array,
    knots: Float64Array,
    targets: Float64Array,
    inputs: Float64Array,
) -> None:
    """Write the scaled features into the first columns of the inputs; see `core.scorers.inputs`."""
    n_features = features.shape[1]
    for row in range(features.shape[0]):
        for column in range(n_features):
            value: Any = np.float64(features[row, column])
            if not math.isfinite(value):
                inputs[row, column] = 0.0
                continue
            if log1p:
                value = math.copysign(math.log1p(abs(value)), value)
            if len(means):
                value = (value - means[column]) / deviations[column]
            elif len(knots):
                value = interpolated(value, knots[column], targets[column])
            inputs[row, column] = value


@fused_bare
def interpolated(value: Any, knots: Float64Array, targets: Float64Array) -> Any:
    """Return the target of a value between the knots, those of the outermost ones beyond them."""
    if value <= knots[0]:
        return targets[0]
    last = len(knots) - 1
    if value >= knots[last]:
        return targets[last]
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) >> 1
        if knots[middle] <= value:
            low = middle
        else:
            high = middle
    share = (value - knots[low]) / (knots[high] - knots[low])
    return targets[low] + share * (targets[high] - targets[low])


@fused_bare
def affine(inputs: Float64Array, weights: Float64Array, bias: Float64Array, outputs: Float64Array) -> None:
    """Write `bias + inputs @ weights` of (n, n_inputs) and (n_inputs, n_outputs).

    The number of documents is a multiple of `ROWS`, that of inputs of `INPUTS`: what is missing is padded
    with zeros.
    """
    n_outputs = weights.shape[1]
    for row in range(0, inputs.shape[0], ROWS):
        for j in range(n_outputs):
            outputs[row, j] = bias[j]
            outputs[row + 1, j] = bias[j]
            outputs[row + 2, j] = bias[j]
            outputs[row + 3, j] = bias[j]
        for i in range(0, inputs.shape[1], INPUTS):
            a0, a1, a2, a3 = inputs[row, i], inputs[row, i + 1], inputs[row, i + 2], inputs[row, i + 3]
            b0, b1, b2, b3 = (
                inputs[row + 1, i],
                inputs[row + 1, i + 1],
                inputs[row + 1, i + 2],
                inputs[row + 1, i + 3],
            )
            c0, c1, c2, c3 = (
                inputs[row + 2, i],
                inputs[row + 2, i + 1],
                inputs[row + 2, i + 2],
                inputs[row + 2, i + 3],
            )
            d0, d1, d2, d3 = (
                inputs[row + 3, i],
                inputs[row + 3, i + 1],
                inputs[row + 3, i + 2],
                inputs[row + 3, i + 3],
            )
            for j in range(n_outputs):
                w0, w1, w2, w3 = weights[i, j], weights[i + 1, j], weights[i + 2, j], weights[i + 3, j]
                outputs[row, j] = outputs[row, j] + a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3
                outputs[row + 1, j] = outputs[row + 1, j] + b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3
                outputs[row + 2, j] = outputs[row + 2, j] + c0 * w0 + c1 * w1 + c2 * w2 + c3 * w3
                outputs[row + 3, j] = outputs[row + 3, j] + d0 * w0 + d1 * w1 + d2 * w2 + d3 * w3


@fused_bare
def layer_norm(units: Float64Array, n_units: int, scales: Float64Array, shifts: Float64Array) -> None:
    """Normalise the first units of each document in place (Ba, Kiros and Hinton, 2016)."""
    for row in range(units.shape[0]):
        total = 0.0
        for j in range(n_units):
            total += units[row, j]
        mean = total / n_units
        squares = 0.0
        for j in range(n_units):
            squares += (units[row, j] - mean) * (units[row, j] - mean)
        factor = 1.0 / math.sqrt(squares / n_units + EPSILON)
        for j in range(n_units):
            units[row, j] = (units[row, j] - mean) * factor * scales[j] + shifts[j]


@fused_bare
def activate(units: Float64Array, n_units: int, activation: int) -> None:
    """Apply an activation to the first units of each document in place."""
    for row in range(units.shape[0]):
        if activation == RELU:
            for j in range(n_units):
                units[row, j] = max(units[row, j], 0.0)
        elif activation == TANH:
            for j in range(n_units):
                units[row, j] = math.tanh(units[row, j])
        else:
            for j in range(n_units):
                units[row, j] = sigmoid(units[row, j])


@fused_bare
def sigmoid(value: float) -> float:
    """Return `1 / (1 + e^-x)` without overflow."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    power = math.exp(value)
    return power / (1.0 + power)
