"""A linear scorer or a feed-forward network as a scoring function, without the library that trains it."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from core.data.categories import Categories
from core.data.features import SelectedFeatures, row_blocks
from core.errors import ModelError
from core.scorers.inputs import InputTransform
from core.scorers.kernels import INPUTS, RELU, ROWS, SIGMOID, TANH, activate, affine, layer_norm
from core.scorers.parameters import ACTIVATIONS
from core.types import Float32Array, Float64Array, FloatArray

ACTIVATION_CODES: Mapping[str, int] = MappingProxyType({"relu": RELU, "tanh": TANH, "sigmoid": SIGMOID})
_BLOCK = 256  # documents whose units stay in the cache of a processor


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer: `bias + inputs @ weights`, then, in hidden layers, the norm and the activation.

    Attributes:
        weights: float32 (n_inputs, n_outputs).
        bias: float32 (n_outputs,).
        norm_scales: float32 (n_outputs,) of the layer norm, None without one.
        norm_shifts: float32 (n_outputs,) of the layer norm, None without one.
    """

    weights: Float32Array
    bias: Float32Array
    norm_scales: Float32Array | None = None
    norm_shifts: Float32Array | None = None


@dataclass(frozen=True, eq=False)
class Network:
    """A network that scores documents.

    Weights and features are float32; everything between them is computed in float64, in an order that
    depends neither on the number of threads nor on the documents that are scored together, see
    `core.scorers.kernels`.

    Attributes:
        feature_names: In the order of the columns.
        inputs: What becomes of the features first.
        layers: The hidden layers and the output layer, which has one unit.
        activation: Of the hidden layers, one of `ACTIVATIONS`.
    """

    feature_names: tuple[str, ...]
    inputs: InputTransform
    layers: tuple[Layer, ...]
    activation: str = ACTIVATIONS[0]

    @property
    def kind(self) -> str:
        """Return `linear` or `mlp`."""
        return "linear" if len(self.layers) == 1 else "mlp"

    @property
    def n_features(self) -> int:
        """Return the number of features that a document must have."""
        return len(self.feature_names)

    @property
    def n_parameters(self) -> int:
        """Return the number of weights and biases."""
        return sum(layer.weights.size + layer.bias.size for layer in self.layers)

    @property
    def size_bytes(self) -> int:
        """Return the memory that it takes, about."""
        return 12 * self.n_parameters + sum(array.nbytes for array in self.inputs.arrays().values())

    @property
    def steps(self) -> int:
        """Return what one score takes, in units of about a split that a document passes in trees."""
        return max(1, self.n_parameters // 8)

    @property
    def categories(self) -> Mapping[int, Categories]:
        """Return none: a network reads numbers alone."""
        return {}

    @cached_property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that decide scores, those with a weight other than 0, in order."""
        read = np.any(self.layers[0].weights != 0.0, axis=1)
        used = read[: self.n_features].copy()
        used[self.inputs.indicators[read[self.n_features :]]] = True
        return tuple(np.flatnonzero(used).tolist())

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Score documents.

        Args:
            features: (n_documents, n_features) in the order of `feature_names`; NaN where missing.
            threads: Threads to use, where there are enough documents for them.

        Returns:
            (n_documents,) scores; higher ranks first.

        Raises:
            ModelError: When the number of features is not the network's.
        """
        if len(features.shape) != 2 or features.shape[1] != self.n_features:
            raise ModelError(f"the model needs {self.n_features} features, these are {features.shape[-1]}")
        scores = np.empty(features.shape[0])
        blocks = _blocks(features)
        if threads == 1 or len(scores) <= _BLOCK:
            for rows, block in blocks:
                scores[rows] = self._scored(block)
            return scores
        with ThreadPoolExecutor(threads) as pool:
            for rows, found in pool.map(lambda part: (part[0], self._scored(part[1])), blocks):
                scores[rows] = found
        return scores

    def score_inputs(self, inputs: Float64Array) -> Float64Array:
        """Score documents by their inputs, (n_documents, n_inputs), see `InputTransform`."""
        n_rows = len(inputs)
        units = np.zeros((_up(n_rows, ROWS), self._padded[0].weights.shape[0]))
        units[:n_rows, : inputs.shape[1]] = inputs
        return self._forward(units, n_rows)

    def _scored(self, features: FloatArray) -> Float64Array:
        return self.score_inputs(self.inputs(features))

    def _forward(self, units: Float64Array, n_rows: int) -> Float64Array:
        last = len(self._padded) - 1
        for place, layer in enumerate(self._padded):
            outputs = np.empty((len(units), layer.weights.shape[1]))
            affine(units, layer.weights, layer.bias, outputs)
            if place < last:
                if layer.norm_scales is not None and layer.norm_shifts is not None:
                    layer_norm(outputs, layer.n_units, layer.norm_scales, layer.norm_shifts)
                activate(outputs, layer.n_units, ACTIVATION_CODES[self.activation])
            units = outputs
        scores: Float64Array = units[:n_rows, 0].copy()
        return scores

    @cached_property
    def _padded(self) -> tuple["_PaddedLayer", ...]:
        return tuple(
            _PaddedLayer.of(layer, is_last=place == len(self.layers) - 1)
            for place, layer in enumerate(self.layers)
        )


@dataclass(frozen=True, eq=False)
class _PaddedLayer:
    """A layer in float64, with weights of 0 up to the sizes that the kernels take."""

    weights: Float64Array
    bias: Float64Array
    n_units: int
    norm_scales: Float64Array | None
    norm_shifts: Float64Array | None

    @classmethod
    def of(cls, layer: Layer, *, is_last: bool) -> "_PaddedLayer":
        n_inputs, n_units = layer.weights.shape
        n_outputs = n_units if is_last else _up(n_units, INPUTS)
        weights, bias = np.zeros((_up(n_inputs, INPUTS), n_outputs)), np.zeros(n_outputs)
        weights[:n_inputs, :n_units], bias[:n_units] = layer.weights, layer.bias
        norms = (
            None if norm is None else norm.astype(np.float64)
            for norm in (layer.norm_scales, layer.norm_shifts)
        )
        return cls(weights, bias, n_units, *norms)


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _blocks(features: FloatArray | SelectedFeatures) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of rows that stay in the cache."""
    if isinstance(features, SelectedFeatures):
        for rows, block in row_blocks(features):
            for part, found in _blocks(block):
                yield slice(rows.start + part.start, rows.start + part.stop), found
        return
    for first in range(0, len(features), _BLOCK):
        rows = slice(first, min(first + _BLOCK, len(features)))
        yield rows, features[rows]
