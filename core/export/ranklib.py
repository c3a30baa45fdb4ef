"""Export to RankLib's XML, for RankLib and, as `model/ranklib`, for the Learning to Rank plugins.

The readers address child elements by position and require `## LambdaMART` as the first line, so order and
line ends matter. A feature is its position in the feature set, from 1; a missing value is 0.
"""

import re

import numpy as np

from core.export.nodes import Nodes, Split
from core.export.options import ExportOptions
from core.export.text import java_float, nested_texts
from core.export.thresholds import floor32
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, Missing, TreeSource, TreeTarget
from core.scoring.descent import MissingDirection

_TOKEN = re.compile(r"<(tree|feature|threshold|output)[^>]*>([^<]*)")


class RankLib(TreeTarget):
    """RankLib's ensemble of the regression trees of a forest."""

    name = "ranklib"
    filename = "model.txt"  # its first line is not XML
    media_type = "text/plain; charset=utf-8"
    reader = "RankLib, and the Learning to Rank plugins of Elasticsearch and OpenSearch"
    summary = "RankLib's LambdaMART, `model/ranklib` in Elasticsearch and OpenSearch"
    options = frozenset({"model_name", "feature_set", "feature_names", "score_shift", "never_missing"})
    limits = (
        *NUMERIC_LIMITS,
        (
            "splits that send missing values to a different child than the value 0: RankLib reads a missing"
            " value as 0"
        ),
    )

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetic of RankLib, which has no missing values."""
        return (Arithmetic("RankLib", missing=Missing.ZERO),)

    def write(self, source: TreeSource) -> bytes:
        """Write the ensemble."""
        nodes = source.nodes
        model_thresholds, _ = source.numeric_splits
        features, values = nodes.features.tolist(), nodes.values.astype(np.float32).tolist()
        thresholds = floor32(model_thresholds).tolist()

        def split(node: int, below_left: str, below_right: str) -> str:
            return (
                f"<feature> {features[node] + 1} </feature>\n"
                f"<threshold> {java_float(thresholds[node])} </threshold>\n"
                f'<split pos="left">\n{below_left}</split>\n<split pos="right">\n{below_right}</split>\n'
            )

        trees = nested_texts(nodes, lambda node: f"<output> {java_float(values[node])} </output>\n", split)
        written = "".join(
            f'<tree id="{number}" weight="1.0">\n<split>\n{tree}</split>\n</tree>\n'
            for number, tree in enumerate(trees, start=1)
        )
        head = f"## LambdaMART\n## No. of trees = {len(trees)}\n"
        return f"{head}\n<ensemble>\n{written}</ensemble>\n".encode()

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the trees of the ensemble."""
        pairs = _TOKEN.findall(content.decode())
        # Tokens are in the order in which `from_trees` calls `value_or_split`.
        tokens = ((tag, text) for tag, text in pairs if tag != "tree")

        def value_or_split(_: None) -> float | tuple[Split, None, None]:
            tag, text = next(tokens)
            if tag == "output":
                return float(text)
            _, threshold = next(tokens)
            return Split(int(text) - 1, float(threshold), MissingDirection.NOWHERE), None, None

        return Nodes.from_trees([None for tag, _ in pairs if tag == "tree"], value_or_split)

    def instructions(self, source: TreeSource) -> str:
        """Return the commands for RankLib and for the plugins."""
        return f"""\
Feature 1 is the first of the names under `features` in `golden.jsonl`, feature 2 the second, and so on: the
features of the feature set `{source.feature_set}` must have that order. A missing feature counts as 0.

```sh
java -jar RankLib.jar -load {self.filename} -rank documents.txt -score scores.txt

SEARCH=http://localhost:9200
jq -Rs '{{model: {{name: "{source.name}", model: {{type: "model/ranklib", definition: .}}}}}}' \\
  {self.filename} | curl -X POST $SEARCH/_ltr/_featureset/{source.feature_set}/_createmodel \\
    -H 'Content-Type: application/json' --data-binary @-
```

To replay `golden.jsonl`, write each line's `features` as `0 qid:1 1:… 2:…`, those that are `null` left out,
and compare with `score`; both are sums of float32.
"""
