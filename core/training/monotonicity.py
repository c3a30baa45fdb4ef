"""Check the trees of a model against monotone constraints.

A tree breaks a constraint if two documents that differ in the constrained feature alone can reach leaves
whose values break it. The paths to two such leaves diverge at a split on that feature. `falls` compares
exactly these pairs of leaves, over all combinations of values of the other features, missing values included.

A sum of trees that all keep a constraint keeps it, also after rounding. The converse does not hold: one tree
may compensate for the fall of another. The sum of the falls of all trees is an upper bound on the fall of a
score.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.scoring.tree import CATEGORICAL, Tree
from core.types import Float64Array

_MAX_FLOAT32 = float(np.finfo(np.float32).max)
_ZERO = float(np.float32(1e-35))  # LightGBM treats values up to this magnitude as 0
_BELOW_ZERO = float(np.nextafter(-_ZERO, -np.inf))
_MISSING_LEFT = 0b10  # bits of a split's decision
_NONE_MISSING, _ZERO_MISSING = 0, 1

# The test of a split: a feature, and whether the split is categorical. The constrained feature has two values
# at the same time, a lower and an upper one.
_SplitTest = tuple[int, bool]
_LOWER, _UPPER = (-1, False), (-2, False)
_Region = dict[_SplitTest, int]  # bit set of the possible cells by test; a missing entry means all cells


@dataclass(frozen=True)
class Fall:
    """Two leaves of a tree whose values break a constraint.

    Attributes:
        tree: Index of the tree in the model, from 0.
        threshold: Threshold of the split at which the paths to the two leaves diverge.
        size: Amount by which the value falls as the feature rises past the threshold. If the constraint
            forbids rising scores, amount by which the value rises.
    """

    tree: int
    feature: int
    threshold: float
    size: float


def falls(trees: Iterable[Tree], directions: Mapping[int, int]) -> Iterator[Fall]:
    """Find the largest fall of each tree along each constrained feature, exactly.

    Missing values have no order: NaN, and 0 where a split on the feature treats zeros as missing. Features
    are finite and in the range of float32.

    Args:
        trees: Trees with constant leaves.
        directions: By column, 1 where values may not fall as the feature rises, -1 where they may not rise.

    Example:
        >>> from dataclasses import replace
        >>> split = replace(
        ...     Tree.leaf(0.0),
        ...     features=np.array([0]),
        ...     thresholds=np.array([0.5]),
        ...     decisions=np.array([0]),
        ...     left=np.array([-1]),
        ...     right=np.array([-2]),
        ...     leaf_values=np.array([3.0, 1.0]),
        ... )
        >>> list(falls([split], {0: 1}))
        [Fall(tree=0, feature=0, threshold=0.5, size=2.0)]
        >>> list(falls([split], {0: -1}))
        []
    """
    for index, tree in enumerate(trees):
        for feature, direction in directions.items():
            size, threshold = _Comparison(tree, feature, direction).largest_fall()
            if size > 0.0:
                yield Fall(index, feature, threshold, size)


class _Comparison:
    """The leaves of a tree, compared along one feature.

    Args:
        direction: 1 or -1.
    """

    def __init__(self, tree: Tree, feature: int, direction: int) -> None:
        self._tree, self._constrained = tree, (feature, False)
        self._children = list(zip(tree.left.tolist(), tree.right.tolist(), strict=True))
        categorical = (tree.decisions & CATEGORICAL).astype(bool)
        self._tests: list[_SplitTest] = list(zip(tree.features.tolist(), categorical.tolist(), strict=True))
        self._cells: dict[_SplitTest, _Cells] = {}
        # Indexed by split, or by -k - 1 for leaf k.
        values: list[float] = (direction * tree.leaf_values).tolist()
        self._lowest = [0.0] * len(self._children) + values[::-1]
        self._highest = list(self._lowest)
        for split in range(len(self._children) - 1, -1, -1):  # children come after their parents
            left, right = self._children[split]
            self._lowest[split] = min(self._lowest[left], self._lowest[right])
            self._highest[split] = max(self._highest[left], self._highest[right])

    def largest_fall(self) -> tuple[float, float]:
        """Return the size of the largest fall and the threshold of its split; 0 and NaN without a fall."""
        largest, threshold = 0.0, np.nan
        for split, test in enumerate(self._tests):
            if test == self._constrained:
                size = self._largest_fall_across(split, largest)
                if size > largest:
                    largest, threshold = size, float(self._tree.thresholds[split])
        return largest, threshold

    def _largest_fall_across(self, split: int, largest: float) -> float:
        """Return the largest fall from the left of a split to its right, `largest` where none is larger."""
        lower, upper = self._children[split]
        if self._highest[lower] - self._lowest[upper] <= largest:
            return largest
        region = self._region_at(split)
        open_pairs = [(lower, upper, region)] if all(region.values()) else []
        while open_pairs:
            lower, upper, region = open_pairs.pop()
            fall = self._highest[lower] - self._lowest[upper]
            if fall <= largest:
                continue
            if lower < 0 and upper < 0:
                largest = fall
            else:
                open_pairs += self._narrowed(lower, upper, region)
        return largest

    def _narrowed(self, lower: int, upper: int, region: _Region) -> Iterator[tuple[int, int, _Region]]:
        """Yield the pair with one node replaced by each child of the node that the region allows."""
        narrows_lower = lower >= 0 and (upper < 0 or self._spread(lower) >= self._spread(upper))
        parent = lower if narrows_lower else upper
        test = self._tests[parent]
        if test == self._constrained:
            test = _LOWER if narrows_lower else _UPPER
        for child, cells in zip(self._children[parent], self._sides(parent), strict=True):
            if common_cells := region.get(test, cells) & cells:
                nodes = (child, upper) if narrows_lower else (lower, child)
                yield (*nodes, {**region, test: common_cells})

    def _spread(self, node: int) -> float:
        return self._highest[node] - self._lowest[node]

    def _region_at(self, split: int) -> _Region:
        """Return the possible cells of documents at a split; cells of the constrained feature by side."""
        ordered = self._cells_of(self._constrained).ordered
        region = {self._constrained: ordered}
        node = split
        while node:
            parent, side = self._parents[node]
            test, cells = self._tests[parent], self._sides(parent)[side]
            region[test] = region.get(test, cells) & cells
            node = parent
        constrained_cells = region.pop(self._constrained)
        left, right = self._sides(split)
        return {**region, _LOWER: constrained_cells & left, _UPPER: constrained_cells & right}

    @cached_property
    def _parents(self) -> dict[int, tuple[int, int]]:
        return {
            child: (split, side)
            for split, children in enumerate(self._children)
            for side, child in enumerate(children)
        }

    def _sides(self, split: int) -> tuple[int, int]:
        return self._cells_of(self._tests[split]).sides[split]

    def _cells_of(self, test: _SplitTest) -> "_Cells":
        if test not in self._cells:
            splits = [split for split, other in enumerate(self._tests) if other == test]
            make = _category_cells if test[1] else _numeric_cells
            self._cells[test] = make(self._tree, splits)
        return self._cells[test]


@dataclass(frozen=True)
class _Cells:
    """Cells of a feature, the ranges of values that no split of a tree separates, as bit sets.

    Attributes:
        sides: By split, the cells that go left, and those that go right.
        ordered: The cells whose values have an order.
    """

    sides: Mapping[int, tuple[int, int]]
    ordered: int


def _numeric_cells(tree: Tree, splits: list[int]) -> _Cells:
    """Cut the real numbers at all thresholds; the last bit means NaN."""
    thresholds, missing_types = tree.thresholds[splits], tree.decisions[splits] >> 2
    near_zero = (thresholds >= -_ZERO) & (thresholds <= _ZERO)
    thresholds = np.where(near_zero, np.where(thresholds < 0.0, _BELOW_ZERO, _ZERO), thresholds)
    cuts = thresholds[(thresholds >= -_MAX_FLOAT32) & (thresholds < _MAX_FLOAT32)]
    if zero_is_missing := bool((missing_types == _ZERO_MISSING).any()):
        cuts = np.append(cuts, [_BELOW_ZERO, _ZERO])
    cuts = np.unique(cuts)
    real, nan = (1 << len(cuts) + 1) - 1, 1 << len(cuts) + 1
    zeros = _up_to(_ZERO, cuts) & ~_up_to(_BELOW_ZERO, cuts) if zero_is_missing else 0
    zero_cell = 1 << int(np.searchsorted(cuts, 0.0))
    sides = {}
    for split, threshold, missing_type in zip(
        splits, thresholds.tolist(), missing_types.tolist(), strict=True
    ):
        left = _up_to(threshold, cuts)
        if missing_type == _NONE_MISSING:
            left |= nan if left & zero_cell else 0
        else:
            missing = zeros | nan if missing_type == _ZERO_MISSING else nan
            left = left | missing if tree.decisions[split] & _MISSING_LEFT else left & ~missing
        sides[split] = left, (real | nan) & ~left
    return _Cells(sides, real & ~zeros)


def _up_to(value: float, cuts: Float64Array) -> int:
    """Return the cells of numbers up to a value, which is a cut or outside the range of float32."""
    count = len(cuts) + 1 if value >= _MAX_FLOAT32 else int(np.searchsorted(cuts, value, "right"))
    return (1 << count) - 1


def _category_cells(tree: Tree, splits: list[int]) -> _Cells:
    """Return one cell for each category that the sets can hold; the last bit means all else and NaN."""
    sets = {split: tree.categories[int(tree.thresholds[split])] for split in splits}
    everything = (1 << 32 * max(map(len, sets.values())) + 1) - 1
    lefts = {split: int.from_bytes(words.astype("<u4").tobytes(), "little") for split, words in sets.items()}
    return _Cells({split: (left, everything & ~left) for split, left in lefts.items()}, ordered=0)
