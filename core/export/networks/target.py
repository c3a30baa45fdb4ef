"""The interface of formats for linear scorers and networks: write, read back and evaluate a file."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.errors import ModelError
from core.export.target import Source, Target
from core.scorers import Network
from core.types import Float32Array, Float64Array

_EXAMPLES = 3


@dataclass(frozen=True, kw_only=True)
class NetworkSource(Source):
    """A linear scorer or a network to export."""

    network: Network

    @property
    def model(self) -> Network:
        """Return the network."""
        return self.network

    def folded_weights(self) -> tuple[float, list[float], list[float]]:
        """Return a linear scorer's constant, weights of raw features, and terms of missing features."""
        network = self.network
        inputs, (layer,) = network.inputs, network.layers
        trained = layer.weights[:, 0].astype(np.float64)
        weights, missing = trained[: network.n_features].copy(), np.zeros(network.n_features)
        constant = float(layer.bias[0])
        if inputs.kind == "standard":
            weights /= inputs.deviations
            missing = weights * inputs.means
            constant -= float(missing.sum())
        missing[inputs.indicators] += trained[network.n_features :]
        return constant, weights.tolist(), missing.tolist()


@dataclass(frozen=True)
class Engine:
    """A simulation of the engine that reads a file.

    Attributes:
        single: Whether sums are computed in float32, not float64.
        finite_only: Whether the parity guarantee excludes infinite values, which the model treats as missing.
        score: Returns the scores, (n_documents,), of float32 documents, by the numbers in the file.
    """

    name: str
    arithmetic: str
    single: bool
    finite_only: bool
    score: Callable[[Float32Array], Float64Array]


# Arithmetic of an engine that rounds only the features of a network.
ARITHMETIC = "features rounded to float32; missing features as in the model; everything else in float64"
# Parts of a network that the plugins of search engines cannot express, and advice for such a network.
PLUGIN_UNSUPPORTED = frozenset({"log1p", "rank-gauss", "indicators", "layer-norm"})
PLUGIN_ADVICE = (
    "Train with inputs=standard or inputs=none and without the parts named above, or export the model as"
    " onnx, c or python."
)


class NetworkTarget(Target[NetworkSource]):
    """A format of linear scorers or networks.

    Attributes:
        unsupported: Keys of `LIMITS`: parts of a network that the format cannot express.
        limit_advice: Advice for a model that the format cannot express.
    """

    unsupported: ClassVar[frozenset[str]] = frozenset()
    limit_advice: ClassVar[str] = "Export the model as onnx, c or python."

    def check(self, source: NetworkSource) -> None:
        """Refuse a model that the format cannot express.

        Raises:
            ModelError: The format cannot express the model.
        """
        parts = [part for name, part in parts_of(source.network) if name in self.unsupported]
        if parts:
            raise ModelError(
                f"{self.name} cannot express {' and '.join(parts)} of the model. {self.limit_advice}"
            )

    @abstractmethod
    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Read the file and return its engines; the first engine gives the golden scores."""

    def shift_of(self, source: NetworkSource) -> float | None:
        """Return the constant that the format adds to all scores, None without one."""
        return None


def parts_of(network: Network) -> Iterable[tuple[str, str]]:
    """Yield the names and descriptions of a network's parts that some formats cannot express."""
    if network.inputs.log1p:
        yield "log1p", "the logarithms (log1p)"
    if network.inputs.kind == "rank-gauss":
        yield "rank-gauss", "the rank-gauss inputs"
    if len(network.inputs.indicators):
        yield "indicators", "the missing-value indicators"
    if any(layer.norm_scales is not None for layer in network.layers):
        yield "layer-norm", "the layer norm"


LIMITS = {
    "log1p": "log1p",
    "rank-gauss": "rank-gauss inputs",
    "indicators": "missing-value indicators",
    "layer-norm": "layer norm",
}


def limits_of(unsupported: frozenset[str]) -> tuple[str, ...]:
    """Return a note on the unsupported parts of a model, in the order of `LIMITS`."""
    parts = [part for name, part in LIMITS.items() if name in unsupported]
    return (", ".join(parts),) if parts else ()


def centres_of(network: Network) -> Float64Array:
    """Return the raw values, (n_features,), that scale to 0, the input of a missing feature.

    The inputs must be `standard` or `none`, without logarithms.
    """
    return network.inputs.means if network.inputs.kind == "standard" else np.zeros(network.n_features)


def require_missing_as_zero(source: NetworkSource, reader: str) -> None:
    """Refuse a model that scores missing features differently than an engine that replaces them by 0.

    Raises:
        ModelError: A used feature has a mean other than 0, and may be missing.
    """
    if source.options.never_missing:
        return
    used = np.array(source.network.used_features, np.int64)
    centres = centres_of(source.network)
    differing = used[centres[used] != 0.0]
    if not len(differing):
        return
    examples = ", ".join(
        f"{source.features[column]!r} at {centres[column]:.6g}" for column in differing[:_EXAMPLES].tolist()
    )
    raise ModelError(
        f"the model replaces a missing feature by its mean, {reader} by 0: {len(differing)} of"
        f" {source.network.n_features} features differ ({examples}). Let the queries of these features"
        " return the mean for documents without a value, and set never_missing. If no features are missing,"
        " set never_missing only"
    )


def require_float32(source: NetworkSource, reader: str) -> None:
    """Refuse means and deviations that are beyond the range of float32.

    Raises:
        ModelError: A mean or deviation is beyond the range.
    """
    inputs = source.network.inputs
    with np.errstate(over="ignore", under="ignore"):
        rounded = inputs.means.astype(np.float32), inputs.deviations.astype(np.float32)
    small = rounded[1] < np.finfo(np.float32).tiny
    if not np.isfinite(rounded).all() or small.any():
        raise ModelError(f"means or deviations of the model exceed the range of float32, which {reader} uses")
