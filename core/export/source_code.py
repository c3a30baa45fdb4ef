"""What the exports as source code have in common: LightGBM's own decisions in float64, node by node."""

import re

import numpy as np

from core.export.nodes import Nodes
from core.export.options import ExportOptions
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, TreeSource, TreeTarget, require_plain

_ROW = re.compile(r"^ +[{(](-?\d+), ([^ ,]+), (\d), (\d+)[})],$", re.MULTILINE)
_ROOT = re.compile(r"^ +(\d+),$", re.MULTILINE)


class SourceCode(TreeTarget):
    """TreeSource code with the trees as a table, a node a line."""

    media_type = "text/plain; charset=utf-8"
    options = frozenset({"model_name", "feature_names"})
    limits = NUMERIC_LIMITS[:1]
    nests = False

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return LightGBM's own."""
        return (Arithmetic(self.reader, single=False, zeros=True, single_sum=False, doubles=True),)

    def check(self, source: TreeSource) -> None:
        """Refuse only what is no sum of leaves: all that LightGBM decides at a split is written down."""
        require_plain(source.text, self.name)

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Read the tables."""
        text = content.decode()
        rows = _ROW.findall(text)
        features, ways, right = (np.array([int(row[column]) for row in rows]) for column in (0, 2, 3))
        numbers = np.array([float(row[1].lower().replace("infinity", "inf")) for row in rows])
        is_leaf = features < 0
        return Nodes(
            features,
            np.where(is_leaf, 0.0, numbers),
            ways,
            right,
            np.where(is_leaf, numbers, 0.0),
            np.array([int(root) for root in _ROOT.findall(text)]),
        )


def rows_of(nodes: Nodes, infinity: str, row: str) -> str:
    """Write the table of nodes: feature or -1, threshold or value, way of missing values, right child."""
    numbers = np.where(nodes.features < 0, nodes.values, nodes.thresholds).tolist()
    columns = zip(nodes.features.tolist(), numbers, nodes.ways.tolist(), nodes.right.tolist(), strict=True)
    return "\n".join(
        row % (feature, repr(number).replace("inf", infinity), way, right)
        for feature, number, way, right in columns
    )
