"""Scoring stored models."""

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.data import synthetic_dataset
from core.errors import ModelError
from core.scoring import Forest
from core.scoring import forest as forest_module
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree
from core.training import train, training_spec
from core.types import Float64Array, FloatArray
from tests.core.scoring.forests import documents_near, random_model_text, thresholds_of
from tests.examples import examples

# Numbers of documents for each code path: single documents, incomplete groups, groups and blocks.
SIZES = (1, 7, 8, 15, 33, 71)


@pytest.fixture(scope="module")
def model_text() -> str:
    """A small model."""
    values = {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 3, "num_leaves": 4}}
    return train(training_spec(values), synthetic_dataset(10, seed=1)).model_text


def test_a_stored_model_scores_documents_one_by_one_as_together(model_text: str) -> None:
    """A document's score does not depend on the other documents of the request."""
    forest = Forest.parse(model_text)
    features = synthetic_dataset(2, seed=2).features
    together = forest.score(features)
    alone = [forest.score(features[i : i + 1])[0] for i in range(len(features))]
    assert together.tolist() == alone
    assert len(set(alone)) > 1


@pytest.mark.parametrize("text", ["", "tree\n", "tree\nversion=v4\n", '{"tree": 1}', "end of trees"])
def test_an_invalid_model_text_is_refused(text: str) -> None:
    """A damaged text raises an error and never ends the process."""
    with pytest.raises(ModelError):
        Forest.parse(text)


def test_the_wrong_number_of_features_is_refused(model_text: str) -> None:
    """The message has the number of features that the model needs."""
    with pytest.raises(ModelError, match="needs 50 features, but got 3"):
        Forest.parse(model_text).score(np.zeros((1, 3)))


def test_an_empty_request_has_no_scores(model_text: str) -> None:
    """LightGBM itself would refuse an empty request."""
    assert Forest.parse(model_text).score(np.zeros((0, 50))).shape == (0,)


def _by_lightgbm(model_text: str, features: FloatArray) -> Float64Array:
    scores = lightgbm.Booster(model_str=model_text).predict(features, raw_score=True, num_threads=1)
    return np.asarray(scores, np.float64)


@pytest.mark.long
@settings(max_examples=examples(250))
@given(
    seed=st.integers(0, 2**32 - 1),
    n_features=st.integers(1, 5),
    n_trees=st.integers(1, 20),
    max_leaves=st.sampled_from([1, 2, 5, 40]),
    n_documents=st.sampled_from(SIZES),
    dtype=st.sampled_from([np.float64, np.float32]),
    linear=st.sampled_from([False, False, True]),
    averages=st.booleans(),
)
def test_scores_are_those_of_lightgbm_to_the_bit(
    seed: int,
    n_features: int,
    n_trees: int,
    max_leaves: int,
    n_documents: int,
    dtype: type[np.floating],
    linear: bool,
    averages: bool,
) -> None:
    """Rows include thresholds, neighbours, NaN, infinities, denormals, categories and all-missing values."""
    random = np.random.default_rng(seed)
    text = random_model_text(random, n_features, n_trees, max_leaves, linear=linear, averages=averages)
    with np.errstate(over="ignore"):  # values beyond float32 become infinite
        features = documents_near(random, thresholds_of(text), n_documents, n_features).astype(dtype)
    np.testing.assert_array_equal(Forest.parse(text).score(features), _by_lightgbm(text, features))


@pytest.mark.long
@pytest.mark.parametrize("bits", [17, 3])
def test_a_forest_with_too_many_features_for_the_bits_of_a_node_is_left_to_lightgbm(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores are exactly LightGBM's; only the time differs."""
    monkeypatch.setattr(forest_module, "COLUMN_BITS", bits)
    monkeypatch.setattr(forest_module, "MAX_SETS_PER_TREE", 10_000)
    random = np.random.default_rng(3)
    text = random_model_text(random, 3000, 8, 3000)
    features = documents_near(random, thresholds_of(text), 70, 3000)
    forest = Forest.parse(text)
    assert (forest_module.flatten(ModelText.read(text).trees) is None) == (bits == 3)
    np.testing.assert_array_equal(forest.score(features), _by_lightgbm(text, features))
    np.testing.assert_array_equal(forest.score(features[:0]), np.empty(0))


@pytest.mark.parametrize("sets", [forest_module.MAX_SETS_PER_TREE, forest_module.MAX_SETS_PER_TREE + 1])
def test_a_forest_of_many_sets_of_categories_is_left_to_lightgbm(sets: int) -> None:
    """LightGBM evaluates only the sets on the path of a document."""
    random, left = np.random.default_rng(5), np.arange(1, sets + 1)
    left[-1], counts = -1, np.ones(sets + 1, np.int64)
    words = tuple(random.integers(2**32, size=2).astype(np.uint32) for _ in range(sets))
    tree = Tree(
        np.zeros(sets, np.int64), np.arange(sets, dtype=np.float64), np.ones(sets, np.int64), left,
        -np.arange(2, sets + 2), random.normal(size=sets + 1), np.zeros(sets), counts[1:], counts, words,
    )  # fmt: skip
    text = ModelText(("category",), (tree,)).write()
    features = np.arange(-2.0, 70.0)[:, None]
    assert (forest_module.flatten((tree,)) is None) == (sets > forest_module.MAX_SETS_PER_TREE)
    np.testing.assert_array_equal(Forest.parse(text).score(features), _by_lightgbm(text, features))


@pytest.mark.parametrize("linear", [False, True])
def test_a_model_text_is_written_as_it_was_read(linear: bool) -> None:
    """The text keeps everything that decides or explains a score."""
    text = random_model_text(np.random.default_rng(7), 5, 30, 20, linear=linear, averages=True)
    assert ModelText.read(text).write() == text
    assert any(tree.categories for tree in ModelText.read(text).trees)


@pytest.mark.parametrize(
    "parameters",
    [
        {"min_data_per_group": 5, "max_cat_to_onehot": 2},
        {"linear_tree": True},
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
        {"boosting": "dart", "objective": "binary"},
        {"objective": "lambdarank", "zero_as_missing": True, "label_gain": [0, 1, 3]},
    ],
    ids=lambda parameters: next(iter(parameters)),
)
def test_scores_equal_those_of_lightgbm(parameters: dict[str, object]) -> None:
    """Scores equal LightGBM's for every kind of model with one score per document."""
    random = np.random.default_rng(1)
    features = random.normal(size=(400, 4)).round(1)
    features[:, 3] = random.integers(-1, 70, 400)
    features[::7, 1] = np.nan
    labels = (features[:, 0] > 0).astype(int) + (features[:, 3] % 3 == 0)
    labels = np.minimum(labels, 1) if parameters.get("objective") == "binary" else labels
    given = {
        "objective": "regression",
        "num_leaves": 9,
        "min_data_in_leaf": 5,
        "num_threads": 1,
        "verbose": -1,
    }
    data = lightgbm.Dataset(
        features,
        labels,
        group=[40] * 10,
        categorical_feature=[3] if "min_data_per_group" in parameters else [],
    )
    text = lightgbm.train({**given, **parameters}, data, num_boost_round=12).model_to_string()
    np.testing.assert_array_equal(Forest.parse(text).score(features), _by_lightgbm(text, features))


@pytest.mark.long
def test_several_threads_score_alike(model_text: str) -> None:
    """Each document is scored by one thread, and any thread gives the same score."""
    forest = Forest.parse(model_text)
    features = np.random.default_rng(4).normal(size=(5000, forest.n_features))
    np.testing.assert_array_equal(forest.score(features, threads=2), forest.score(features))


def test_features_may_have_any_memory_layout(model_text: str) -> None:
    """Scores are equal for Fortran order and for a view of every second row."""
    forest = Forest.parse(model_text)
    features = np.random.default_rng(5).integers(-3, 4, size=(20, forest.n_features))
    expected = forest.score(features.astype(np.float64))
    np.testing.assert_array_equal(forest.score(np.asfortranarray(features, np.float64)), expected)
    np.testing.assert_array_equal(forest.score(features.astype(np.float64)[::2]), expected[::2])
