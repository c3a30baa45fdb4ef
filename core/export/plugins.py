"""Export for the Learning to Rank plugins of Elasticsearch and OpenSearch: XGBoost JSON and linear models.

`model/xgboost+json` is parsed strictly: no unknown keys, `nodeid` and `depth` on every split, children in the
order yes, no. A split goes left where `x < split_condition` in float32. The treatment of missing features
depends on the version. A feature of `model/linear` is scaled by a `standard` normalizer in float32; in all
versions a missing feature is 0 before it is scaled.
"""

import json
from typing import Any, ClassVar

import numpy as np

from core.export.networks.evaluation import engine_of_plugin
from core.export.networks.target import (
    PLUGIN_ADVICE,
    PLUGIN_UNSUPPORTED,
    Engine,
    NetworkSource,
    NetworkTarget,
    limits_of,
    require_float32,
    require_missing_as_zero,
)
from core.export.nodes import Nodes, Split
from core.export.options import ExportOptions
from core.export.target import AnySource, Target
from core.export.text import float32_text, nested_texts
from core.export.thresholds import strict_thresholds
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, Missing, TreeSource, TreeTarget
from core.scorers import Layer

_ELASTICSEARCH = "the Learning to Rank plugin of Elasticsearch"
_OPENSEARCH = "the Learning to Rank plugin of OpenSearch"


class _Plugin(Target[AnySource]):
    """A body of the plugin's request `_createmodel`.

    Attributes:
        negative_scores_advice: Advice for plugins that refuse negative scores.
    """

    filename = "model.json"
    media_type = "application/json"
    negative_scores_advice: ClassVar[str]

    def instructions(self, source: AnySource) -> str:
        """Return the requests that store a model and rescore by it."""
        return f"""\
The feature set `{source.feature_set}` must have these features: see `features` in any line of `golden.jsonl`.

```sh
SEARCH=http://localhost:9200
curl -X POST $SEARCH/_ltr/_featureset/{source.feature_set}/_createmodel -H 'Content-Type: application/json' \\
  --data-binary @{self.filename}
curl -X POST $SEARCH/index/_search -H 'Content-Type: application/json' -d '{{"query": {{"match_all": {{}}}},
  "rescore": {{"window_size": 100, "query": {{"query_weight": 0, "rescore_query":
    {{"sltr": {{"model": "{source.name}", "params": {{}}}}}}}}}}}}'
```

To replay `golden.jsonl`, index each line's `features` as fields that the feature set's queries score by,
leave out those that are `null`, and compare the score of each document with `score`; both are sums of
float32. Lucene rejects negative scores of a query without rescoring: {self.negative_scores_advice}
"""


class _Xgboost(_Plugin[TreeSource], TreeTarget):
    """A forest, as `model/xgboost+json`."""

    options = frozenset(
        {"target_version", "model_name", "feature_set", "feature_names", "score_shift", "never_missing"}
    )
    negative_scores_advice = "`score_shift=true` shifts all scores to at least 0."

    def write(self, source: TreeSource) -> bytes:
        """Write the body of `_createmodel`."""
        model_thresholds, nan_left = source.numeric_splits
        thresholds = strict_thresholds(model_thresholds)
        nodes = source.nodes
        names = [json.dumps(name) for name in source.features]
        features, right, values = (
            nodes.features.tolist(),
            nodes.right.tolist(),
            nodes.values.astype(np.float32).tolist(),
        )
        numbers, left, depths = thresholds.tolist(), nan_left.tolist(), nodes.depths().tolist()
        first = np.repeat(nodes.roots, np.diff(nodes.roots, append=len(nodes.features))).tolist()

        def leaf(node: int) -> str:
            return f'{{"nodeid":{node - first[node]},"leaf":{float32_text(values[node])}}}'

        def split(node: int, below_left: str, below_right: str) -> str:
            yes, no = node + 1 - first[node], right[node] - first[node]
            return (
                f'{{"nodeid":{node - first[node]},"depth":{depths[node]},"split":{names[features[node]]},'
                f'"split_condition":{float32_text(numbers[node])},"yes":{yes},"no":{no},'
                f'"missing":{yes if left[node] else no},"children":[{below_left},{below_right}]}}'
            )

        definition = f"[{','.join(nested_texts(nodes, leaf, split))}]"
        body = {"name": source.name, "model": {"type": "model/xgboost+json", "definition": definition}}
        return json.dumps({"model": body}).encode() + b"\n"

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the trees of the body."""
        columns = source.columns

        def value_or_split(node: dict[str, Any]) -> float | tuple[Split, dict[str, Any], dict[str, Any]]:
            if "leaf" in node:
                return float(node["leaf"])
            feature, threshold = columns[node["split"]], float(node["split_condition"])
            return Split.of(feature, threshold, nan_left=node["missing"] == node["yes"]), *node["children"]

        return Nodes.from_trees(
            json.loads(json.loads(content)["model"]["model"]["definition"]), value_or_split
        )


class ElasticsearchXgboost(_Xgboost):
    """`model/xgboost+json` for the plugin of Elasticsearch."""

    name = "elasticsearch-xgboost"
    reader = _ELASTICSEARCH
    summary = f"model/xgboost+json for {_ELASTICSEARCH}"
    limits = (
        *NUMERIC_LIMITS,
        (
            "splits that send missing values to a different child than the value 0, in plugins for"
            " Elasticsearch before 8.14"
        ),
    )
    limit_advice = "Plugins for Elasticsearch 8.14 and later follow the split."

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetic of the version; exports for 8.12 and 8.13 are exact in both arithmetics."""
        if options.is_older_than(8, 14):
            return (
                Arithmetic(
                    "the plugin for Elasticsearch before 8.14",
                    strict=True,
                    missing=Missing.ZERO,
                    finite_only=True,
                ),
            )
        return (Arithmetic("the plugin for Elasticsearch 8.14 and later", strict=True, finite_only=True),)


class OpensearchXgboost(_Xgboost):
    """`model/xgboost+json` for the plugin of OpenSearch."""

    name = "opensearch-xgboost"
    reader = _OPENSEARCH
    summary = f"model/xgboost+json for {_OPENSEARCH}"
    limits = (
        *NUMERIC_LIMITS,
        "splits that send missing values to a different child than the value 0, in OpenSearch up to 3.1",
        "splits that send missing values left, in OpenSearch 3.2 to 3.7",
    )
    limit_advice = "OpenSearch 3.8 and later follow the split."

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetic of the version."""
        if options.is_older_than(3, 2):
            return (Arithmetic("OpenSearch up to 3.1", strict=True, missing=Missing.ZERO, finite_only=True),)
        if options.is_older_than(3, 8):
            return (
                Arithmetic("OpenSearch 3.2 to 3.7", strict=True, missing=Missing.RIGHT, finite_only=True),
            )
        return (Arithmetic("OpenSearch 3.8 and later", strict=True, finite_only=True),)


class _Linear(_Plugin[NetworkSource], NetworkTarget):
    """A linear scorer, as `model/linear`."""

    options = frozenset({"model_name", "feature_set", "feature_names", "never_missing"})
    limits = (
        *limits_of(PLUGIN_UNSUPPORTED),
        "missing features, which count as 0, if the model replaces them by the mean",
    )
    unsupported = PLUGIN_UNSUPPORTED
    negative_scores_advice = "use the model for rescoring only, as above."
    limit_advice = PLUGIN_ADVICE

    def check(self, source: NetworkSource) -> None:
        """Refuse a model that the plugins cannot express."""
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
        """Parse the weights and the normalizers, and return the engine that evaluates them."""
        model = json.loads(content)["model"]["model"]
        weights = json.loads(model["definition"])
        norms = model.get("feature_normalizers", {})
        identity = {"standard": {"mean": 0.0, "standard_deviation": 1.0}}
        scales = [norms.get(name, identity)["standard"] for name in source.features]
        means, deviations = (
            np.array([scale[key] for scale in scales], np.float32) for key in ("mean", "standard_deviation")
        )
        column = np.array([weights[name] for name in source.features], np.float32)[:, np.newaxis]
        layers = (Layer(column, np.zeros(1, np.float32)),)
        arithmetic = "finite features, missing ones as 0; scaled and added in float32"
        normalizers = np.zeros_like(means), means, deviations
        return (engine_of_plugin(self.reader, arithmetic, normalizers, layers, "relu"),)

    def notes(self, source: NetworkSource, content: bytes) -> list[str]:
        """Return notes on the omitted bias and the option never_missing."""
        notes = [
            (
                "The bias is left out: model/linear has no bias, and a bias does not change the order of"
                " documents."
            )
        ]
        if source.options.never_missing:
            notes.append("Missing features are not compared, since never_missing is set.")
        return notes


class ElasticsearchLinear(_Linear):
    """`model/linear` for the plugin of Elasticsearch."""

    name = "elasticsearch-linear"
    reader = _ELASTICSEARCH
    summary = f"model/linear for {_ELASTICSEARCH}"


class OpensearchLinear(_Linear):
    """`model/linear` for the plugin of OpenSearch."""

    name = "opensearch-linear"
    reader = _OPENSEARCH
    summary = f"model/linear for {_OPENSEARCH}"
