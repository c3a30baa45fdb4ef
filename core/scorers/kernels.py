"""Kernels of networks; a document's score does not depend on the other documents of a batch.

All computations are in float64. A hidden unit is one sum: its bias, then each input times its weight, in the
order of the inputs. The output unit and the layer norm use eight partial sums of every eighth product, added
in pairs. Products and sums are fused (FMA) where the processor supports it.
"""

import math
from typing import Any

import numpy as np

from core.jit import fused_nonallocating
from core.scorers.tiles import LANES, NARROW, ROWS, WIDE, add_narrow, add_wide, lane_products
from core.types import Float32Array, Float64Array, Int64Array

BLOCK = 64  # number of documents whose units fit in the processor's cache
EPSILON = 1e-5  # added to the variance by `layer_norm`, as PyTorch and ONNX do
RELU, TANH, SIGMOID = 0, 1, 2
N_INPUTS, N_UNITS, WIDTH, N_WIDE, WEIGHTS_AT, BIAS_AT, NORM_AT = range(7)  # columns of `layout`
_CHUNK = 256  # number of inputs for which the weights of a tile fit in the L2 cache
_MAX_FLOAT32 = 3.4028234663852886e38  # larger values become infinite in float32


@fused_nonallocating
def score(
    features: Float32Array,
    log1p: bool,
    means: Float64Array,
    deviations: Float64Array,
    knots: Float64Array,
    targets: Float64Array,
    indicators: Int64Array,
    layout: Int64Array,
    weights: Float64Array,
    activation: int,
    scratch: Float64Array,
    scores: Float64Array,
) -> None:
    """Write the scores, (n_documents,), of features, (n_documents, n_features), in blocks of documents.

    The arguments from `log1p` to `indicators` are those of `core.scorers.inputs.InputTransform`; layout,
    weights and scratch are those of `core.scorers.packing.PackedNetwork`. The activation is `RELU`, `TANH` or
    `SIGMOID`.
    """
    stride = round_up(features.shape[1] + len(indicators), LANES)
    rows = min(round_up(features.shape[0], ROWS), BLOCK)
    units_at = rows * stride
    spare_at = (len(scratch) + units_at) // 2
    for first in range(0, features.shape[0], BLOCK):
        block = features[first : first + BLOCK]
        scale(block, log1p, means, deviations, knots, targets, indicators, scratch, stride)
        scratch[block.shape[0] * stride : units_at] = 0.0
        last_at, width = forward(
            scratch, 0, stride, units_at, spare_at, block.shape[0], layout, weights, activation
        )
        last = layout[-1]
        for row in range(block.shape[0]):
            products = lane_products(scratch, last_at + row * width, weights, last[WEIGHTS_AT], last[WIDTH])
            scores[first + row] = products + weights[last[BIAS_AT]]


@fused_nonallocating
def scale(
    features: Float32Array,
    log1p: bool,
    means: Float64Array,
    deviations: Float64Array,
    knots: Float64Array,
    targets: Float64Array,
    indicators: Int64Array,
    inputs: Float64Array,
    stride: int,
) -> None:
    """Write the inputs of each document, at multiples of `stride`; see `core.scorers.inputs`."""
    n_features = features.shape[1]
    for row in range(features.shape[0]):
        # A separate view, whose indices are provably non-negative, so that LLVM vectorises the loops.
        line = inputs[row * stride : (row + 1) * stride]
        if log1p or len(knots):
            for column in range(n_features):
                line[column] = scaled(features[row, column], column, log1p, means, deviations, knots, targets)
        elif len(means):
            for column in range(n_features):
                value: Any = np.float64(features[row, column])
                is_finite = abs(value) <= _MAX_FLOAT32
                line[column] = (value - means[column]) / deviations[column] if is_finite else 0.0
        else:
            for column in range(n_features):
                value = np.float64(features[row, column])
                line[column] = value if abs(value) <= _MAX_FLOAT32 else 0.0
        for index in range(len(indicators)):
            is_missing = not abs(features[row, indicators[index]]) <= _MAX_FLOAT32
            line[n_features + index] = 1.0 if is_missing else 0.0
        line[n_features + len(indicators) :] = 0.0


@fused_nonallocating
def scaled(
    feature: Any,
    column: int,
    log1p: bool,
    means: Float64Array,
    deviations: Float64Array,
    knots: Float64Array,
    targets: Float64Array,
) -> Any:
    """Return the scaled input of one feature."""
    value: Any = np.float64(feature)
    if not math.isfinite(value):
        return 0.0
    if log1p:
        value = math.copysign(math.log1p(abs(value)), value)
    if len(means):
        return (value - means[column]) / deviations[column]
    return interpolated(value, knots[column], targets[column]) if len(knots) else value


@fused_nonallocating
def interpolated(value: Any, knots: Float64Array, targets: Float64Array) -> Any:
    """Return the interpolated target of a value; beyond the knots, the target of the outermost knot."""
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


@fused_nonallocating
def forward(
    units: Float64Array,
    at: int,
    stride: int,
    buffer_at: int,
    spare_at: int,
    n_rows: int,
    layout: Int64Array,
    weights: Float64Array,
    activation: int,
) -> tuple[int, int]:
    """Compute the hidden layers, alternating between two buffers; return offset and width of the last one.

    Args:
        units: Array with the inputs and two buffers for the widest layer.
        stride: Values from the first input of one document to the first of the next.
        buffer_at: Offset of the buffer for the next layer's outputs.
        spare_at: Offset of the buffer for the outputs of the layer after it.
        n_rows: Documents; rows up to the next multiple of `ROWS` are read and written.
        layout: See `core.scorers.packing.PackedNetwork`.
    """
    for index in range(layout.shape[0] - 1):
        layer = layout[index]
        width = layer[WIDTH]
        repeat(units, buffer_at, round_up(n_rows, ROWS), width, weights, layer[BIAS_AT])
        add_products(units, at, stride, n_rows, layer, weights, buffer_at)
        if layer[NORM_AT] >= 0:
            layer_norm(units, buffer_at, n_rows, layer, weights)
        activate(units, buffer_at, n_rows, layer, activation)
        at, stride = buffer_at, width
        buffer_at, spare_at = spare_at, buffer_at
    return at, stride


@fused_nonallocating
def repeat(
    units: Float64Array, at: int, n_rows: int, width: int, values: Float64Array, values_at: int
) -> None:
    """Write the same values into each row."""
    same = values[values_at : values_at + width]
    for row in range(n_rows):
        line = units[at + row * width : at + (row + 1) * width]
        for unit in range(width):
            line[unit] = same[unit]


@fused_nonallocating
def add_products(
    units: Float64Array,
    at: int,
    stride: int,
    n_rows: int,
    layer: Int64Array,
    weights: Float64Array,
    outputs_at: int,
) -> None:
    """Add the products of inputs and weights to outputs, a tile at a time; see `core.scorers.tiles`."""
    n_inputs, width = layer[N_INPUTS], layer[WIDTH]
    begin_narrow = layer[N_WIDE] * WIDE
    for first in range(0, n_inputs, _CHUNK):
        size = min(_CHUNK, n_inputs - first)
        for unit in range(0, begin_narrow, WIDE):
            panel = layer[WEIGHTS_AT] + unit * n_inputs + first * WIDE
            for row in range(0, n_rows, ROWS):
                inputs_at, sums_at = at + row * stride + first, outputs_at + row * width + unit
                add_wide(units, inputs_at, stride, weights, panel, size, units, sums_at, width)
        for unit in range(begin_narrow, width, NARROW):
            panel = layer[WEIGHTS_AT] + unit * n_inputs + first * NARROW
            for row in range(0, n_rows, ROWS):
                inputs_at, sums_at = at + row * stride + first, outputs_at + row * width + unit
                add_narrow(units, inputs_at, stride, weights, panel, size, units, sums_at, width)


@fused_nonallocating
def layer_norm(units: Float64Array, at: int, n_rows: int, layer: Int64Array, weights: Float64Array) -> None:
    """Normalise the units of each document in place (Ba, Kiros and Hinton, 2016).

    In the weights, scales and shifts are followed by a 1 for each unit and zeros up to the width.
    """
    n_units, width, norm_at = layer[N_UNITS], layer[WIDTH], layer[NORM_AT]
    scales, shifts = weights[norm_at : norm_at + width], weights[norm_at + width : norm_at + 2 * width]
    for row in range(n_rows):
        begin = at + row * width
        line = units[begin : begin + n_units]
        mean = lane_products(units, begin, weights, norm_at + 2 * width, width) / n_units
        for unit in range(n_units):
            line[unit] -= mean
        squares = lane_products(units, begin, units, begin, width)
        factor = 1.0 / math.sqrt(squares / n_units + EPSILON)
        for unit in range(n_units):
            line[unit] = line[unit] * (factor * scales[unit]) + shifts[unit]


@fused_nonallocating
def activate(units: Float64Array, at: int, n_rows: int, layer: Int64Array, activation: int) -> None:
    """Apply an activation to the units of each document in place."""
    n_units, width = layer[N_UNITS], layer[WIDTH]
    for row in range(n_rows):
        line = units[at + row * width : at + row * width + n_units]
        if activation == RELU:
            for unit in range(n_units):
                line[unit] = max(line[unit], 0.0)
        elif activation == TANH:
            for unit in range(n_units):
                line[unit] = math.tanh(line[unit])
        else:
            for unit in range(n_units):
                line[unit] = sigmoid(line[unit])


@fused_nonallocating
def sigmoid(value: float) -> float:
    """Return `1 / (1 + e^-x)` without overflow."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    power = math.exp(value)
    return power / (1.0 + power)


@fused_nonallocating
def round_up(number: int, multiple: int) -> int:
    """Round a number up to a multiple."""
    return (number + multiple - 1) // multiple * multiple
