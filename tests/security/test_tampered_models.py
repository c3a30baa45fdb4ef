"""Model texts that an attacker changed in the store."""

import re
import subprocess
import sys

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.errors import ModelError
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.scoring.tree import LinearLeaves, Tree
from core.training import train, training_spec

FEW_MUTATIONS, MUTATIONS = 400, 2_500
LIMIT_SECONDS = 120
LIMIT_BYTES = 3 * 2**30  # of address space; the process needs less than half of it


@pytest.fixture(scope="module")
def model_text() -> str:
    """A small model, as training writes it."""
    values = {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 3, "num_leaves": 4}}
    return train(training_spec(values), synthetic_dataset(10, seed=1)).model_text


def _set(name: str, value: str) -> tuple[str, str]:
    return rf"(?m)^{name}=.*$", f"{name}={value}"


# Changes of the text: a pattern, and the replacement of its first match.
TAMPERED: dict[str, tuple[str, str]] = {
    "a child beyond the last split": _set("left_child", "-1 7000000 -2"),
    "a leaf beyond the last": _set("right_child", "1 -3 -900000"),
    "a split that is its own child": _set("left_child", "0 2 -2"),
    "a cycle of two splits": _set("left_child", "-1 0 -2"),
    "a leaf below two splits": _set("right_child", "1 -3 -3"),
    "a split without a parent": _set("right_child", "-1 -3 -4"),
    "a child without a number": _set("left_child", "-1 two -2"),
    "a child of a hundred digits": _set("left_child", f"-1 {'9' * 100} -2"),
    "a child that wraps around 32 bits": _set("left_child", "-1 4294967298 -2"),
    "too few children": _set("left_child", "-1 2"),
    "too many children": _set("left_child", "-1 2 -2 -2"),
    "children separated by tabs": _set("left_child", "-1\t2\t-2"),
    "a threshold of NaN": _set("threshold", "nan 0.1 0.2"),
    "a threshold without an end": _set("threshold", "0.1 0.2 1" + "0" * 400 + "x"),
    "too few thresholds": _set("threshold", "0.1"),
    "a leaf of NaN": _set("leaf_value", "nan 0 0 0"),
    "a leaf without end": _set("leaf_value", "1e999 0 0 0"),
    "too few leaves": _set("leaf_value", "0 0 0"),
    "a billion leaves": _set("num_leaves", "1000000000"),
    "no leaf": _set("num_leaves", "0"),
    "a negative number of leaves": _set("num_leaves", "-4"),
    "leaves beyond 64 bits": _set("num_leaves", "99999999999999999999"),
    "a feature below the first": _set("split_feature", "-1 0 0"),
    "a feature beyond the last": _set("split_feature", "50 0 0"),
    "a decision that is not known": _set("decision_type", "2 2 255"),
    "a category": _set("decision_type", "1 2 2"),
    "categories without their sets": _set("num_cat", "3"),
    "categories without end": _set("num_cat", "2000000000"),
    "linear leaves without their terms": _set("is_linear", "1"),
    "a tree out of order": (r"Tree=1", "Tree=1000000000"),
    "a billion classes": _set("num_class", "1000000000"),
    "a billion trees an iteration": _set("num_tree_per_iteration", "1000000000"),
    "two billion features": _set("max_feature_idx", "2147483647"),
    "a negative number of features": _set("max_feature_idx", "-2"),
    "fewer features than names": _set("max_feature_idx", "48"),
    "no feature names": _set("feature_names", ""),
    "an empty feature name": _set("feature_names", "f1  f2"),
    "the same field twice": (r"num_leaves=4", "num_leaves=4\nnum_leaves=4000000"),
    "cut in the middle": (r"(?s)Tree=1.*", "Tree=1\nnum_leaves=4"),
    "without an end": (r"end of trees", "end of tree"),
    "another version of the format": (r"version=v4", "version=" + "v" * 10_000),
    "NUL bytes": (r"left_child=-1", "left_child=\x00-1"),
    "another file": (r"(?s).*", "%PDF-1.7 " * 100),
    "nothing": (r"(?s).*", ""),
    "categories nested without end": (r"(?s)pandas_categorical:.*", "pandas_categorical:" + "[" * 100_000),
}

# Changes of a tree with categories and linear leaves.
TAMPERED_SETS: dict[str, tuple[str, str]] = {
    "a set beyond the last": _set("threshold", "1"),
    "half a set": _set("threshold", "0.5"),
    "a set before the first": _set("threshold", "-1"),
    "a set that ends beyond all words": _set("cat_boundaries", "0 900000"),
    "a set that ends before it begins": _set("cat_boundaries", "0 -1"),
    "a set that does not begin": _set("cat_boundaries", "1 1"),
    "a word of 33 bits": _set("cat_threshold", "4294967296"),
    "a negative word": _set("cat_threshold", "-1"),
    "a linear leaf by a feature beyond the last": _set("leaf_features", "0  7 "),
    "linear leaves of a billion features": _set("num_features", "1000000000 1000000000"),
    "linear leaves of a negative number of features": _set("num_features", "-1 3"),
    "too few coefficients": _set("leaf_coeff", "0.5 "),
    "a coefficient of NaN": _set("leaf_coeff", "0.5  nan "),
    "a constant without end": _set("leaf_const", "1e999 0"),
}

# False values that do not affect scores, and that LightGBM would use.
IGNORED: dict[str, tuple[str, str]] = {
    "a billion trees in its table of sizes": _set("tree_sizes", " ".join(["1000000000"] * 1000)),
    "trees of a negative size": _set("tree_sizes", "-5 -5 -5"),
    "an objective of a billion classes": _set(
        "label_index", "0\nobjective=multiclassova num_class:1000000000"
    ),
    "an objective that is not known": _set("label_index", "0\nobjective=rm"),
    "ranges of other features": _set("feature_infos", "[0:1]"),
    "parameters that load a file": (r"\[forcedsplits_filename: \]", "[forcedsplits_filename: /etc/passwd]"),
}

_CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from tests.security.model_mutations import score_mutations
print(*score_mutations(sys.stdin.read(), {mutations}))
"""


@pytest.mark.parametrize("case", TAMPERED)
def test_a_tampered_model_is_refused(model_text: str, case: str) -> None:
    """A model that would let LightGBM access foreign memory or loop for ever raises ModelError."""
    tampered = _changed(model_text, *TAMPERED[case])
    with pytest.raises(ModelError):
        Forest.parse(tampered)


@pytest.mark.parametrize("case", TAMPERED_SETS)
def test_tampered_sets_and_linear_leaves_are_refused(case: str) -> None:
    """Sets of categories and linear leaves are arrays within arrays, with separate bounds."""
    split, leaves = np.zeros(1, np.int64), (np.array([-1]), np.array([-2]))
    terms = LinearLeaves(np.zeros(2), np.ones(2, np.int64), np.zeros(2, np.int64), np.array([0.5, 0.25]))
    sets = (np.array([5], np.uint32),)
    zero, values, counts = np.zeros(1), np.array([0.0, 1.0]), np.zeros(2, np.int64)
    tree = Tree(split, zero, split + 1, *leaves, values, zero, split, counts, sets, terms)
    text = ModelText(("feature",), (tree,)).write()
    assert Forest.parse(text).score(np.array([[0.0], [1.0]])).tolist() == [0.0, 0.25]
    with pytest.raises(ModelError):
        Forest.parse(_changed(text, *TAMPERED_SETS[case]))


@pytest.mark.parametrize("case", IGNORED)
def test_tampered_fields_that_do_not_affect_scores_are_ignored(model_text: str, case: str) -> None:
    """LightGBM gets only the trees, so the scores are those of the unchanged model."""
    features = synthetic_dataset(3, seed=2).features
    tampered = Forest.parse(_changed(model_text, *IGNORED[case]))
    np.testing.assert_array_equal(tampered.score(features), Forest.parse(model_text).score(features))


def test_bytes_that_are_not_utf8_are_refused() -> None:
    """The bytes raise ModelError."""
    with pytest.raises(ModelError, match="UTF-8"):
        Forest.parse(b"tree\nversion=v4\n\xff\xfe")


@pytest.mark.parametrize("mutations", [FEW_MUTATIONS, pytest.param(MUTATIONS, marks=pytest.mark.slow)])
def test_no_mutation_of_a_model_ends_the_process(model_text: str, mutations: int) -> None:
    """Random mutations are refused or give finite scores, in bounded time and memory."""
    code = _CHILD.format(limit=LIMIT_BYTES, mutations=mutations)
    child = subprocess.run(
        [sys.executable, "-c", code],
        input=model_text,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    refused, scored = map(int, child.stdout.split())
    assert refused + scored == mutations
    assert min(refused, scored) > mutations / 20  # both outcomes occur


def _changed(text: str, pattern: str, replacement: str) -> str:
    changed, times = re.subn(pattern, lambda _: replacement, text, count=1)
    assert times == 1
    return changed
