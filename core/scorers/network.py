"""Scoring by linear scorers and feed-forward networks, without the library that trains them."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from core.data.categories import Categories
from core.data.features import SelectedFeatures, row_blocks
from core.errors import ModelError
from core.scorers.inputs import InputTransform, as_float32
from core.scorers.kernels import BLOCK, RELU, SIGMOID, TANH, score
from core.scorers.model import checked_finite
from core.scorers.packing import Layer, PackedNetwork
from core.scorers.parameters import ACTIVATIONS
from core.types import Float32Array, Float64Array, FloatArray, Precision

ACTIVATION_CODES: Mapping[str, int] = MappingProxyType({"relu": RELU, "tanh": TANH, "sigmoid": SIGMOID})
MIN_PARALLEL_DOCUMENTS = 4 * BLOCK  # minimum number of documents that justify one more thread


@dataclass(frozen=True, eq=False)
class Network:
    """A network that scores documents.

    Weights and features are float32, computations are float64. The order of operations depends neither on the
    number of threads nor on the documents that are scored together, see `core.scorers.kernels`.

    Attributes:
        feature_names: Feature names in column order.
        layers: The hidden layers and the output layer, which has one unit.
        activation: Activation of the hidden layers, one of `ACTIVATIONS`.
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
        """Return the approximate memory of the model in bytes."""
        return 12 * self.n_parameters + sum(array.nbytes for array in self.inputs.arrays().values())

    @property
    def steps(self) -> int:
        """Return the cost of one score, in units of about one tree split."""
        return max(1, self.n_parameters // 8)

    @property
    def precision(self) -> Precision:
        """Return float32, the precision of a network's features."""
        return "float32"

    @property
    def categories(self) -> Mapping[int, Categories]:
        """Return an empty mapping: a network has no categorical features."""
        return {}

    @cached_property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that have a weight other than 0, in order."""
        read = np.any(self.layers[0].weights != 0.0, axis=1)
        used = read[: self.n_features].copy()
        used[self.inputs.indicators[read[self.n_features :]]] = True
        return tuple(np.flatnonzero(used).tolist())

    def term(self, feature: int) -> "Network":
        """Return the scorer of one feature, whose scores a linear scorer adds to those of the others."""
        (layer,) = self.layers
        inputs = [feature, *(self.n_features + np.flatnonzero(self.inputs.indicators == feature))]
        only = Layer(layer.weights[inputs], np.zeros_like(layer.bias))
        return replace(
            self,
            feature_names=self.feature_names[feature : feature + 1],
            inputs=self.inputs.of_feature(feature),
            layers=(only,),
        )

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Score documents.

        Args:
            features: (n_documents, n_features) in the order of `feature_names`; NaN where missing.
            threads: Threads to use, where there are enough documents for them.

        Returns:
            (n_documents,) scores; higher ranks first.

        Raises:
            ModelError: The number of features is not the network's.
            ScoreNotFinite: A score is NaN or infinite.
        """
        if len(features.shape) != 2 or features.shape[1] != self.n_features:
            raise ModelError(f"the model needs {self.n_features} features, but got {features.shape[-1]}")
        return checked_finite(self._scores(features, threads))

    def _scores(self, features: FloatArray | SelectedFeatures, threads: int) -> Float64Array:
        if isinstance(features, SelectedFeatures):
            scored = [self._scores(block, threads) for _, block in row_blocks(features)]
            return np.concatenate(scored) if scored else np.empty(0)
        single, scores = as_float32(features), np.empty(len(features))
        parts = min(threads, len(single) // MIN_PARALLEL_DOCUMENTS)
        if parts <= 1:
            self._score(single, scores)
            return scores
        bounds = np.linspace(0, len(single), parts + 1).astype(int).tolist()
        rows = [slice(*pair) for pair in pairwise(bounds)]
        with ThreadPoolExecutor(parts) as pool:
            list(pool.map(lambda part: self._score(single[part], scores[part]), rows))
        return scores

    def _score(self, features: Float32Array, scores: Float64Array) -> None:
        packed = self.packed
        score(
            features,
            *self.inputs.parameters,
            packed.layout,
            packed.weights,
            ACTIVATION_CODES[self.activation],
            packed.scratch(len(features)),
            scores,
        )

    @cached_property
    def packed(self) -> PackedNetwork:
        """Return the layers in the form of the kernels."""
        return PackedNetwork.of(self.layers)
