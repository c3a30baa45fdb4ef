"""Strict parser and writer of LightGBM's model text.

LightGBM does not validate a model text: a child out of range, a cycle or a wrong length makes it read out of
bounds, loop forever or crash. The same holds for Rankery's kernels, so every number that influences a score
is checked here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.data.categories import Categories
from core.errors import ModelError
from core.scoring.categories import read_categories
from core.scoring.tree import CATEGORICAL, LinearLeaves, Tree
from core.types import Float64Array, Int64Array, UInt32Array

_WHOLE = r"-?\d{1,10}"
_REAL = r"-?\d+(?:\.\d+)?(?:e[+-]\d{1,3})?"
_INFINITE = f"-?inf|{_REAL}"  # a split of missing values from all others has an infinite threshold
_ANY = f"-?nan|{_INFINITE}"


@dataclass(frozen=True)
class Fields:
    """The lines of a tree or of the head of a model text.

    Attributes:
        lines: Text after `=` by name.
        location: Location in the file, for error messages.
    """

    lines: Mapping[str, str]
    location: str

    @classmethod
    def of(cls, block: str, location: str) -> "Fields":
        """Parse lines.

        Raises:
            ModelError: A name occurs twice.
        """
        lines: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition("=")
            if name in lines and name:
                raise ModelError(f"{location} of the model has {name[:40]!r} twice")
            lines[name] = value
        return cls(lines, location)

    def integers(self, name: str, count: int) -> Int64Array:
        """Read a line of integers.

        Raises:
            ModelError: The line does not have `count` numbers; the other methods raise the same error.
        """
        return np.array(self._tokens(name, _WHOLE, count), np.int64)

    def finite_numbers(self, name: str, count: int) -> Float64Array:
        """Read a line of finite numbers."""
        values = np.array(self._tokens(name, _REAL, count), np.float64)
        if not np.isfinite(values).all():
            raise ModelError(f"{self.location} of the model has an infinite number in its {name}")
        return values

    def thresholds(self, name: str, count: int) -> Float64Array:
        """Read a line of numbers that may be infinite."""
        return np.array(self._tokens(name, _INFINITE, count), np.float64)

    def gains(self, name: str, count: int) -> Float64Array:
        """Read a line of numbers that do not influence scores; zeros where the line is missing."""
        return np.array(self._tokens(name, _ANY, count) if name in self.lines else [0] * count, np.float64)

    def counts(self, name: str, count: int) -> Int64Array:
        """Read a line of document counts; zeros where the line is missing.

        Raises:
            ModelError: A count is negative.
        """
        counts = self.integers(name, count) if name in self.lines else np.zeros(count, np.int64)
        if (counts < 0).any():
            raise ModelError(f"{self.location} of the model has a negative number of documents in its {name}")
        return counts

    def _tokens(self, name: str, number: str, count: int) -> list[str]:
        # In lines of linear trees, the features of two leaves are separated by an extra blank.
        text = self.lines.get(name, "").strip(" ")
        well_formed = re.fullmatch(f"(?:{number})(?: +(?:{number}))*", text) is not None
        tokens = text.split() if well_formed else []
        if len(tokens) != count:
            raise ModelError(f"{self.location} of the model must have {count} numbers in its {name}")
        return tokens


MAX_FEATURES = 1_000_000
MAX_LEAVES = 131_072  # LightGBM's own bound of num_leaves
_HEADER = re.compile(r"tree\nversion=v\d{1,3}\n")
END = "\nend of trees\n"
FOREIGN = "this is not a LightGBM text model; upload the scores of another model as a ranking instead"
_KNOWN_DECISIONS = 0b1111


@dataclass(frozen=True)
class ModelText:
    """Content of a model text.

    Attributes:
        trees: Trees in the order in which their values are summed.
        averages: Whether `predict` without `raw_score` divides the sum by the number of trees.
        categories: The values of the categorical features, by column; splits use their codes.
    """

    feature_names: tuple[str, ...]
    trees: tuple[Tree, ...]
    averages: bool = False
    categories: Mapping[int, Categories] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that a tree splits by or a linear leaf reads, in order."""
        return tuple(sorted(frozenset().union(*(tree.used_features for tree in self.trees))))

    @classmethod
    def read(cls, text: str | bytes) -> "ModelText":
        """Parse and validate a model text.

        Raises:
            ModelError: The text is not a LightGBM model with one score per document, or is damaged.
        """
        try:
            text = text if isinstance(text, str) else text.decode("utf-8")
        except UnicodeDecodeError as error:
            is_damaged = error.object.startswith(b"tree\n")
            raise ModelError(
                "the model text is damaged: it is not UTF-8" if is_damaged else FOREIGN
            ) from error
        if _HEADER.match(text) is None:
            raise ModelError(FOREIGN)
        if END not in text:
            raise ModelError("this is not a complete LightGBM text model: its end is missing")
        before, _, tail = text.partition(END)
        head, *blocks = before.split("\nTree=")
        fields = Fields.of(head, "the head")
        feature_names = _feature_names(fields)
        trees = tuple(_tree(index, block, len(feature_names)) for index, block in enumerate(blocks))
        categories = read_categories(tail, fields.lines.get("feature_infos", "").split(" "))
        return cls(feature_names, trees, "average_output" in fields.lines, categories)

    def write(self) -> str:
        """Return a minimal text with the same scores and explanations for coded features."""
        n_features = len(self.feature_names)
        average = "average_output\n" if self.averages else ""
        head = (
            "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
            f"max_feature_idx={n_features - 1}\n{average}feature_names={' '.join(self.feature_names)}\n"
            f"feature_infos={' '.join(['none'] * n_features)}\n\n"
        )
        trees = (_tree_text(index, tree) for index, tree in enumerate(self.trees))
        return f"{head}{''.join(trees)}end of trees\n"


def _tree_text(index: int, tree: Tree) -> str:
    rows: dict[str, NDArray[Any]] = {}
    if len(tree.features):
        rows = {
            "split_feature": tree.features,
            "split_gain": tree.gains,
            "threshold": tree.thresholds,
            "decision_type": tree.decisions,
            "left_child": tree.left,
            "right_child": tree.right,
        }
    rows |= {"leaf_value": tree.leaf_values, "leaf_count": tree.leaf_counts}
    if len(tree.features):
        # LightGBM uses the values of splits for plots only.
        rows |= {"internal_value": np.zeros(len(tree.features)), "internal_count": tree.split_counts}
    if tree.categories:
        bounds = np.cumsum([0, *(len(words) for words in tree.categories)])
        rows |= {"cat_boundaries": bounds, "cat_threshold": np.concatenate(tree.categories)}
    lines = [f"Tree={index}", f"num_leaves={len(tree.leaf_values)}", f"num_cat={len(tree.categories)}"]
    lines += [f"{name}={_tokens_of(row)}" for name, row in rows.items()]
    lines += _linear_leaf_lines(tree.linear)
    return "\n".join([*lines, "shrinkage=1", "", "", ""])


def _linear_leaf_lines(linear: LinearLeaves | None) -> list[str]:
    if linear is None:
        return ["is_linear=0"]
    ends = np.cumsum(linear.counts)[:-1]
    features, coefficients = (
        " ".join(f"{_tokens_of(part)} " if len(part) else "" for part in np.split(row, ends))
        for row in (linear.features, linear.coefficients)
    )
    return [
        "is_linear=1",
        f"leaf_const={_tokens_of(linear.constants)}",
        f"num_features={_tokens_of(linear.counts)}",
        f"leaf_features={features}",
        f"leaf_coeff={coefficients}",
    ]


def _tokens_of(row: NDArray[Any]) -> str:
    return " ".join(map(repr, row.tolist()))


def _feature_names(head: Fields) -> tuple[str, ...]:
    lines = head.lines
    if (lines.get("num_class"), lines.get("num_tree_per_iteration")) != ("1", "1"):
        raise ModelError("the model must have one score per document")
    names = tuple(lines.get("feature_names", "").split(" "))
    if not 1 <= len(names) <= MAX_FEATURES or any(name == "" or name.split() != [name] for name in names):
        raise ModelError("the model's feature names must not be empty or contain blanks")
    if lines.get("max_feature_idx") != str(len(names) - 1):
        raise ModelError(
            f"the model has {len(names)} feature names, but max_feature_idx is not {len(names) - 1}"
        )
    return names


def _tree(index: int, block: str, n_features: int) -> Tree:
    location = f"tree {index}"
    number, _, body = block.partition("\n")
    fields = Fields.of(body, location)
    if number != str(index):
        raise ModelError(f"{location} of the model is out of order")
    (n_leaves,) = fields.integers("num_leaves", 1).tolist()
    if not 1 <= n_leaves <= MAX_LEAVES:
        raise ModelError(f"{location} of the model has {n_leaves} leaves")
    leaf_values = fields.finite_numbers("leaf_value", n_leaves)
    if n_leaves == 1:
        return Tree.leaf(float(leaf_values[0]))
    n_splits = n_leaves - 1
    features = fields.integers("split_feature", n_splits)
    _check_features(features, n_features, location)
    decisions = fields.integers("decision_type", n_splits)
    if (decisions & ~_KNOWN_DECISIONS).any() or (decisions >> 2 > 2).any():
        raise ModelError(f"{location} of the model has an unknown decision type")
    thresholds = fields.thresholds("threshold", n_splits)
    left, right = (fields.integers(f"{side}_child", n_splits) for side in ("left", "right"))
    _check_shape(left, right, location)
    return Tree(
        features,
        thresholds,
        decisions,
        left,
        right,
        leaf_values,
        fields.gains("split_gain", n_splits),
        fields.counts("internal_count", n_splits),
        fields.counts("leaf_count", n_leaves),
        _categories(fields, thresholds[decisions & CATEGORICAL == CATEGORICAL], location),
        _linear(fields, n_leaves, n_features, location),
    )


def _categories(fields: Fields, set_numbers: Float64Array, location: str) -> tuple[UInt32Array, ...]:
    (n_sets,) = fields.integers("num_cat", 1).tolist()
    if ((set_numbers < 0) | (set_numbers >= n_sets) | (set_numbers != np.floor(set_numbers))).any():
        raise ModelError(f"{location} of the model refers to categories that do not exist")
    if n_sets <= 0:
        return ()
    bounds = fields.integers("cat_boundaries", n_sets + 1)
    if bounds[0] != 0 or (np.diff(bounds) < 0).any():
        raise ModelError(f"{location} of the model has invalid boundaries of its categories")
    words = fields.integers("cat_threshold", int(bounds[-1])) if bounds[-1] else np.empty(0, np.int64)
    if ((words < 0) | (words > np.iinfo(np.uint32).max)).any():
        raise ModelError(f"{location} of the model has categories that are not 32-bit words")
    return tuple(np.split(words.astype(np.uint32), bounds[1:-1]))


def _linear(fields: Fields, n_leaves: int, n_features: int, location: str) -> LinearLeaves | None:
    if fields.lines.get("is_linear", "0") == "0":
        return None
    counts = fields.integers("num_features", n_leaves)
    if (counts < 0).any() or counts.sum() > n_leaves * n_features:
        raise ModelError(f"{location} of the model has linear leaves with more features than the model")
    total = int(counts.sum())
    features, coefficients = np.empty(0, np.int64), np.empty(0)
    if total:
        features = fields.integers("leaf_features", total)
        coefficients = fields.finite_numbers("leaf_coeff", total)
        _check_features(features, n_features, location)
    return LinearLeaves(fields.finite_numbers("leaf_const", n_leaves), counts, features, coefficients)


def _check_features(features: Int64Array, n_features: int, location: str) -> None:
    if features.min() < 0 or features.max() >= n_features:
        raise ModelError(f"{location} of the model splits by a feature that does not exist")


def _check_shape(left: Int64Array, right: Int64Array, location: str) -> None:
    """Require that every split but the first, and every leaf, is the child of exactly one earlier split.

    A split is numbered when it is made, so its parent's number is lower; leaf k is written as -k - 1.
    """
    n_splits = len(left)
    children = np.concatenate([left, right])
    parents = np.tile(np.arange(n_splits), 2)
    expected = np.concatenate([np.arange(-n_splits - 1, 0), np.arange(1, n_splits)])
    if (
        not np.array_equal(np.sort(children), expected)
        or (children[children >= 0] <= parents[children >= 0]).any()
    ):
        raise ModelError(f"{location} of the model is not a binary tree")
