"""The formats of forests, and a forest in one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from core.export.c import C
from core.export.elastic import Elastic
from core.export.export import Export
from core.export.lightgbm import LightGbm
from core.export.nodes import Nodes, require_same_shape
from core.export.onnx import Onnx
from core.export.python import Python
from core.export.ranklib import RankLib
from core.export.solr import Solr
from core.export.tree_target import Arithmetic, TreeSource, TreeTarget
from core.export.vespa import Vespa
from core.export.xgboost_json import ElasticsearchXgboost, OpensearchXgboost

TREE_FORMATS: Mapping[str, TreeTarget] = MappingProxyType(
    {
        target.name: target
        for target in (
            LightGbm(),
            Vespa(),
            Solr(),
            ElasticsearchXgboost(),
            OpensearchXgboost(),
            RankLib(),
            Elastic(),
            Onnx(),
            C(),
            Python(),
        )
    }
)


@dataclass(frozen=True)
class TreeExport(Export):
    """A forest in the form that another program reads."""

    target: TreeTarget
    source: TreeSource

    @cached_property
    def written(self) -> Nodes:
        """Read back what was written.

        Raises:
            ModelError: Its trees are not those of the model.
        """
        nodes = self.target.read(self.content, self.source)
        require_same_shape(self.source.nodes, nodes)
        return nodes


def export_trees(target: TreeTarget, source: TreeSource) -> TreeExport:
    """Write a forest.

    Raises:
        ModelError: The format cannot express it.
    """
    target.check(source)
    if source.options.score_shift:
        source = replace(source, shift=_shift(source.nodes, target.arithmetics(source.options)[0]))
    return TreeExport(target, source, target.write(source))


def _shift(nodes: Nodes, arithmetic: Arithmetic) -> float:
    """Return what raises scores so that the least that leaves can add up to becomes exactly 0.

    Rounded sums are monotone: no document has less than the one that falls into the least leaf of each tree,
    and what is added to that one's sum takes it to 0.
    """
    kind = np.float32 if arithmetic.single_sum else np.float64
    total = kind(0.0)
    for tree in range(len(nodes.roots)):
        own = nodes.of_tree(tree)
        values, is_leaf = nodes.values[own.start : own.stop], nodes.features[own.start : own.stop] < 0
        total = kind(total + kind(values[is_leaf].min()))
    return -float(total)
