"""The interface of formats for forests: arithmetic of engines, supported splits, exported files."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import ClassVar

import numpy as np

from core.errors import ModelError
from core.export.nodes import Nodes, require_same_shape
from core.export.options import ExportOptions
from core.export.parity_kernel import score_by_both
from core.export.target import Export, Source, Target
from core.export.thresholds import LARGEST, SLACK, floor32, numeric_splits, splits_that_separate_zeros
from core.scorers import TreeModel
from core.scoring.descent import MissingDirection
from core.scoring.model_text import ModelText
from core.scoring.tree import CATEGORICAL
from core.types import Float32Array, Float64Array, FloatArray, Int64Array, Precision

# Models that cannot be expressed as a sum of constant leaves under splits `x <= t`.
NUMERIC_LIMITS = (
    "categorical splits, linear trees and averages (boosting=rf)",
    "trees with zero_as_missing that send the value 0 to a different child than values close to 0",
)
MAX_DEPTH = 300  # JSON parsers of engines accept at most 1,000 nested objects and arrays
_EXAMPLES = 3


class Missing(Enum):
    """Treatment of missing features by an engine."""

    AS_WRITTEN = "follow the split"
    ZERO = "count as 0"
    RIGHT = "go right at every split"


@dataclass(frozen=True)
class Arithmetic:
    """Arithmetic of an engine: decisions at splits and sums of leaves.

    Attributes:
        engine: Name of the engine, with its range of versions.
        single: Whether features, thresholds and leaves are float32, not float64.
        strict: Whether `x < threshold` goes left, not `x <= threshold`.
        slack: Whether 1e-6 is added to thresholds.
        tiny_is_zero: Whether values no farther from 0 than 1e-35 count as 0, as in LightGBM.
        single_sum: Whether leaves are summed in float32, not in float64.
        float64_exact: Whether decisions are guaranteed to equal LightGBM's for every float64 value, not only
            for float32 values, which all features of datasets are.
        finite_only: Whether the guarantee excludes infinite values.
    """

    engine: str
    single: bool = True
    strict: bool = False
    slack: bool = False
    missing: Missing = Missing.AS_WRITTEN
    tiny_is_zero: bool = False
    single_sum: bool = True
    float64_exact: bool = False
    finite_only: bool = False

    @property
    def description(self) -> str:
        """Return a one-line description of the arithmetic."""
        threshold = "threshold + 1e-6" if self.slack else "threshold"
        decided, added = ("float32" if single else "float64" for single in (self.single, self.single_sum))
        return (
            f"{'finite ' if self.finite_only else ''}x {'<' if self.strict else '<='} {threshold}"
            f" in {decided};"
            f" missing features {self.missing.value}; leaves added in {added}"
        )

    def loaded(self, written: Nodes) -> Nodes:
        """Return the nodes with the numbers that the engine has after loading the file."""
        thresholds, values, missing_side = written.thresholds, written.values, written.missing_side
        if self.single:
            with np.errstate(over="ignore", under="ignore"):
                thresholds, values = thresholds.astype(np.float32), values.astype(np.float32)
                if self.slack:
                    thresholds = thresholds + SLACK
        if self.missing is not Missing.AS_WRITTEN:
            everywhere = (
                MissingDirection.NOWHERE if self.missing is Missing.ZERO else MissingDirection.RIGHT_IF_NAN
            )
            missing_side = np.full_like(missing_side, everywhere)
        return written._replace(
            thresholds=thresholds.astype(np.float64),
            values=values.astype(np.float64),
            missing_side=missing_side,
        )


@dataclass(frozen=True, kw_only=True)
class TreeSource(Source):
    """A forest to export.

    Attributes:
        precision: Precision of the features that the model compares with its thresholds.
    """

    text: ModelText
    precision: Precision = "float32"

    @property
    def model(self) -> TreeModel:
        """Return the forest."""
        return TreeModel(self.text, self.precision)

    def rounding_notes(self, arithmetics: Iterable[Arithmetic]) -> Iterator[str]:
        """Yield a note if an engine rounds features that the model, which was imported, does not round."""
        engines = [arithmetic.engine for arithmetic in arithmetics if not arithmetic.float64_exact]
        if self.precision == "float64" and engines:
            yield (
                f"{self.name} compares features as float64, {' and '.join(engines)} may round them to"
                " float32. A value that float32 cannot represent may go to the other child of a split; only"
                " float32 values are compared here."
            )

    @cached_property
    def nodes(self) -> Nodes:
        """Return the nodes of all trees; with a shift, a tree that adds it comes last."""
        nodes = Nodes.of(self.text)
        return nodes if self.shift is None else nodes.with_leaf(self.shift)

    @cached_property
    def numeric_splits(self) -> tuple[Float64Array, Int64Array]:
        """Return the thresholds for `x <= t` of all nodes, and 1 where NaN goes left."""
        return numeric_splits(self.nodes.thresholds, self.nodes.missing_side)

    def describe_split(self, node: int) -> str:
        """Return the feature, the threshold and the tree of a split, for messages."""
        tree = int(np.searchsorted(self.nodes.roots, node, side="right")) - 1
        threshold = float(self.nodes.thresholds[node])
        return f"{self.features[self.nodes.features[node]]!r} <= {threshold!r} in tree {tree}"

    def at_thresholds(self, base: Float32Array, random: np.random.Generator) -> Float32Array:
        """Replace each used feature of documents by one of its thresholds, or by the float32 below or above.

        Args:
            base: (n, n_features) float32 documents.
        """
        nodes = self.nodes
        splits = nodes.splits[np.argsort(nodes.features[nodes.splits], kind="stable")]
        used, first, counts = np.unique(nodes.features[splits], return_index=True, return_counts=True)
        rows = base.copy()
        for row in rows:
            chosen = splits[first + random.integers(counts)]
            with np.errstate(over="ignore", under="ignore"):
                thresholds = floor32(nodes.thresholds[chosen])
                directions = random.choice([-np.inf, 0.0, np.inf], size=len(used)).astype(np.float32)
                values = np.where(directions == 0.0, thresholds, np.nextafter(thresholds, directions))
            finite = np.isfinite(values)
            row[used[finite]] = values[finite]
        return rows


class TreeTarget(Target[TreeSource]):
    """A format of forests.

    Attributes:
        nests: Whether nodes are nested in the file, which bounds the depth of trees.
        limit_advice: Advice for models with splits whose missing values go to another child in the engine.
    """

    nests: ClassVar[bool] = True
    limit_advice: ClassVar[str] = "Choose a format with missing values."

    @abstractmethod
    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetic of each engine of the file; the first one gives the golden scores."""

    @abstractmethod
    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the nodes of the file as the engine reads them."""

    def check(self, source: TreeSource) -> None:
        """Refuse a model that the format cannot express exactly.

        Raises:
            ModelError: The format cannot express the model.
        """
        require_expressible(source.text, self.name)
        if self.nests and (deepest := int(source.nodes.depths().max(initial=0))) > MAX_DEPTH:
            raise ModelError(
                f"a tree of the model has a depth of {deepest}; the maximum of {self.name} is {MAX_DEPTH}."
                " Train with max_depth, or choose a format without nested trees: c, python, onnx"
            )
        arithmetics = self.arithmetics(source.options)
        if any(arithmetic.single for arithmetic in arithmetics):
            largest = np.maximum.reduceat(np.abs(source.nodes.values), source.nodes.roots).sum()
            if largest > LARGEST:
                raise ModelError(
                    f"scores up to {largest:g} exceed the range of float32, which {self.reader} uses"
                )
        splits = source.nodes.splits
        thresholds, missing_side = source.nodes.thresholds[splits], source.nodes.missing_side[splits]
        self.refuse(
            source,
            splits[splits_that_separate_zeros(thresholds, missing_side)],
            "sends 0, as a missing value, to a different child than the threshold does; train without"
            " zero_as_missing",
        )
        if not source.options.never_missing:
            for arithmetic in arithmetics:
                self._check_missing(source, splits, arithmetic)

    def _check_missing(self, source: TreeSource, splits: Int64Array, arithmetic: Arithmetic) -> None:
        if arithmetic.missing is Missing.AS_WRITTEN:
            return
        thresholds, nan_left = (column[splits] for column in source.numeric_splits)
        engine_left = thresholds >= 0.0 if arithmetic.missing is Missing.ZERO else np.zeros(len(splits), bool)
        self.refuse(
            source,
            splits[engine_left != (nan_left == 1)],
            f"sends missing values to a different child than {arithmetic.engine}, where they"
            f" {arithmetic.missing.value}. {self.limit_advice} If no features are missing, set never_missing",
        )

    def refuse(self, source: TreeSource, unsupported: Int64Array, reason: str) -> None:
        """Refuse a model if any of its splits are unsupported.

        Raises:
            ModelError: There are unsupported splits.
        """
        if not len(unsupported):
            return
        examples = "; ".join(map(source.describe_split, unsupported[:_EXAMPLES].tolist()))
        raise ModelError(
            f"{self.name} cannot express {len(unsupported)} of the {len(source.nodes.splits)} splits"
            f" ({examples}): the model {reason}"
        )


@dataclass(frozen=True)
class TreeExport(Export):
    """An exported forest."""

    target: TreeTarget
    source: TreeSource

    @cached_property
    def written(self) -> Nodes:
        """Return the nodes as read back from the exported file.

        Raises:
            ModelError: The file has other trees than the model.
        """
        nodes = self.target.read(self.content, self.source)
        require_same_shape(self.source.nodes, nodes)
        return nodes


def export_trees(target: TreeTarget, source: TreeSource) -> TreeExport:
    """Export a forest.

    Raises:
        ModelError: The format cannot express the model.
    """
    target.check(source)
    if source.options.score_shift:
        source = replace(source, shift=_score_shift(source.nodes, target.arithmetics(source.options)[0]))
    return TreeExport(target, source, target.write(source))


def _score_shift(nodes: Nodes, arithmetic: Arithmetic) -> float:
    """Return the shift that makes the least possible sum of leaves exactly 0.

    Rounded sums are monotone, so no score is lower than the sum of the least leaf of every tree.
    """
    kind = np.float32 if arithmetic.single_sum else np.float64
    total = kind(0.0)
    for tree in range(len(nodes.roots)):
        tree_nodes = nodes.of_tree(tree)
        values, is_leaf = (
            nodes.values[tree_nodes.start : tree_nodes.stop],
            nodes.features[tree_nodes.start : tree_nodes.stop] < 0,
        )
        total = kind(total + kind(values[is_leaf].min()))
    return -float(total)


def scores_of(
    features: FloatArray, nodes: Nodes, loaded: Nodes, arithmetic: Arithmetic
) -> tuple[Float64Array, Float64Array, tuple[int, int]]:
    """Score documents by LightGBM and by the engine; return both, and the counts of `score_by_both`."""
    scores, engine_scores = np.empty(len(features)), np.empty(len(features))
    rows = np.ascontiguousarray(features, np.float32)
    strict, zeros, single_sum = arithmetic.strict, arithmetic.tiny_is_zero, arithmetic.single_sum
    counts = score_by_both(rows, nodes, loaded, strict, zeros, single_sum, scores, engine_scores)
    return scores, engine_scores, counts


def inexpressible_part(text: ModelText) -> str | None:
    """Describe the part that is not a sum of constant leaves under numerical splits, or return None."""
    if any((tree.decisions & CATEGORICAL).any() for tree in text.trees):
        return "categorical splits"
    if any(tree.linear is not None for tree in text.trees):
        return "linear trees"
    return "an average of its trees (boosting=rf)" if text.averages else None


def require_expressible(text: ModelText, format: str) -> None:
    """Refuse a model that only LightGBM itself can express.

    Raises:
        ModelError: Only LightGBM can express the model.
    """
    if part := inexpressible_part(text):
        raise ModelError(f"the model has {part}; only the format lightgbm supports this, {format} does not")
