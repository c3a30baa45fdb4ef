"""Exports of sums of models."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from core.export.networks import cases
from core.export.networks.export import ScoredExport
from core.export.networks.rounding import DOUBLE, SINGLE, rounding_bounds
from core.export.networks.target import NetworkSource
from core.export.parity_neighbours import MAX_EXAMPLES, compare_neighbours
from core.export.parity_report import Difference, NeighbourParity
from core.export.sums.target import SumEngine, SumSource, SumTarget
from core.export.target import Target
from core.export.tree_target import inexpressible_part
from core.types import Float32Array, Float64Array


@dataclass(frozen=True)
class SumExport(ScoredExport[SumEngine]):
    """An exported sum of models."""

    target: SumTarget
    source: SumSource

    @cached_property
    def engines(self) -> tuple[SumEngine, ...]:
        """Return the engines of the file, which is read back."""
        return self.target.engines(self.content, self.source)

    @property
    def n_trees(self) -> int:
        """Return the number of trees of all members."""
        return sum(len(trees.nodes.roots) for trees in self.engines[0].trees)

    def synthetic(self, n_rows: int, random: np.random.Generator) -> Float32Array:
        """Draw documents around the means of the inputs of the sum's linear scorers and networks."""
        rows = random.normal(size=(n_rows, len(self.source.features))).astype(np.float32)
        for part in self.source.parts:
            if isinstance(part.source, NetworkSource):
                rows[:, part.columns] = cases.synthetic(part.source, n_rows, random)
        return rows

    def edge_cases(self, engine: SumEngine, base: Float32Array, random: np.random.Generator) -> Float32Array:
        """Replace features of each document by extreme values or thresholds of one member."""
        rows, members = base.copy(), random.integers(len(self.source.parts), size=len(base))
        for index, part in enumerate(self.source.parts):
            cells = np.ix_(members == index, part.columns)
            if isinstance(part.source, NetworkSource):
                rows[cells] = cases.edge_cases(part.source, engine, base[cells], random)
            elif not inexpressible_part(part.source.text):
                rows[cells] = part.source.at_thresholds(base[cells], random)
        return rows

    def rounding_bounds(self, engine: SumEngine, rows: Float32Array) -> Float64Array:
        """Return the bound of the rounding error of each document's score in the engine.

        For each tree the bound grows by the relative error of one operation, times the sum of the largest
        absolute leaf value of every tree.
        """
        unit = SINGLE if any(trees.arithmetic.single for trees in engine.trees) else DOUBLE
        bound, magnitudes = np.zeros(len(rows)), np.zeros(len(rows))
        for part in self.source.parts:
            weight, chosen = abs(part.member.weight), np.ascontiguousarray(rows[:, part.columns])
            if isinstance(part.source, NetworkSource):
                bound += weight * rounding_bounds(part.source.network, chosen, DOUBLE)
            elif not inexpressible_part(part.source.text):
                nodes = part.source.nodes
                largest = float(np.maximum.reduceat(np.abs(nodes.values), nodes.roots).sum())
                bound += weight * (len(nodes.roots) + 2) * unit * largest
            magnitudes += weight * np.abs(part.source.model.score(chosen))
        return bound + 2.0 * (len(self.source.parts) + 2) * DOUBLE * magnitudes

    def notes(self) -> list[str]:
        """Return a note on each member whose features an engine rounds more than the member does."""
        notes = [
            note
            for engine in self.engines
            for trees in engine.trees
            for note in trees.source.rounding_notes([trees.arithmetic])
        ]
        return list(dict.fromkeys(notes))

    def neighbours(self, engine: SumEngine) -> NeighbourParity:
        """Compare the decisions of all tree members; trees are numbered consecutively over members."""
        splits = decisions = differing_decisions = differing_splits = n_trees = 0
        examples: list[Difference] = []
        for trees in engine.trees:
            member = compare_neighbours(trees.source, trees.nodes, trees.arithmetic)
            splits, decisions = splits + member.splits, decisions + member.decisions
            differing_decisions += member.differing_decisions
            differing_splits += member.differing_splits
            examples += [replace(each, tree=each.tree + n_trees) for each in member.examples]
            n_trees += len(trees.nodes.roots)
        return NeighbourParity(
            splits, decisions, differing_decisions, differing_splits, tuple(examples[:MAX_EXAMPLES])
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
