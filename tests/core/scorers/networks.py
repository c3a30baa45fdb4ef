"""Random networks, and their scores by NumPy alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from core.scorers import InputTransform, Layer, Network
from core.types import Float32Array, Float64Array, FloatArray

EPSILON = 1e-5


def random_features(n_documents: int, n_features: int, seed: int = 0, missing: float = 0.05) -> Float32Array:
    """Draw features on different scales, some of which are missing or infinite."""
    random = np.random.default_rng(seed)
    scales = 10.0 ** (np.arange(n_features) % 5 - 2)
    features = (random.normal(size=(n_documents, n_features)) * scales).astype(np.float32)
    features[random.random(features.shape) < missing] = np.nan
    features[random.random(features.shape) < missing / 4] = np.inf
    features[random.random(features.shape) < missing / 4] = -np.inf
    return features


def random_network(
    n_features: int,
    hidden: tuple[int, ...] = (),
    *,
    seed: int = 0,
    activation: str = "relu",
    layer_norm: bool = False,
    **inputs: Any,
) -> Network:
    """Draw a network whose inputs are fitted to random features."""
    random = np.random.default_rng(seed)
    settings: dict[str, Any] = {"kind": "standard", "log1p": False, "missing_indicators": False}
    transform = InputTransform.fit(random_features(300, n_features, seed), **settings | inputs)

    def draw(*shape: int, scale: float = 1.0) -> Float32Array:
        return (random.normal(size=shape) * scale).astype(np.float32)

    layers: list[Layer] = []
    n_inputs = transform.n_inputs
    for n_units in (*hidden, 1):
        weights, bias = draw(n_inputs, n_units, scale=n_inputs**-0.5), draw(n_units, scale=0.5)
        is_normed = layer_norm and len(layers) < len(hidden)
        norms = (1 + draw(n_units, scale=0.1), draw(n_units, scale=0.1)) if is_normed else (None, None)
        layers.append(Layer(weights, bias, *norms))
        n_inputs = n_units
    names = tuple(f"feature {number}" for number in range(n_features))
    return Network(names, transform, tuple(layers), activation)


def plain_inputs(transform: InputTransform, features: FloatArray) -> Float64Array:
    """Scale features as documented, without the kernels."""
    values = np.asarray(features, np.float64)
    missing = ~np.isfinite(values)
    values = np.where(missing, 0.0, values)
    if transform.log1p:
        values = np.sign(values) * np.log1p(np.abs(values))
    if transform.kind == "standard":
        values = (values - transform.means) / transform.deviations
    elif transform.kind == "rank-gauss":
        columns = zip(values.T, transform.knots, transform.targets, strict=True)
        values = np.stack([np.interp(*_distinct(*column)) for column in columns], axis=1)
    return np.hstack([np.where(missing, 0.0, values), missing[:, transform.indicators]])


def _distinct(
    values: Float64Array, knots: Float64Array, targets: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    _, first = np.unique(knots, return_index=True)
    return values, knots[first], targets[first]


def plain_score_of_inputs(network: Network, inputs: Float64Array) -> Float64Array:
    """Score inputs by matrix products."""
    functions: dict[str, Callable[[Float64Array], Float64Array]] = {
        "relu": lambda x: np.maximum(x, 0),
        "tanh": np.tanh,
        "sigmoid": special.expit,
    }
    units = inputs
    for index, layer in enumerate(network.layers):
        units = units @ layer.weights.astype(np.float64) + layer.bias
        if layer.norm_scales is not None:
            centred = units - units.mean(axis=1, keepdims=True)
            deviations = np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
            units = centred / deviations * layer.norm_scales + layer.norm_shifts
        if index < len(network.layers) - 1:
            units = functions[network.activation](units)
    scores: Float64Array = units[:, 0]
    return scores


def plain_score(network: Network, features: FloatArray) -> Float64Array:
    """Score documents without a kernel."""
    return plain_score_of_inputs(network, plain_inputs(network.inputs, features))
