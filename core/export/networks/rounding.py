"""Bounds on the score difference of two engines that compute the same network with different rounding.

A larger difference means other weights, inputs or activations than the model's. The bound propagates each
error through the layers to first order (Higham, 2002, chapter 3), and is doubled for safety.
"""

import numpy as np

from core.export.networks.evaluation import in_blocks, inputs_of
from core.scorers import InputTransform, Layer, Network
from core.scorers.kernels import EPSILON
from core.types import Float32Array, Float64Array

DOUBLE, SINGLE = 2.0**-53, 2.0**-24  # relative error of one operation
_SMALLEST = {DOUBLE: 1e-300, SINGLE: 1e-35}  # absolute error by underflow
_SAFETY = 2.0


def rounding_bounds(network: Network, rows: Float32Array, roundoff: float) -> Float64Array:
    """Return a bound on the rounding error of each document's score.

    Args:
        rows: (n_documents, n_features) float32, NaN where missing.
        roundoff: Relative error of an operation of the engine, `DOUBLE` or `SINGLE`.
    """
    errors = in_blocks(lambda block: _block_errors(network, block, roundoff + DOUBLE), rows)
    return _SAFETY * errors + _SMALLEST[roundoff]


def _block_errors(network: Network, rows: Float32Array, roundoff: float) -> Float64Array:
    """Return the error of each score to first order, (n_documents,)."""
    units = inputs_of(network.inputs, rows)
    errors = _input_errors(network.inputs, rows, units, roundoff)
    for index, layer in enumerate(network.layers):
        weights = np.abs(layer.weights.astype(np.float64))
        sums = (np.abs(units) + errors) @ weights + np.abs(layer.bias.astype(np.float64))
        errors = errors @ weights + (len(weights) + 3) * roundoff * sums
        units = units @ layer.weights.astype(np.float64) + layer.bias
        if index < len(network.layers) - 1:
            if layer.norm_scales is not None:
                units, errors = _norm_errors(layer, units, errors, roundoff)
            units = _activated(units, network.activation)
            errors = errors + 4.0 * roundoff * np.abs(units)  # no activation is steeper than 1
    return errors[:, 0]


def _input_errors(
    transform: InputTransform, rows: Float32Array, inputs: Float64Array, roundoff: float
) -> Float64Array:
    missing = ~np.isfinite(rows)
    values = np.abs(np.where(missing, np.float32(0.0), rows).astype(np.float64))
    values = np.log1p(values) if transform.log1p else values
    errors = np.zeros(inputs.shape)
    feature_errors = errors[:, : transform.n_features]
    if transform.kind == "standard":
        # Missing values may be written as the rounded mean.
        centres = np.abs(transform.means)
        feature_errors[:] = (
            4.0 * roundoff * ((np.where(missing, centres, values) + centres) / transform.deviations)
        )
        feature_errors += 4.0 * roundoff * np.abs(inputs[:, : transform.n_features])
    elif transform.kind == "rank-gauss":
        widths = np.diff(transform.knots)
        slopes = np.diff(transform.targets) / np.where(widths > 0.0, widths, np.inf)
        feature_errors[:] = 4.0 * transform.knots.shape[1] * roundoff * np.abs(transform.targets).max(axis=1)
        if transform.log1p:
            feature_errors += 4.0 * roundoff * values * slopes.max(axis=1)
    elif transform.log1p:
        feature_errors[:] = 4.0 * roundoff * values
    return errors


def _norm_errors(
    layer: Layer, units: Float64Array, errors: Float64Array, roundoff: float
) -> tuple[Float64Array, Float64Array]:
    """Return the units after a layer norm, and their errors with those of the mean and the variance."""
    n_units = units.shape[1]
    centred = units - units.mean(axis=1, keepdims=True)
    factors = 1.0 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + EPSILON)
    largest = errors + errors.mean(axis=1, keepdims=True)
    largest = largest + (n_units + 3) * roundoff * (np.abs(units) + np.abs(units).mean(axis=1, keepdims=True))
    normal = centred * factors
    spread = np.sqrt((largest * largest).mean(axis=1, keepdims=True))
    scales = np.abs(np.asarray(layer.norm_scales, np.float64))
    relative = factors * largest + np.abs(normal) * (factors * spread + (n_units + 6) * roundoff)
    shifted = normal * np.asarray(layer.norm_scales, np.float64) + np.asarray(layer.norm_shifts, np.float64)
    return shifted, relative * scales + 2.0 * roundoff * (np.abs(normal) * scales + np.abs(shifted))


def _activated(units: Float64Array, activation: str) -> Float64Array:
    if activation == "relu":
        return np.maximum(units, 0.0)
    # Values in -1..1 suffice for the bound.
    return np.asarray(np.tanh(units) if activation == "tanh" else 0.5 + 0.5 * np.tanh(0.5 * units))
