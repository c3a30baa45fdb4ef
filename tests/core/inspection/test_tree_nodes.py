"""Single trees as nested nodes."""

from dataclasses import replace

import lightgbm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.inspection import Leaf, Split, tree_nodes
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.scoring.tree import LinearLeaves
from tests.core.inspection.forests import NAN_GOES_LEFT, forest_of, stump
from tests.core.scoring.forests import documents_near, random_model_text, thresholds_of

_ZERO = float(np.float32(1e-35))


def _score(node: Split | Leaf | None, document: dict[str, float]) -> float:
    """Return the score of a document by following the nodes."""
    assert node is not None
    if isinstance(node, Leaf):
        return node.value
    return _score(getattr(node, _side(node, document[node.feature])), document)


def _side(node: Split, value: float) -> str:
    is_zero = bool(np.isnan(value)) or abs(value) <= _ZERO
    if {"nan": bool(np.isnan(value)), "zero": is_zero, "none": False}[node.missing]:
        return str(node.missing_goes)
    value = 0.0 if is_zero else value
    if node.categories is not None:
        return "left" if np.trunc(value) in node.categories else "right"
    return "left" if node.threshold is not None and value <= node.threshold else "right"


@given(st.integers(0, 10_000))
def test_following_the_nodes_gives_the_score(seed: int) -> None:
    """Following thresholds, categories and missing values gives each document the score of the model."""
    random = np.random.default_rng(seed)
    text = random_model_text(random, n_features=3, n_trees=1, max_leaves=12)
    read = ModelText.read(text)
    (tree,) = read.trees
    infinite = np.isinf(tree.thresholds)
    read = replace(read, trees=(replace(tree, thresholds=np.where(infinite, 0.5, tree.thresholds)),))
    documents = documents_near(random, thresholds_of(text), 40, 3)
    root = tree_nodes(read, 0, ("a", "b", "c"))
    followed = [_score(root, dict(zip("abc", row, strict=True))) for row in documents.tolist()]
    assert followed == Forest(read).score(documents).tolist()


def test_a_trained_tree_is_as_lightgbm_dumps_it() -> None:
    """Features, thresholds, gains and counts of all nodes equal those of `dump_model`."""
    random = np.random.default_rng(1)
    features = random.normal(size=(300, 3))
    parameters = {"objective": "regression", "num_leaves": 9, "min_data_in_leaf": 5, "verbosity": -1}
    data = lightgbm.Dataset(features, features[:, 0] * features[:, 1])
    booster = lightgbm.train(parameters, data, num_boost_round=2)
    text = booster.model_to_string()
    root = tree_nodes(ModelText.read(text), 1, ("a", "b", "c"))
    dumped = lightgbm.Booster(model_str=text).dump_model()["tree_info"][1]["tree_structure"]
    assert _as_dumped(root) == _from_dump(dumped)


def _as_dumped(node: Split | Leaf | None) -> object:
    if isinstance(node, Leaf):
        return (node.leaf, node.value, node.documents)
    assert node is not None
    gain = float(np.float32(node.gain))  # as LightGBM reads it
    inner = (node.split, "abc".index(node.feature), node.decision, node.threshold, gain, node.documents)
    return (*inner, _as_dumped(node.left), _as_dumped(node.right))


def _from_dump(node: dict[str, object]) -> object:
    if "leaf_index" in node:
        return tuple(node[name] for name in ("leaf_index", "leaf_value", "leaf_count"))
    names = ("split_index", "split_feature", "decision_type", "threshold")
    gain = float(str(node["split_gain"]))
    children = (_from_dump(node[side]) for side in ("left_child", "right_child"))  # type: ignore[arg-type]
    return (*(node[name] for name in names), gain, node["internal_count"], *children)


def test_below_the_depth_only_the_leaves_are_counted() -> None:
    """A split at the depth limit has no children; another request can begin at it."""
    random = np.random.default_rng(3)
    text = ModelText.read(random_model_text(random, n_features=3, n_trees=1, max_leaves=40))
    names = ("a", "b", "c")
    root = tree_nodes(text, 0, names, depth=2)
    assert isinstance(root, Split)
    assert root.leaves == len(text.trees[0].leaf_values)
    below = next(child for child in (root.left, root.right) if isinstance(child, Split))
    assert (below.left, below.right) == (None, None)
    again = tree_nodes(text, 0, names, root=below.split)
    assert isinstance(again, Split)
    assert (again.split, again.leaves) == (below.split, below.leaves)
    assert again.left is not None


def test_special_values_of_trees_are_shown() -> None:
    """Infinite thresholds are null, a bare leaf is a leaf, and linear leaves name their coefficients."""
    linear = LinearLeaves(
        np.array([1.0, 2.0]), np.array([1, 2]), np.array([1, 0, 1]), np.array([0.5, 3.0, 4.0])
    )
    tree = stump(0, np.inf, 0.25, 0.75, NAN_GOES_LEFT)
    text = forest_of(replace(tree, linear=linear), tree.leaf(0.5), n_features=2)
    root = tree_nodes(text, 0, ("a", "b"))
    assert isinstance(root, Split)
    assert (root.threshold, root.missing, root.missing_goes, root.gain) == (None, "nan", "left", 1.5)
    assert (root.documents, root.leaves) == (7, 2)
    assert isinstance(root.right, Leaf)
    assert (root.right.leaf, root.right.value, root.right.documents) == (1, 0.75, 4)
    assert root.right.linear is not None
    assert (root.right.linear.constant, root.right.linear.coefficients) == (2.0, {"a": 3.0, "b": 4.0})
    assert tree_nodes(text, 1, ("a", "b")) == Leaf(0, 0.5, None, None)


@pytest.mark.parametrize(
    ("index", "root", "words"),
    [
        (2, 0, "/index: the model has 2 trees, counted from 0"),
        (-1, 0, "/index"),
        (0, 1, "/root: the tree has 1 split, counted from 0"),
    ],
)
def test_an_unknown_tree_or_split_is_refused(index: int, root: int, words: str) -> None:
    """The error has the number of trees or splits."""
    text = forest_of(stump(0, 0.5, 0.0, 1.0), stump(0, 0.5, 0.0, 1.0), n_features=1)
    with pytest.raises(InvalidInput, match=words):
        tree_nodes(text, index, ("a",), root)
