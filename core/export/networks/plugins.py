"""`model/linear` for the Learning to Rank plugins of Elasticsearch and OpenSearch.

A feature is scaled by a `standard` normalizer, and is 0 before where a document lacks it, in all versions.
Everything is float32.
"""

import json

import numpy as np

from core.export.nested import float32_text
from core.export.networks.evaluation import forward, in_blocks
from core.export.networks.target import (
    Engine,
    NetworkSource,
    NetworkTarget,
    limits_of,
    require_float32,
    require_missing_as_zero,
)
from core.export.xgboost_json import plugin_instructions
from core.scorers import Layer
from core.types import Float32Array, Float64Array

_CANNOT = frozenset({"log1p", "rank-gauss", "indicators", "layer-norm"})


class _PluginLinear(NetworkTarget):
    """What both plugins have in common."""

    filename = "model.json"
    media_type = "application/json"
    options = frozenset({"model_name", "feature_set", "feature_names", "never_missing"})
    limits = (
        *limits_of(_CANNOT),
        "missing features, which count as 0, of models that take the mean for them",
    )
    cannot = _CANNOT
    way_out = "Train with inputs standard or none and without it, or export it as onnx, c or python."

    def check(self, source: NetworkSource) -> None:
        """Refuse what the plugins cannot express."""
        super().check(source)
        if source.network.inputs.kind == "standard":
            require_float32(source, self.reader)
            require_missing_as_zero(source, self.reader)

    def shift_of(self, source: NetworkSource) -> float | None:
        """Return the shift by the bias, which `model/linear` does not support."""
        return -float(source.network.layers[0].bias[0]) or None

    def write(self, source: NetworkSource) -> bytes:
        """Write the body of `_createmodel`."""
        inputs = source.network.inputs
        weights = source.network.layers[0].weights[:, 0].tolist()
        definition = ",".join(
            f"{json.dumps(name)}:{float32_text(weight)}"
            for name, weight in zip(source.features, weights, strict=True)
        )
        model: dict[str, object] = {"type": "model/linear", "definition": f"{{{definition}}}"}
        if inputs.kind == "standard":
            scales = np.column_stack([inputs.means, inputs.deviations])
            model["feature_normalizers"] = {
                name: {
                    "standard": {
                        "mean": float(float32_text(mean)),
                        "standard_deviation": float(float32_text(deviation)),
                    }
                }
                for name, (mean, deviation) in zip(source.features, scales.tolist(), strict=True)
            }
        return json.dumps({"model": {"name": source.name, "model": model}}).encode() + b"\n"

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Read the weights and the normalizers."""
        model = json.loads(content)["model"]["model"]
        weights = json.loads(model["definition"])
        norms = model.get("feature_normalizers", {})
        plain = {"standard": {"mean": 0.0, "standard_deviation": 1.0}}
        scales = [norms.get(name, plain)["standard"] for name in source.features]
        means, deviations = (
            np.array([scale[key] for scale in scales], np.float32) for key in ("mean", "standard_deviation")
        )
        held = np.array([weights[name] for name in source.features], np.float32)[:, np.newaxis]
        layers = (Layer(held, np.zeros(1, np.float32)),)

        def score(rows: Float32Array) -> Float64Array:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                values = (np.where(np.isnan(rows), np.float32(0.0), rows) - means) / deviations
                return forward(values, layers, "relu")

        words = "finite features, missing ones as 0; scaled and added in float32"
        return (
            Engine(self.reader, words, single=True, finite=True, score=lambda rows: in_blocks(score, rows)),
        )

    def notes(self, source: NetworkSource, content: bytes) -> list[str]:
        """Say that the bias is left out, and what never_missing says."""
        found = ["The bias is left out: model/linear has none, and it changes no order."]
        if source.options.never_missing:
            found.append("Missing features are not compared: never_missing says that there are none.")
        return found

    def instructions(self, source: NetworkSource) -> str:
        """Show the request."""
        return plugin_instructions(source, self.filename) + (
            "leave out those that are `null`, and compare the score of each document with `score`; both are"
            " sums of\nfloat32. Lucene takes no score below 0 where it is asked for one alone: rescore by it,"
            " as above.\n"
        )


class ElasticsearchLinear(_PluginLinear):
    """For the plugin of Elasticsearch."""

    name = "elasticsearch-linear"
    reader = "the Learning to Rank plugin of Elasticsearch"
    summary = "model/linear for the Learning to Rank plugin of Elasticsearch"


class OpensearchLinear(_PluginLinear):
    """For the plugin of OpenSearch."""

    name = "opensearch-linear"
    reader = "the Learning to Rank plugin of OpenSearch"
    summary = "model/linear for the Learning to Rank plugin of OpenSearch"
