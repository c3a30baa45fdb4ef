"""Solr's LinearModel and NeuralNetworkModel.

Solr scales features by a StandardNormalizer, in float32, before either model: `(x - mean) / deviation` loses
less there than weights into which it is folded. Setters cast numbers to Java's Double, so that each needs a
point or an exponent.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.errors import ModelError
from core.export.nested import float32_text
from core.export.networks.evaluation import forward, in_blocks
from core.export.networks.target import (
    Engine,
    NetworkSource,
    NetworkTarget,
    centres_of,
    limits_of,
    require_float32,
)
from core.export.solr import companion_files, store_instructions, zookeeper_notes
from core.scorers import Layer
from core.types import Float32Array, Float64Array

_MODEL, _NORM = "org.apache.solr.ltr.model", "org.apache.solr.ltr.norm.StandardNormalizer"
_CANNOT = frozenset({"log1p", "rank-gauss", "indicators", "layer-norm"})
_ACTIVATIONS = frozenset({"relu", "tanh", "sigmoid"})


class _Solr(NetworkTarget):
    """What both models have in common."""

    name = "solr"
    filename = "model.json"
    media_type = "application/json"
    reader = "Solr's Learning to Rank"
    options = frozenset({"model_name", "feature_set", "feature_names", "never_missing"})
    limits = limits_of(_CANNOT)
    cannot = _CANNOT
    way_out = "Train with inputs standard or none and without it, or export it as onnx, c or python."

    def check(self, source: NetworkSource) -> None:
        """Refuse what Solr cannot express."""
        super().check(source)
        if source.network.inputs.kind == "standard":
            require_float32(source, self.reader)

    def companions(self, source: NetworkSource, content: bytes) -> Mapping[str, bytes]:
        """Return features to start from, whose defaults are the means, and a wrapper of large models."""
        with np.errstate(under="ignore"):
            centres = centres_of(source.network).astype(np.float32).tolist()
        return companion_files(source, content, [java_double(centre) for centre in centres])

    def notes(self, source: NetworkSource, content: bytes) -> list[str]:
        """Say how missing features are scored, and warn of a model that ZooKeeper will not take."""
        missing = (
            "A missing feature is its defaultValue in features.json, the mean over the training data, which"
            " scales to 0 as in the model."
        )
        return [missing, *zookeeper_notes(content)]

    def instructions(self, source: NetworkSource) -> str:
        """Show the two requests."""
        return store_instructions(
            source, self.filename, " Keep each `defaultValue`: it is what a missing feature counts as."
        )

    def _head(self, source: NetworkSource, model: str) -> dict[str, Any]:
        inputs = source.network.inputs
        features: list[dict[str, Any]] = [{"name": name} for name in source.features]
        if inputs.kind == "standard":
            scales = zip(inputs.means.tolist(), inputs.deviations.tolist(), strict=True)
            for feature, (mean, deviation) in zip(features, scales, strict=True):
                params = {"avg": float32_text(mean), "std": float32_text(deviation)}
                feature["norm"] = {"class": _NORM, "params": params}
        return {
            "class": f"{_MODEL}.{model}",
            "name": source.name,
            "store": source.feature_set,
            "features": features,
        }

    def _engine(
        self, content: bytes, source: NetworkSource, layers: tuple[Layer, ...], activation: str
    ) -> tuple[Engine, ...]:
        model = json.loads(content)
        means, deviations = _norms(model["features"])
        defaults = {
            feature["name"]: float(feature["params"]["defaultValue"])
            for feature in json.loads(self.companions(source, content)["features.json"])
        }
        default = np.array([defaults[feature["name"]] for feature in model["features"]], np.float32)

        def score(rows: Float32Array) -> Float64Array:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                values = (np.where(np.isnan(rows), default, rows) - means) / deviations
                return forward(values, layers, activation)

        words = "finite features, missing ones as their defaultValue; scaled and added in float32"
        return (Engine("Solr", words, single=True, finite=True, score=lambda rows: in_blocks(score, rows)),)


class SolrLinear(_Solr):
    """A LinearModel for Solr's model store."""

    summary = "LinearModel for Solr's model store"

    def shift_of(self, source: NetworkSource) -> float | None:
        """Return the shift by the bias, which a LinearModel does not support."""
        return -float(source.network.layers[0].bias[0]) or None

    def write(self, source: NetworkSource) -> bytes:
        """Write the weights as they were trained, behind normalizers."""
        weights = source.network.layers[0].weights[:, 0].tolist()
        written = zip(map(json.dumps, source.features), map(java_double, weights), strict=True)
        params = ",".join(f"{name}:{weight}" for name, weight in written)
        head = json.dumps(self._head(source, "LinearModel"))
        return f'{head[:-1]}, "params": {{"weights":{{{params}}}}}}}\n'.encode()

    def notes(self, source: NetworkSource, content: bytes) -> list[str]:
        """Say that the bias is left out."""
        bias = "The bias is left out: a LinearModel has none, and it changes no order."
        return [bias, *super().notes(source, content)]

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Read the weights."""
        model = json.loads(content)
        weights = [model["params"]["weights"][feature["name"]] for feature in model["features"]]
        layer = Layer(np.array(weights, np.float32)[:, np.newaxis], np.zeros(1, np.float32))
        return self._engine(content, source, (layer,), "relu")


class SolrNetwork(_Solr):
    """A NeuralNetworkModel for Solr's model store."""

    summary = "NeuralNetworkModel for Solr's model store"

    def write(self, source: NetworkSource) -> bytes:
        """Write matrices with a row for each unit."""
        network, last = source.network, len(source.network.layers) - 1
        layers = ",".join(
            f'{{"matrix":[{",".join(_row(row) for row in layer.weights.T)}],"bias":{_row(layer.bias)},'
            f'"activation":"{network.activation if place < last else "identity"}"}}'
            for place, layer in enumerate(network.layers)
        )
        head = json.dumps(self._head(source, "NeuralNetworkModel"))
        return f'{head[:-1]}, "params": {{"layers":[{layers}]}}}}\n'.encode()

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Read the layers.

        Raises:
            ModelError: The activations are not those of the model.
        """
        found = json.loads(content)["params"]["layers"]
        layers = tuple(
            Layer(np.array(layer["matrix"], np.float32).T, np.array(layer["bias"], np.float32))
            for layer in found
        )
        (activation, *others), last = {layer["activation"] for layer in found[:-1]}, found[-1]["activation"]
        if others or activation not in _ACTIVATIONS or last != "identity":
            raise ModelError("the activations of the export are not those of the model")
        return self._engine(content, source, layers, activation)


def java_double(value: float) -> str:
    """Write a float32 value so that Java's JSON reader makes a Double of it, and never a Long."""
    text = float32_text(value)
    return text if "." in text or "e" in text else f"{text}.0"


def _row(values: Float32Array) -> str:
    return f"[{','.join(map(java_double, values.tolist()))}]"


def _norms(features: list[dict[str, Any]]) -> tuple[Float32Array, Float32Array]:
    params = [feature.get("norm", {}).get("params", {"avg": "0", "std": "1"}) for feature in features]
    means, deviations = (
        np.array([float(each[key]) for each in params], np.float32) for key in ("avg", "std")
    )
    return means, deviations
