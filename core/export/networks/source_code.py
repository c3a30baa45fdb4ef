"""What exports as source code have in common: the service's own arithmetic in float64, without fusing.

A sum may end in another last digit than the service's, which may fuse a product with the sum behind it.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from core.errors import ModelError
from core.export.networks.evaluation import score_in_doubles
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.scorers import InputTransform, Layer, Network

Arrays = Mapping[str, Any]
_NORMS = ("norm_scales", "norm_shifts")


class SourceCode(NetworkTarget):
    """Source code with the weights as tables.

    Attributes:
        log1p: The code that takes logarithms.
        before_log1p: The line in front of it, which no name of a feature can be.
        before_activation: The lines in front of the code of the activation.
    """

    log1p: ClassVar[str]
    before_log1p: ClassVar[str]
    before_activation: ClassVar[str]
    media_type = "text/plain; charset=utf-8"
    options = frozenset({"model_name", "feature_names"})
    limits = ()

    @abstractmethod
    def arrays(self, text: str) -> Arrays:
        """Read the tables of `tables_of`, flat, from the code."""

    @abstractmethod
    def activations(self) -> Mapping[str, str]:
        """Return the code of each activation."""

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Read the tables, and evaluate them by numpy as the code does.

        Raises:
            ModelError: They are not those of a network.
        """
        text = content.decode()
        activations = self.activations().items()
        found = [name for name, code in activations if f"\n{self.before_activation}{code}" in text]
        if len(found) != 1:
            raise ModelError("the export has not one activation")
        network = network_of(
            self.arrays(text),
            source.features,
            log1p=f"\n{self.before_log1p}{self.log1p}" in text,
            activation=found[0],
        )
        words = "features rounded to float32; missing features as in the model; everything else in float64"
        return (
            Engine(
                self.reader,
                words,
                single=False,
                finite=False,
                score=lambda rows: score_in_doubles(network, rows),
            ),
        )


def tables_of(network: Network) -> dict[str, Any]:
    """Return the arrays of a network by the names that they have in source code, those that there are."""
    inputs = network.inputs
    tables: dict[str, Any] = {}
    if inputs.kind == "standard":
        tables |= {"means": inputs.means, "deviations": inputs.deviations}
    elif inputs.kind == "rank-gauss":
        tables |= {"knots": inputs.knots, "targets": inputs.targets}
    if len(inputs.indicators):
        tables["indicators"] = inputs.indicators
    for place, layer in enumerate(network.layers):
        for name in ("weights", "bias", *_NORMS):
            if (array := getattr(layer, name)) is not None:
                tables[f"{name}_{place}"] = array
    return tables


def network_of(arrays: Arrays, features: tuple[str, ...], *, log1p: bool, activation: str) -> Network:
    """Return the network of tables that were read back, each as a flat list of numbers.

    Raises:
        ModelError: Sizes do not fit each other.
    """
    n_features, none = len(features), np.empty(0)
    kind = "standard" if "means" in arrays else "rank-gauss" if "knots" in arrays else "none"
    indicators = np.array(arrays.get("indicators", ()), np.int64)
    layers: list[Layer] = []
    n_inputs = n_features + len(indicators)
    try:
        while f"weights_{len(layers)}" in arrays:
            place = len(layers)
            flat = np.array(arrays[f"weights_{place}"], np.float32)
            norms = (
                np.array(arrays[name], np.float32) if (name := f"{norm}_{place}") in arrays else None
                for norm in _NORMS
            )
            bias = np.array(arrays[f"bias_{place}"], np.float32)
            layers.append(Layer(flat.reshape(n_inputs, len(bias)), bias, *norms))
            n_inputs = len(bias)
        knots, targets = (
            np.array(arrays[name], np.float64).reshape(n_features, -1) if name in arrays else np.empty((0, 0))
            for name in ("knots", "targets")
        )
        transform = InputTransform(
            kind,
            log1p,
            np.array(arrays.get("means", none), np.float64),
            np.array(arrays.get("deviations", none), np.float64),
            knots,
            targets,
            indicators,
            n_features,
        )
    except (KeyError, ValueError) as error:
        raise ModelError("the tables of the export are not those of the model") from error
    return Network(features, transform, tuple(layers), activation)
