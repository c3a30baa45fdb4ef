"""Exports of sums of models."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from core.export.networks.export import ScoredExport
from core.export.parity_neighbours import EXAMPLES, compare_neighbours
from core.export.parity_report import Difference, NeighbourParity
from core.export.sums.cases import edge_cases, rounding_of_sum, synthetic
from core.export.sums.target import SumEngine, SumSource, SumTarget
from core.export.target import Target
from core.types import Float32Array, Float64Array


@dataclass(frozen=True)
class SumExport(ScoredExport[SumEngine]):
    """An exported sum of models."""

    target: SumTarget
    source: SumSource

    @cached_property
    def engines(self) -> tuple[SumEngine, ...]:
        """Return the engines of the file that was read back."""
        return self.target.engines(self.content, self.source)

    @property
    def n_trees(self) -> int:
        """Return the number of trees of all members."""
        return sum(len(trees.nodes.roots) for trees in self.engines[0].trees)

    def synthetic(self, n_rows: int, random: np.random.Generator) -> Float32Array:
        """Draw documents around the means of the networks' inputs."""
        return synthetic(self.source, n_rows, random)

    def edge_cases(self, engine: SumEngine, base: Float32Array, random: np.random.Generator) -> Float32Array:
        """Replace features of documents by extreme values and thresholds of members."""
        return edge_cases(self.source, engine, base, random)

    def rounding(self, engine: SumEngine, rows: Float32Array) -> Float64Array:
        """Return the bound of the rounding error of each document's score in the engine."""
        return rounding_of_sum(self.source, engine, rows)

    def neighbours(self, engine: SumEngine) -> NeighbourParity:
        """Compare the decisions of all tree members; trees are numbered consecutively over members."""
        splits = decisions = differing_decisions = differing_splits = n_trees = 0
        examples: list[Difference] = []
        for trees in engine.trees:
            found = compare_neighbours(trees.source, trees.nodes, trees.arithmetic)
            splits, decisions = splits + found.splits, decisions + found.decisions
            differing_decisions += found.differing_decisions
            differing_splits += found.differing_splits
            examples += [replace(each, tree=each.tree + n_trees) for each in found.examples]
            n_trees += len(trees.nodes.roots)
        return NeighbourParity(
            splits, decisions, differing_decisions, differing_splits, tuple(examples[:EXAMPLES])
        )


def export_sum(target: Target[Any], source: SumSource) -> SumExport:
    """Export a sum of models.

    Raises:
        ModelError: The format cannot express a member.
    """
    if not isinstance(target, SumTarget):
        raise TypeError(target)
    target.check(source)
    return SumExport(target, source, target.write(source))
