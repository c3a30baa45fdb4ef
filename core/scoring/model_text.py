"""LightGBM's model text, read strictly.

LightGBM trusts a model text: a child out of range, a cycle or a wrong length makes it read foreign memory,
loop for ever or end the process. So would our own kernels: every number that decides a score is checked here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.types import Float64Array, Int64Array

MAX_FEATURES = 1_000_000
MAX_LEAVES = 131_072  # LightGBM's own bound of num_leaves
_HEADER = re.compile(r"tree\nversion=v\d{1,3}\n")
_END = "\nend of trees\n"
_WHOLE = re.compile(r"-?\d{1,9}(?: -?\d{1,9})*")
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]\d{1,3})?"
_REAL = re.compile(f"{_NUMBER}(?: {_NUMBER})*")
# A split between the missing values and all others has an infinite threshold.
_THRESHOLD = re.compile(f"(?:-?inf|{_NUMBER})(?: (?:-?inf|{_NUMBER}))*")
_MISSING_AND_DEFAULT = 0b1110  # decision_type's bits; the lowest is for categories, which we never train with


@dataclass(frozen=True)
class Tree:
    """A tree, as far as it decides scores.

    Attributes:
        features: (n_splits,) feature that each split looks at.
        thresholds: (n_splits,) values up to which it goes left.
        decisions: (n_splits,) LightGBM's `decision_type`: bit 1 is set where missing values go left, bits 2
            and 3 say which are missing: none (0), zeros (1) or NaN (2).
        left: (n_splits,) left children, a later split or leaf k as -k - 1.
        right: (n_splits,) right children.
        leaf_values: (n_splits + 1,).
    """

    features: Int64Array
    thresholds: Float64Array
    decisions: Int64Array
    left: Int64Array
    right: Int64Array
    leaf_values: Float64Array

    @classmethod
    def leaf(cls, value: float) -> "Tree":
        """Make a tree that is a single leaf."""
        none = np.empty(0, np.int64)
        return cls(none, np.empty(0), none, none, none, np.array([value]))


@dataclass(frozen=True)
class ModelText:
    """What a model text holds.

    Attributes:
        feature_names: In the model's order.
        trees: In the order in which their values are added up.
    """

    feature_names: tuple[str, ...]
    trees: tuple[Tree, ...]

    @classmethod
    def read(cls, text: str) -> "ModelText":
        """Check a text from end to end.

        Raises:
            ModelError: It is no LightGBM model of numerical splits and one score a document, or damaged.
        """
        if _HEADER.match(text) is None or _END not in text:
            raise ModelError("this is not a complete LightGBM text model")
        head, *blocks = text.partition(_END)[0].split("\nTree=")
        feature_names = _feature_names(_fields(head, "the head"))
        trees = tuple(_tree(index, block, len(feature_names)) for index, block in enumerate(blocks))
        return cls(feature_names, trees)

    def write(self) -> str:
        """Return the least text that scores alike."""
        n_features = len(self.feature_names)
        head = (
            "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
            f"max_feature_idx={n_features - 1}\nfeature_names={' '.join(self.feature_names)}\n"
            f"feature_infos={' '.join(['none'] * n_features)}\n\n"
        )
        trees = (_written(index, tree) for index, tree in enumerate(self.trees))
        return f"{head}{''.join(trees)}end of trees\n"


def _written(index: int, tree: Tree) -> str:
    lines = [f"Tree={index}", f"num_leaves={len(tree.leaf_values)}", "num_cat=0"]
    if len(tree.features):
        rows: dict[str, NDArray[Any]] = {
            "split_feature": tree.features,
            "split_gain": np.zeros_like(tree.features),
            "threshold": tree.thresholds,
            "decision_type": tree.decisions,
            "left_child": tree.left,
            "right_child": tree.right,
        }
        lines += [f"{name}={_tokens_of(row)}" for name, row in rows.items()]
    lines += [f"leaf_value={_tokens_of(tree.leaf_values)}", "is_linear=0", "shrinkage=1"]
    return "\n".join([*lines, "", "", ""])


def _tokens_of(row: NDArray[Any]) -> str:
    return " ".join(map(repr, row.tolist()))


def _fields(block: str, place: str) -> Mapping[str, str]:
    fields: dict[str, str] = {}
    for line in block.split("\n"):
        name, _, value = line.partition("=")
        if name in fields and name:
            raise ModelError(f"{place} of the model has {name[:40]!r} twice")
        fields[name] = value
    return fields


def _feature_names(head: Mapping[str, str]) -> tuple[str, ...]:
    if (head.get("num_class"), head.get("num_tree_per_iteration")) != ("1", "1"):
        raise ModelError("the model does not give one score a document")
    names = tuple(head.get("feature_names", "").split(" "))
    if not 1 <= len(names) <= MAX_FEATURES or any(name == "" or name.split() != [name] for name in names):
        raise ModelError("the model's feature names cannot be told apart")
    if head.get("max_feature_idx") != str(len(names) - 1):
        raise ModelError(
            f"the model names {len(names)} features but not {len(names) - 1} as the last one's number"
        )
    return names


def _tree(index: int, block: str, n_features: int) -> Tree:
    place = f"tree {index}"
    number, _, body = block.partition("\n")
    fields = _fields(body, place)
    if number != str(index) or fields.get("num_cat") != "0" or fields.get("is_linear", "0") != "0":
        raise ModelError(
            f"{place} of the model is out of order, or not of numerical splits and constant leaves"
        )
    (n_leaves,) = _whole(fields, "num_leaves", 1, place)
    if not 1 <= n_leaves <= MAX_LEAVES:
        raise ModelError(f"{place} of the model has {n_leaves} leaves")
    leaf_values = np.array(_tokens(fields, "leaf_value", _REAL, int(n_leaves), place), np.float64)
    if not np.isfinite(leaf_values).all():
        raise ModelError(f"{place} of the model has a leaf without end")
    if n_leaves == 1:
        return Tree.leaf(float(leaf_values[0]))
    n_splits = int(n_leaves) - 1
    features = _whole(fields, "split_feature", n_splits, place)
    if features.min() < 0 or features.max() >= n_features:
        raise ModelError(f"{place} of the model splits by a feature that there is not")
    decisions = _whole(fields, "decision_type", n_splits, place)
    if (decisions & ~_MISSING_AND_DEFAULT).any() or (decisions >> 2 > 2).any():
        raise ModelError(f"{place} of the model decides in a way that is not known")
    thresholds = np.array(_tokens(fields, "threshold", _THRESHOLD, n_splits, place), np.float64)
    left, right = (_whole(fields, f"{side}_child", n_splits, place) for side in ("left", "right"))
    _check_shape(left, right, place)
    return Tree(features, thresholds, decisions, left, right, leaf_values)


def _check_shape(left: Int64Array, right: Int64Array, place: str) -> None:
    """Require that every split but the first, and every leaf, hangs below exactly one earlier split.

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
        raise ModelError(f"{place} of the model is no tree")


def _whole(fields: Mapping[str, str], name: str, count: int, place: str) -> Int64Array:
    return np.array(_tokens(fields, name, _WHOLE, count, place), np.int64)


def _tokens(
    fields: Mapping[str, str], name: str, grammar: re.Pattern[str], count: int, place: str
) -> list[str]:
    text = fields.get(name, "")
    if grammar.fullmatch(text) is None or text.count(" ") + 1 != count:
        raise ModelError(f"{place} of the model does not have {count} numbers as its {name}")
    return text.split(" ")
