"""`model/xgboost+json` for the Learning to Rank plugins of Elasticsearch and OpenSearch.

The parsers are strict: no key too many, `nodeid` and `depth` on every split, children in the order yes, no.
They go left where `x < split_condition` in float32. What they do with a missing feature depends on the
version.
"""

import json
from typing import Any

import numpy as np

from core.export.nested import float32_text, nested
from core.export.nodes import Nodes, Split
from core.export.options import ExportOptions
from core.export.target import Source
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, Missing, TreeSource, TreeTarget
from core.export.vespa import strict_thresholds
from core.scoring.descent import MissingGo


class XgboostJson(TreeTarget):
    """What both plugins have in common."""

    filename = "model.json"
    media_type = "application/json"
    options = frozenset(
        {"target_version", "model_name", "feature_set", "feature_names", "score_shift", "never_missing"}
    )

    def write(self, source: TreeSource) -> bytes:
        """Write the body of `_createmodel`."""
        wanted, nan_left = source.numeric
        thresholds = strict_thresholds(wanted)
        nodes = source.nodes
        names = [json.dumps(name) for name in source.features]
        features, right, values = (
            nodes.features.tolist(),
            nodes.right.tolist(),
            nodes.values.astype(np.float32).tolist(),
        )
        numbers, left, depths = thresholds.tolist(), nan_left.tolist(), nodes.depths().tolist()
        first = _first_of_tree(nodes)

        def leaf(node: int) -> str:
            return f'{{"nodeid":{node - first[node]},"leaf":{float32_text(values[node])}}}'

        def split(node: int, below_left: str, below_right: str) -> str:
            yes, no = node + 1 - first[node], right[node] - first[node]
            return (
                f'{{"nodeid":{node - first[node]},"depth":{depths[node]},"split":{names[features[node]]},'
                f'"split_condition":{float32_text(numbers[node])},"yes":{yes},"no":{no},'
                f'"missing":{yes if left[node] else no},"children":[{below_left},{below_right}]}}'
            )

        definition = f"[{','.join(nested(nodes, leaf, split))}]"
        body = {"name": source.name, "model": {"type": "model/xgboost+json", "definition": definition}}
        return json.dumps({"model": body}).encode() + b"\n"

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Read the trees."""
        places = {name: place for place, name in enumerate(source.features)}

        def ask(node: dict[str, Any]) -> float | tuple[Split, dict[str, Any], dict[str, Any]]:
            if "leaf" in node:
                return float(node["leaf"])
            goes_left = node["missing"] == node["yes"]
            way = MissingGo.LEFT_IF_NAN if goes_left else MissingGo.RIGHT_IF_NAN
            yes, no = node["children"]
            return Split(places[node["split"]], float(node["split_condition"]), way), yes, no

        return Nodes.walked(json.loads(json.loads(content)["model"]["model"]["definition"]), ask)

    def instructions(self, source: TreeSource) -> str:
        """Show the request."""
        return plugin_instructions(source, self.filename) + (
            "leave out those that are `null`, and compare the score of each document with `score`; both are"
            " sums of\nfloat32. Lucene takes no score below 0 where it is asked for one alone:"
            " `score_shift=true` raises them all.\n"
        )


def plugin_instructions(source: Source, filename: str) -> str:
    """Show the requests that store a model and rescore by it, up to the replay of golden vectors."""
    return f"""\
The feature set `{source.feature_set}` must have these features: see `features` in any line of `golden.jsonl`.

```sh
SEARCH=http://localhost:9200
curl -X POST $SEARCH/_ltr/_featureset/{source.feature_set}/_createmodel -H 'Content-Type: application/json' \\
  --data-binary @{filename}
curl -X POST $SEARCH/index/_search -H 'Content-Type: application/json' -d '{{"query": {{"match_all": {{}}}},
  "rescore": {{"window_size": 100, "query": {{"query_weight": 0, "rescore_query":
    {{"sltr": {{"model": "{source.name}", "params": {{}}}}}}}}}}}}'
```

To replay `golden.jsonl`, index each line's `features` as fields that the feature set's queries score by,
"""


class ElasticsearchXgboost(XgboostJson):
    """For the plugin of Elasticsearch."""

    name = "elasticsearch-xgboost"
    reader = "the Learning to Rank plugin of Elasticsearch"
    summary = "model/xgboost+json for the Learning to Rank plugin of Elasticsearch"
    limits = (
        *NUMERIC_LIMITS,
        "before 8.14, missing values that go elsewhere than 0 does",
    )
    way_out = "Plugins for Elasticsearch 8.14 and later follow the split."

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return that of the version; plugins for 8.12 and 8.13 are held for old, which is exact in both."""
        if options.before(8, 14):
            return (
                Arithmetic(
                    "the plugin for Elasticsearch before 8.14", strict=True, missing=Missing.ZERO, finite=True
                ),
            )
        return (Arithmetic("the plugin for Elasticsearch 8.14 and later", strict=True, finite=True),)


class OpensearchXgboost(XgboostJson):
    """For the plugin of OpenSearch."""

    name = "opensearch-xgboost"
    reader = "the Learning to Rank plugin of OpenSearch"
    summary = "model/xgboost+json for the Learning to Rank plugin of OpenSearch"
    limits = (
        *NUMERIC_LIMITS,
        "up to 3.1, missing values that go elsewhere than 0 does",
        "from 3.2 to 3.7, missing values that go left",
    )
    way_out = "OpenSearch 3.8 and later follow the split."

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return that of the version."""
        if options.before(3, 2):
            return (Arithmetic("OpenSearch up to 3.1", strict=True, missing=Missing.ZERO, finite=True),)
        if options.before(3, 8):
            return (Arithmetic("OpenSearch 3.2 to 3.7", strict=True, missing=Missing.RIGHT, finite=True),)
        return (Arithmetic("OpenSearch 3.8 and later", strict=True, finite=True),)


def _first_of_tree(nodes: Nodes) -> list[int]:
    first: list[int] = []
    for tree in range(len(nodes.roots)):
        own = nodes.of_tree(tree)
        first += [own.start] * len(own)
    return first
