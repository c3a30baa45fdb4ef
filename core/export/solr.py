"""Export for Solr's model store: MultipleAdditiveTreesModel, LinearModel and NeuralNetworkModel.

Solr goes left where `x <= threshold + 1e-6`, added in float32. Exported thresholds are therefore chosen such
that this sum is the model's threshold, or close to it. The setters of trees expect numbers as strings, and
`isNullSameAsZero` as a boolean.

Features of linear scorers and networks are scaled by a StandardNormalizer in float32: `(x - mean) /
deviation` loses less precision than folding the scaling into the weights. The setters of these models cast
numbers to Java's Double, so each number needs a point or an exponent.
"""

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from core.errors import ModelError
from core.export.networks.evaluation import engine_of_plugin
from core.export.networks.target import (
    PLUGIN_ADVICE,
    PLUGIN_UNSUPPORTED,
    Engine,
    NetworkSource,
    NetworkTarget,
    centres_of,
    limits_of,
    require_float32,
)
from core.export.nodes import Nodes, Split
from core.export.options import ExportOptions
from core.export.target import AnySource, Target
from core.export.text import decimal, float32_text, java_float, nested_texts
from core.export.thresholds import before_slack
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, Missing, TreeSource, TreeTarget
from core.scorers import Layer
from core.types import Float32Array

ZOOKEEPER_BYTES = 1_000_000  # jute.maxbuffer, 0xfffff, less the rest of Solr's managed resource
_LTR = "org.apache.solr.ltr"
_NORM = f"{_LTR}.norm.StandardNormalizer"
_ACTIVATIONS = frozenset({"relu", "tanh", "sigmoid"})


class _Solr(Target[AnySource]):
    """A model for Solr's model store."""

    name = "solr"
    filename = "model.json"
    media_type = "application/json"
    reader = "Solr's Learning to Rank"
    model: ClassVar[str]

    @abstractmethod
    def params(self, source: AnySource) -> str:
        """Return the members of the model's `params` as JSON text."""

    @abstractmethod
    def defaults(self, source: AnySource) -> list[str | None]:
        """Return the `defaultValue` of each feature; None to leave it out."""

    @abstractmethod
    def advice(self, source: AnySource) -> str:
        """Return the advice on default values in `features.json`, with a leading space; "" for none."""

    def norms(self, source: AnySource) -> list[dict[str, Any]]:
        """Return the JSON members of each feature of the model besides its name: the normalizer, if any."""
        return [{}] * len(source.features)

    def write(self, source: AnySource) -> bytes:
        """Return the model as JSON for the model store."""
        head = {
            "class": f"{_LTR}.model.{self.model}",
            "name": source.name,
            "store": source.feature_set,
            "features": [
                {"name": name, **norm} for name, norm in zip(source.features, self.norms(source), strict=True)
            ],
        }
        return f'{json.dumps(head)[:-1]}, "params": {{{self.params(source)}}}}}\n'.encode()

    def companions(self, source: AnySource, content: bytes) -> Mapping[str, bytes]:
        """Return a template of `features.json`, and the wrapper of a model too large for ZooKeeper."""
        features = [
            {
                "store": source.feature_set,
                "name": name,
                "class": f"{_LTR}.feature.FieldValueFeature",
                "params": {"field": name, **({} if default is None else {"defaultValue": default})},
            }
            for name, default in zip(source.features, self.defaults(source), strict=True)
        ]
        files = {"features.json": _json(features)}
        if len(content) > ZOOKEEPER_BYTES:
            files["wrapper.json"] = _json(
                {
                    "class": f"{_LTR}.model.DefaultWrapperModel",
                    "name": source.name,
                    "store": source.feature_set,
                    "params": {"resource": f"{source.name}.json"},
                }
            )
        return files

    def notes(self, source: AnySource, content: bytes) -> list[str]:
        """Return a warning for a model too large for ZooKeeper."""
        if len(content) <= ZOOKEEPER_BYTES:
            return []
        return [
            (
                f"The model has {len(content):,} bytes, more than ZooKeeper's 1 MB: copy {self.filename} as"
                f" {source.name}.json to a <lib> folder of each node, and upload wrapper.json instead."
            )
        ]

    def instructions(self, source: AnySource) -> str:
        """Return the requests that store the features and the model, and that rank by the model."""
        return f"""\
`features.json` is a template that reads each feature from the field with its name.{self.advice(source)}

```sh
SOLR=http://localhost:8983/solr/collection
curl -X PUT $SOLR/schema/feature-store -H 'Content-Type: application/json' --data-binary @features.json
curl -X PUT $SOLR/schema/model-store -H 'Content-Type: application/json' --data-binary @{self.filename}
curl "$SOLR/query?q=*:*&rq=%7B!ltr%20model={source.name}%20reRankDocs=100%7D&fl=id,score"
```

If the archive has a `wrapper.json`, the model is too large for ZooKeeper: copy `{self.filename}` as
`{source.name}.json` to a folder that solrconfig.xml names in a `<lib>` directive on each node, and PUT
`wrapper.json` instead.

To replay `golden.jsonl`, index each line's `features` as fields of a document, leave out those that are
`null`, and compare its score with `score`; both are sums of float32.
"""


class SolrTrees(_Solr[TreeSource], TreeTarget):
    """Solr's model of a forest."""

    model = "MultipleAdditiveTreesModel"
    summary = "MultipleAdditiveTreesModel for Solr's model store"
    options = frozenset(
        {"target_version", "model_name", "feature_set", "feature_names", "score_shift", "never_missing"}
    )
    limits = (
        *NUMERIC_LIMITS,
        (
            "thresholds below about 1e-6 and some negative powers of two are approximated: parity.json counts"
            " them"
        ),
        "splits that send missing values to a different child than the value 0, in Solr before 9.2",
    )
    limit_advice = "Solr 9.2 and later follow the split."

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetic of the version."""
        if _legacy(options):
            return (Arithmetic("Solr before 9.2", slack=True, missing=Missing.ZERO),)
        return (Arithmetic("Solr 9.2 and later", slack=True),)

    def params(self, source: TreeSource) -> str:
        """Return the trees as JSON text."""
        model_thresholds, nan_left = source.numeric_splits
        nodes, legacy = source.nodes, _legacy(source.options)
        names = [json.dumps(name) for name in source.features]
        features, values = nodes.features.tolist(), nodes.values.astype(np.float32).tolist()
        thresholds, left = before_slack(model_thresholds).tolist(), nan_left.tolist()

        def split(node: int, below_left: str, below_right: str) -> str:
            missing = "" if legacy else f'"missing":"{"left" if left[node] else "right"}",'
            return (
                f'{{"feature":{names[features[node]]},"threshold":"{java_float(thresholds[node])}",{missing}'
                f'"left":{below_left},"right":{below_right}}}'
            )

        trees = nested_texts(nodes, lambda node: f'{{"value":"{java_float(values[node])}"}}', split)
        nulls = "" if legacy else '"isNullSameAsZero":false,'
        written = ",".join(f'{{"weight":"1","root":{tree}}}' for tree in trees)
        return f'{nulls}"trees":[{written}]'

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the trees of the model."""
        columns = source.columns

        def value_or_split(node: dict[str, Any]) -> float | tuple[Split, dict[str, Any], dict[str, Any]]:
            if "value" in node:
                return float(node["value"])
            feature, threshold = columns[node["feature"]], float(node["threshold"])
            split = Split.of(feature, threshold, nan_left=node.get("missing") == "left")
            return split, node["left"], node["right"]

        trees = json.loads(content)["params"]["trees"]
        return Nodes.from_trees((tree["root"] for tree in trees), value_or_split)

    def defaults(self, source: TreeSource) -> list[str | None]:
        """Return NaN for versions that distinguish NaN from 0."""
        return [None if _legacy(source.options) else "NaN"] * len(source.features)

    def advice(self, source: TreeSource) -> str:
        """Return the advice to keep NaN."""
        return (
            ""
            if _legacy(source.options)
            else ' Keep `"defaultValue": "NaN"`, which marks a feature as missing.'
        )


class _SolrNetwork(_Solr[NetworkSource], NetworkTarget):
    """Solr's model of a linear scorer or a network, whose features are scaled by normalizers."""

    options = frozenset({"model_name", "feature_set", "feature_names", "never_missing"})
    limits = limits_of(PLUGIN_UNSUPPORTED)
    unsupported = PLUGIN_UNSUPPORTED
    limit_advice = PLUGIN_ADVICE

    def check(self, source: NetworkSource) -> None:
        """Refuse a model that Solr cannot express."""
        super().check(source)
        if source.network.inputs.kind == "standard":
            require_float32(source, self.reader)

    def norms(self, source: NetworkSource) -> list[dict[str, Any]]:
        """Return the normalizer of each feature."""
        inputs = source.network.inputs
        if inputs.kind != "standard":
            return super().norms(source)
        scales = zip(inputs.means.tolist(), inputs.deviations.tolist(), strict=True)
        return [
            {
                "norm": {
                    "class": _NORM,
                    "params": {"avg": float32_text(mean), "std": float32_text(deviation)},
                }
            }
            for mean, deviation in scales
        ]

    def defaults(self, source: NetworkSource) -> list[str | None]:
        """Return the means, or 0 without scaling: values that scale to 0."""
        with np.errstate(under="ignore"):
            centres = centres_of(source.network).astype(np.float32).tolist()
        return [decimal(centre) for centre in centres]

    def advice(self, source: NetworkSource) -> str:
        """Return the advice to keep the means."""
        return " Keep each `defaultValue`: it replaces a missing feature."

    def notes(self, source: NetworkSource, content: bytes) -> list[str]:
        """Return notes on missing features and on models too large for ZooKeeper."""
        missing = (
            "A missing feature has its defaultValue in features.json, which scales to 0 as in the model: the"
            " mean over the training data, or 0 without scaling."
        )
        return [missing, *super().notes(source, content)]

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
        arithmetic = "finite features, missing ones as their defaultValue; scaled and added in float32"
        return (engine_of_plugin("Solr", arithmetic, (default, means, deviations), layers, activation),)


class SolrLinear(_SolrNetwork):
    """Solr's model of a linear scorer, with the weights as they were trained."""

    model = "LinearModel"
    summary = "LinearModel for Solr's model store"

    def shift_of(self, source: NetworkSource) -> float | None:
        """Return the shift by the bias, which a LinearModel does not support."""
        return -float(source.network.layers[0].bias[0]) or None

    def params(self, source: NetworkSource) -> str:
        """Return the weights as JSON text."""
        weights = source.network.layers[0].weights[:, 0].tolist()
        written = zip(map(json.dumps, source.features), map(decimal, weights), strict=True)
        return f'"weights":{{{",".join(f"{name}:{weight}" for name, weight in written)}}}'

    def notes(self, source: NetworkSource, content: bytes) -> list[str]:
        """Return a note on the omitted bias."""
        bias = (
            "The bias is left out: a LinearModel has no bias, and a bias does not change the order of"
            " documents."
        )
        return [bias, *super().notes(source, content)]

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Parse the weights, and return the engine that evaluates them."""
        model = json.loads(content)
        weights = [model["params"]["weights"][feature["name"]] for feature in model["features"]]
        layer = Layer(np.array(weights, np.float32)[:, np.newaxis], np.zeros(1, np.float32))
        return self._engine(content, source, (layer,), "relu")


class SolrNetwork(_SolrNetwork):
    """Solr's model of a network, whose matrices have a row for each unit."""

    model = "NeuralNetworkModel"
    summary = "NeuralNetworkModel for Solr's model store"

    def params(self, source: NetworkSource) -> str:
        """Return the layers as JSON text."""
        network, last = source.network, len(source.network.layers) - 1
        layers = ",".join(
            f'{{"matrix":[{",".join(_row(row) for row in layer.weights.T)}],"bias":{_row(layer.bias)},'
            f'"activation":"{network.activation if index < last else "identity"}"}}'
            for index, layer in enumerate(network.layers)
        )
        return f'"layers":[{layers}]'

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Parse the layers, and return the engine that evaluates them.

        Raises:
            ModelError: The activations differ from the model's.
        """
        written = json.loads(content)["params"]["layers"]
        layers = tuple(
            Layer(np.array(layer["matrix"], np.float32).T, np.array(layer["bias"], np.float32))
            for layer in written
        )
        (activation, *others), last = (
            {layer["activation"] for layer in written[:-1]},
            written[-1]["activation"],
        )
        if others or activation not in _ACTIVATIONS or last != "identity":
            raise ModelError("the activations of the export differ from the activations of the model")
        return self._engine(content, source, layers, activation)


def _legacy(options: ExportOptions) -> bool:
    """Return whether this Solr version lacks `isNullSameAsZero` and `missing` (SOLR-16596)."""
    return options.is_older_than(9, 2)


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _row(values: Float32Array) -> str:
    return f"[{','.join(map(decimal, values.tolist()))}]"


def _norms(features: list[dict[str, Any]]) -> tuple[Float32Array, Float32Array]:
    params = [feature.get("norm", {}).get("params", {"avg": "0", "std": "1"}) for feature in features]
    means, deviations = (
        np.array([float(each[key]) for each in params], np.float32) for key in ("avg", "std")
    )
    return means, deviations
