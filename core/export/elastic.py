"""Export for Elasticsearch's built-in learning to rank: a trained model with `learning_to_rank`."""

import json
from typing import Any

import numpy as np

from core.errors import InvalidInput
from core.export.nodes import Nodes, Split
from core.export.options import ExportOptions
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, TreeSource, TreeTarget


class Elastic(TreeTarget):
    """Body of `PUT _ml/trained_models/{id}`; its `lte` in float64 equals LightGBM's comparison."""

    name = "elastic-learning-to-rank"
    filename = "model.json"
    media_type = "application/json"
    reader = "Elasticsearch's built-in learning to rank"
    summary = "Trained model with learning_to_rank for Elasticsearch 8.12 and later"
    options = frozenset({"target_version", "model_name", "feature_names", "score_shift"})
    limits = NUMERIC_LIMITS
    nests = False

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetic of Elasticsearch."""
        engine = "Elasticsearch's inference"
        return (Arithmetic(engine, single=False, single_sum=False, float64_exact=True, finite_only=True),)

    def check(self, source: TreeSource) -> None:
        """Refuse versions without learning to rank, and splits that the format cannot express."""
        if source.options.is_older_than(8, 12):
            raise InvalidInput.at(
                "/target_version",
                "must be at least 8.12, the first version with learning to rank; or export as"
                " elasticsearch-xgboost for the plugin",
            )
        super().check(source)

    def write(self, source: TreeSource) -> bytes:
        """Write the trained model."""
        model_thresholds, nan_left = source.numeric_splits
        self.refuse(source, np.flatnonzero(np.isneginf(model_thresholds)), "has thresholds below all numbers")
        # JSON has no infinity.
        model_thresholds = np.minimum(model_thresholds, np.finfo(np.float64).max)
        nodes, names = source.nodes, list(source.features)
        features, right, values = nodes.features.tolist(), nodes.right.tolist(), nodes.values.tolist()
        thresholds, left = model_thresholds.tolist(), nan_left.tolist()

        def node_json(node: int, first: int) -> dict[str, Any]:
            if features[node] < 0:
                return {"node_index": node - first, "leaf_value": values[node]}
            return {
                "node_index": node - first,
                "decision_type": "lte",
                "left_child": node + 1 - first,
                "right_child": right[node] - first,
                "split_feature": features[node],
                "threshold": thresholds[node],
                "default_left": bool(left[node]),
            }

        trees = []
        for tree in range(len(nodes.roots)):
            tree_nodes = nodes.of_tree(tree)
            structure = [node_json(node, tree_nodes.start) for node in tree_nodes]
            trees.append(
                {"tree": {"target_type": "regression", "feature_names": names, "tree_structure": structure}}
            )
        ensemble = {
            "target_type": "regression",
            "feature_names": names,
            "trained_models": trees,
            "aggregate_output": {"weighted_sum": {}},
        }
        extractors = [{"query_extractor": _extractor(name)} for name in names]
        body: dict[str, Any] = {
            "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
            "definition": {"trained_model": {"ensemble": ensemble}},
        }
        if source.options.is_older_than(8, 15):
            body["input"] = {"field_names": names}
        return json.dumps(body, separators=(",", ":")).encode() + b"\n"

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the trees of the file."""
        ensemble = json.loads(content)["definition"]["trained_model"]["ensemble"]
        structures = [model["tree"]["tree_structure"] for model in ensemble["trained_models"]]

        def value_or_split(node: tuple[list[dict[str, Any]], int]) -> Any:
            structure, index = node
            written = structure[index]
            if "leaf_value" in written:
                return float(written["leaf_value"])
            threshold, nan_left = float(written["threshold"]), written["default_left"]
            split = Split.of(written["split_feature"], threshold, nan_left=nan_left)
            return split, (structure, written["left_child"]), (structure, written["right_child"])

        return Nodes.from_trees(((structure, 0) for structure in structures), value_or_split)

    def instructions(self, source: TreeSource) -> str:
        """Return the requests that store a model and rescore by it."""
        return f"""\
The feature extractors in `{self.filename}` read each feature from the numeric field with its name. A feature
is missing if a document does not have the field. Replace them by the queries of your features.

```sh
ELASTIC=http://localhost:9200
curl -X PUT $ELASTIC/_ml/trained_models/{source.name} -H 'Content-Type: application/json' \\
  --data-binary @{self.filename}
curl -X POST $ELASTIC/index/_search -H 'Content-Type: application/json' -d '{{"query": {{"match_all": {{}}}},
  "rescore": {{"learning_to_rank": {{"model_id": "{source.name}"}}, "window_size": 100}}}}'
```

To replay `golden.jsonl`, index each line's `features` as fields, leave out those that are `null`, and compare
the score of each document with `score`: Elasticsearch adds in float64 and returns a float32. From 8.19 on it
shifts negative scores itself.
"""


def _extractor(name: str) -> dict[str, Any]:
    value = {"script": {"source": "doc[params.field].value", "params": {"field": name}}}
    return {"feature_name": name, "query": {"script_score": {"query": {"exists": {"field": name}}, **value}}}
