"""Kernels for the gradient of a network's score by its first layer's sums (backpropagation)."""

import math

from core.jit import fused_nonallocating
from core.scorers.kernels import (
    BIAS_AT,
    BLOCK,
    EPSILON,
    N_UNITS,
    NORM_AT,
    RELU,
    TANH,
    WEIGHTS_AT,
    WIDTH,
    activate,
    add_products,
    repeat,
)
from core.scorers.tiles import lane_products
from core.types import Float64Array, Int64Array

UNITS_AT, NORMED_AT, FACTORS_AT = range(3)  # columns of the array `offsets`


@fused_nonallocating
def evaluate(
    slopes: Float64Array,
    points: Float64Array,
    layout: Int64Array,
    weights: Float64Array,
    back_layout: Int64Array,
    back_weights: Float64Array,
    activation: int,
    offsets: Int64Array,
    scratch: Float64Array,
    scores: Float64Array,
    gradients: Float64Array,
) -> None:
    """Compute scores and gradients at points on the path from zero inputs to a document's inputs.

    Args:
        slopes: (width,) products of the document's inputs and the first layer's weights.
        points: (BLOCK,) positions on the path, from 0 to 1.
        layout: See `PackedNetwork`.
        weights: See `PackedNetwork`.
        back_layout: Layout of the transposed weights.
        back_weights: Transposed weights.
        activation: Activation of hidden units.
        offsets: Offsets into `scratch` of each hidden layer's units, normed units and norm factors; the last
            row has the offsets of two gradient buffers.
        scratch: See `offsets`.
        scores: (BLOCK,) output.
        gradients: (BLOCK, width) output, gradients of the scores with respect to the first layer's sums.
    """
    first, output, n_hidden = layout[0], layout[-1], layout.shape[0] - 1
    width, bias_at = first[WIDTH], first[BIAS_AT]
    bias = weights[bias_at : bias_at + width]
    for row in range(BLOCK):
        line = scratch[offsets[0, UNITS_AT] + row * width : offsets[0, UNITS_AT] + (row + 1) * width]
        for unit in range(width):
            line[unit] = bias[unit] + points[row] * slopes[unit]
    for layer in range(n_hidden):
        if layer:
            _products(scratch, offsets[layer - 1], layout, weights, layer, offsets[layer])
        _normalise_and_activate(scratch, offsets[layer], layout[layer], weights, activation)
    for row in range(BLOCK):
        line_at = offsets[n_hidden - 1, UNITS_AT] + row * output[WIDTH]
        products = lane_products(scratch, line_at, weights, output[WEIGHTS_AT], output[WIDTH])
        scores[row] = products + weights[output[BIAS_AT]]
    at = _backpropagate(scratch, offsets, layout, weights, back_layout, back_weights, activation)
    for row in range(BLOCK):
        line = scratch[at + row * width : at + (row + 1) * width]
        for unit in range(width):
            gradients[row, unit] = line[unit]


@fused_nonallocating
def _products(
    scratch: Float64Array,
    before: Int64Array,
    layout: Int64Array,
    weights: Float64Array,
    layer: int,
    offset: Int64Array,
) -> None:
    """Compute the sums of a layer from the units of the previous layer."""
    repeat(scratch, offset[UNITS_AT], BLOCK, layout[layer, WIDTH], weights, layout[layer, BIAS_AT])
    stride = layout[layer - 1, WIDTH]
    add_products(scratch, before[UNITS_AT], stride, BLOCK, layout[layer], weights, offset[UNITS_AT])


@fused_nonallocating
def _normalise_and_activate(
    scratch: Float64Array, offset: Int64Array, layer: Int64Array, weights: Float64Array, activation: int
) -> None:
    """Normalise and activate the sums of a layer, and store the values that derivatives need."""
    n_units, width, norm_at = layer[N_UNITS], layer[WIDTH], layer[NORM_AT]
    if norm_at >= 0:
        scales, shifts = weights[norm_at : norm_at + width], weights[norm_at + width : norm_at + 2 * width]
        for row in range(BLOCK):
            begin, normed_at = offset[UNITS_AT] + row * width, offset[NORMED_AT] + row * width
            line, normed = scratch[begin : begin + width], scratch[normed_at : normed_at + width]
            mean = lane_products(scratch, begin, weights, norm_at + 2 * width, width) / n_units
            for unit in range(n_units):
                line[unit] -= mean
            squares = lane_products(scratch, begin, scratch, begin, width)
            factor = 1.0 / math.sqrt(squares / n_units + EPSILON)
            scratch[offset[FACTORS_AT] + row] = factor
            for unit in range(width):
                normed[unit] = line[unit] * factor
                line[unit] = normed[unit] * scales[unit] + shifts[unit]
    activate(scratch, offset[UNITS_AT], BLOCK, layer, activation)


@fused_nonallocating
def _backpropagate(
    scratch: Float64Array,
    offsets: Int64Array,
    layout: Int64Array,
    weights: Float64Array,
    back_layout: Int64Array,
    back_weights: Float64Array,
    activation: int,
) -> int:
    """Backpropagate to the first layer's sums; return the offset of their gradients."""
    n_hidden = layout.shape[0] - 1
    one: int = offsets[n_hidden, 0]
    other: int = offsets[n_hidden, 1]
    width, output_at = layout[n_hidden - 1, WIDTH], layout[n_hidden, WEIGHTS_AT]
    repeat(scratch, one, BLOCK, width, weights, output_at)
    for layer in range(n_hidden - 1, -1, -1):
        _through_activation(scratch, one, offsets[layer], layout[layer], weights, activation)
        if layer:
            width = layout[layer - 1, WIDTH]
            scratch[other : other + BLOCK * width] = 0.0
            add_products(scratch, one, layout[layer, WIDTH], BLOCK, back_layout[layer], back_weights, other)
            one, other = other, one
    return one


@fused_nonallocating
def _through_activation(
    scratch: Float64Array,
    at: int,
    offset: Int64Array,
    layer: Int64Array,
    weights: Float64Array,
    activation: int,
) -> None:
    """Convert gradients with respect to a layer's units into those with respect to its sums, in place."""
    n_units, width, norm_at = layer[N_UNITS], layer[WIDTH], layer[NORM_AT]
    scales = weights[norm_at : norm_at + width]
    for row in range(BLOCK):
        begin = at + row * width
        line, units_at = scratch[begin : begin + n_units], offset[UNITS_AT] + row * width
        units = scratch[units_at : units_at + n_units]
        for unit in range(n_units):
            value = units[unit]
            if activation == RELU:
                line[unit] = line[unit] if value > 0.0 else 0.0
            elif activation == TANH:
                line[unit] *= 1.0 - value * value
            else:
                line[unit] *= value * (1.0 - value)
        scratch[begin + n_units : begin + width] = 0.0
        if norm_at >= 0:
            normed_at = offset[NORMED_AT] + row * width
            for unit in range(n_units):
                line[unit] *= scales[unit]
            mean = lane_products(scratch, begin, weights, norm_at + 2 * width, width) / n_units
            projection = lane_products(scratch, begin, scratch, normed_at, width) / n_units
            factor = scratch[offset[FACTORS_AT] + row]
            for unit in range(n_units):
                line[unit] = factor * (line[unit] - mean - projection * scratch[normed_at + unit])
