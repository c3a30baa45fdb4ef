"""Evaluation of exported networks, independent of the service's scoring."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from core.export.networks.target import ARITHMETIC, Engine
from core.jit import exact_nonallocating
from core.scorers import InputTransform, Layer, Network
from core.scorers.kernels import EPSILON
from core.types import Float32Array, Float64Array

Units = npt.NDArray[np.floating[Any]]
_ROWS = 1024  # documents in a block, so that their units fit in the cache


@exact_nonallocating
def add_products(units: Units, weights: Units, totals: Units) -> None:
    """Add `units @ weights` to the totals in the order of the inputs, as Java and C do.

    Args:
        units: (n_documents, n_inputs), float32 or float64.
        weights: (n_inputs, n_outputs), of the same dtype.
        totals: (n_documents, n_outputs), of the same dtype, to which each sum is rounded; updated in place.
    """
    for row in range(units.shape[0]):
        for i in range(units.shape[1]):
            unit = units[row, i]
            for j in range(weights.shape[1]):
                totals[row, j] += unit * weights[i, j]


def _sigmoid(values: Float64Array) -> Float64Array:
    powers = np.exp(-np.abs(values))
    return np.asarray(np.where(values >= 0.0, 1.0, powers) / (1.0 + powers))


_ACTIVATIONS: Mapping[str, Callable[[Float64Array], Float64Array]] = MappingProxyType(
    {"relu": lambda values: np.maximum(values, 0.0), "tanh": np.tanh, "sigmoid": _sigmoid}
)


def in_blocks(
    score: Callable[[Float32Array], Float64Array], rows: Float32Array, size: int = _ROWS
) -> Float64Array:
    """Score documents in blocks.

    Args:
        score: Function that returns (n,) scores of (n, n_features) documents.
        rows: (n_documents, n_features) float32.
        size: Number of documents in a block.
    """
    scores = [score(rows[first : first + size]) for first in range(0, len(rows), size)]
    return np.concatenate(scores) if scores else np.empty(0)


def engine_in_doubles(name: str, network: Network) -> Engine:
    """Return the engine of a network that is computed in float64, as its exports in C and Python are."""

    def score(block: Float32Array) -> Float64Array:
        return forward(inputs_of(network.inputs, block), network.layers, network.activation)

    return Engine(name, ARITHMETIC, single=False, finite_only=False, score=partial(in_blocks, score))


def engine_of_plugin(
    name: str,
    arithmetic: str,
    normalizers: tuple[Float32Array, Float32Array, Float32Array],
    layers: tuple[Layer, ...],
    activation: str,
) -> Engine:
    """Return the engine of a plugin, which scales features and adds their products in float32.

    Args:
        normalizers: Values of missing features, and means and deviations, (n_features,) each.
    """
    defaults, means, deviations = normalizers

    def score(block: Float32Array) -> Float64Array:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            values = (np.where(np.isnan(block), defaults, block) - means) / deviations
            return forward(values, layers, activation)

    return Engine(name, arithmetic, single=True, finite_only=True, score=partial(in_blocks, score))


def inputs_of(transform: InputTransform, rows: Float32Array) -> Float64Array:
    """Transform documents to the network's inputs, (n_documents, n_inputs)."""
    missing = ~np.isfinite(rows)
    values = np.where(missing, np.float32(0.0), rows).astype(np.float64)
    if transform.log1p:
        values = np.copysign(np.log1p(np.abs(values)), values)
    if transform.kind == "standard":
        values = (values - transform.means) / transform.deviations
    elif transform.kind == "rank-gauss":
        for column, (knots, targets) in enumerate(zip(transform.knots, transform.targets, strict=True)):
            distinct = np.append(True, np.diff(knots) > 0.0)
            values[:, column] = np.interp(values[:, column], knots[distinct], targets[distinct])
    values[missing] = 0.0
    return np.concatenate([values, missing[:, transform.indicators]], axis=1)


def forward(inputs: Units, layers: tuple[Layer, ...], activation: str) -> Float64Array:
    """Return the scores, (n_documents,), of documents with the given inputs.

    Sums have the dtype of the inputs. Activations are computed in float64 and rounded to this dtype, as in
    Java.
    """
    units, kind = np.ascontiguousarray(inputs), inputs.dtype
    for index, layer in enumerate(layers):
        totals = np.tile(layer.bias.astype(kind), (len(units), 1))
        with np.errstate(over="ignore", invalid="ignore"):
            add_products(units, np.ascontiguousarray(layer.weights, kind), totals)
        units = totals
        if index < len(layers) - 1:
            if layer.norm_scales is not None and layer.norm_shifts is not None:
                units = _normalised(units, layer.norm_scales, layer.norm_shifts)
            units = _ACTIVATIONS[activation](units.astype(np.float64)).astype(kind)
    return units[:, 0].astype(np.float64)


def _normalised(units: Units, scales: Float32Array, shifts: Float32Array) -> Units:
    centred = units - units.mean(axis=1, keepdims=True)
    factors = 1.0 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + EPSILON)
    return np.asarray(centred * factors * scales.astype(np.float64) + shifts.astype(np.float64))
