"""Documents counted at the leaves of a model, and written into its text."""

import re
from typing import Any

import lightgbm
import numpy as np
import pytest

from core.data.features import SelectedFeatures
from core.errors import ModelError
from core.scoring import forest as forest_module
from core.scoring.model_text import ModelText
from core.training import leaf_counts as module
from core.training.leaf_counts import leaf_counts, with_counts
from core.types import Float32Array
from tests.core.scoring.forests import documents_near, random_model_text, thresholds_of

DOCUMENTS = 1_003  # no whole number of blocks or lanes
NAMES = ["größe", "b", "c", "category"]
LEAVES = {"num_leaves": 12, "min_data_in_leaf": 3, "min_data_per_group": 5, "max_cat_to_onehot": 2}
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"categorical_feature": [3]},
    {"categorical_feature": [3], "min_data_per_group": 1, "cat_smooth": 0.0, "num_leaves": 60},
    {"zero_as_missing": True},
    {"use_missing": False},
    {"linear_tree": True},
    {"objective": "binary", "boosting": "dart"},
    {"max_bin": 7, "enable_bundle": False},
    {"min_gain_to_split": 1e9},
]


def _features() -> Float32Array:
    random = np.random.default_rng(1)
    features = random.normal(size=(DOCUMENTS, 4)).round(1).astype(np.float32)
    features[random.random(features.shape) < 0.1] = np.nan
    features[random.random(features.shape) < 0.2] = 0.0
    features[:, 3] = np.floor(random.exponential(20.0, DOCUMENTS))
    features[::50, 3] = np.nan
    return features


def _model(features: Float32Array, parameters: dict[str, Any], iterations: int = 10) -> str:
    labels = np.nan_to_num(features[:, 0]) + np.nan_to_num(features[:, 3]) % 3 - np.isnan(features[:, 1])
    if "objective" in parameters:
        labels = (labels > 1.0).astype(np.float32)
    given = {"objective": "regression", "num_threads": 1, "verbose": -1, **LEAVES, **parameters}
    categorical = given.pop("categorical_feature", [])
    data = lightgbm.Dataset(
        features, labels, feature_name=NAMES, categorical_feature=categorical, params=given
    )
    return lightgbm.train(given, data, iterations).model_to_string()


def _without_counts(model_text: str) -> str:
    """Replace the counts by numbers with more digits, and adapt the sizes of the trees."""
    head, *blocks = re.sub(r"(leaf|internal)_count=(\d+)", r"\1_count=100000\2", model_text).split("\nTree=")
    last, end, tail = blocks[-1].partition("\nend of trees\n")
    blocks[-1] = last
    sizes = " ".join(str(len(f"Tree={block}\n")) for block in blocks)
    return "\nTree=".join([re.sub("tree_sizes=.*", f"tree_sizes={sizes}", head), *blocks]) + end + tail


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_a_recounted_model_is_the_text_that_lightgbm_wrote(parameters: dict[str, Any], threads: int) -> None:
    """Counting again restores lost counts and the sizes of the trees, byte for byte."""
    features = _features()
    text = _model(features, parameters)
    lost = _without_counts(text)
    assert lost != text
    assert with_counts(lost, leaf_counts(lost, features, threads)) == text


def test_models_of_these_tests_have_categories_and_missing_values() -> None:
    """Some splits are by category, and some have a side for missing values or zeros."""
    features = _features()
    by_category, plain = (ModelText.read(_model(features, parameters)) for parameters in PARAMETERS[1::-1])
    zeros = ModelText.read(_model(features, {"zero_as_missing": True}))
    assert any(tree.categories for tree in by_category.trees)
    assert {int(missing) for tree in plain.trees for missing in tree.decisions >> 2} >= {2}
    assert {int(missing) for tree in zeros.trees for missing in tree.decisions >> 2} >= {1}


def test_lightgbm_reads_the_text_by_its_sizes() -> None:
    """Counts of other lengths leave the scores and the number of trees as they are."""
    features = _features()
    text = _model(features, {"categorical_feature": [3]})
    counts = leaf_counts(text, features, 1)
    recounted = with_counts(text, counts + 123_456_789)
    before, after = (lightgbm.Booster(model_str=each) for each in (text, recounted))
    assert len(recounted) > len(text)
    assert after.num_trees() == before.num_trees() == 10
    np.testing.assert_array_equal(after.predict(features), before.predict(features))


def test_counts_of_shards_add_up_to_those_of_the_whole() -> None:
    """Shards may have any size, and one of them is empty."""
    features = _features()
    text = _model(features, {"categorical_feature": [3]})
    shards = np.split(features, [5, 5, 700])
    counts = [leaf_counts(text, shard, 2) for shard in shards]
    np.testing.assert_array_equal(np.sum(counts, axis=0), leaf_counts(text, features, 1))
    assert not counts[1].any()


def test_features_are_read_in_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block of a hundred rows is read once, and a selection gives the same counts."""
    features = _features()
    text = _model(features, {})
    expected = leaf_counts(text, features, 1)
    read: list[slice] = []

    class Rows:
        def __len__(self) -> int:
            return len(features)

        def __getitem__(self, rows: slice) -> Float32Array:
            read.append(rows)
            return features[rows]

    monkeypatch.setattr(module, "_BLOCK_CELLS", 1_000)  # a hundred documents of ten trees
    np.testing.assert_array_equal(leaf_counts(text, Rows(), 1), expected)
    assert [rows.start for rows in read] == list(range(0, DOCUMENTS, 100))
    assert {rows.stop - rows.start for rows in read} == {100}
    selected = SelectedFeatures(features, np.arange(DOCUMENTS)[::-1], np.arange(4))
    np.testing.assert_array_equal(leaf_counts(text, selected, 1), expected)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("max_sets", [0, 10_000])
def test_any_forest_is_counted_as_lightgbm_descends(
    linear: bool, max_sets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents are counted by Rankery's kernel, or by LightGBM for forests that suit the kernel badly."""
    monkeypatch.setattr(forest_module, "MAX_SETS_PER_TREE", max_sets)
    random = np.random.default_rng(2)
    text = random_model_text(random, 5, 13, 20, linear=linear)
    trees = ModelText.read(text).trees
    with np.errstate(over="ignore"):
        features = documents_near(random, thresholds_of(text), 333, 5).astype(np.float32)
    ends: Any = lightgbm.Booster(model_str=text).predict(features, pred_leaf=True, num_threads=1)
    expected = [np.bincount(ends[:, i], minlength=len(tree.leaf_values)) for i, tree in enumerate(trees)]
    np.testing.assert_array_equal(leaf_counts(text, features, 2), np.concatenate(expected))


def test_earlier_trees_keep_their_counts() -> None:
    """The trees of the initial model, which may be grown from other documents, keep their counts."""
    features = _features()
    text = _model(features, {})
    lost = _without_counts(text)
    found = with_counts(lost, leaf_counts(text, features, 1), first_tree=4)
    expected, before, after = (
        [(tree.leaf_counts.tolist(), tree.split_counts.tolist()) for tree in ModelText.read(each).trees]
        for each in (text, lost, found)
    )
    assert after == before[:4] + expected[4:]
    assert lightgbm.Booster(model_str=found).num_trees() == 10


def test_a_model_of_constants_has_all_documents_in_each_leaf() -> None:
    """A tree without a split is one leaf."""
    features = _features()
    text = _model(features, {"min_gain_to_split": 1e9})
    assert leaf_counts(text, features, 1).tolist() == [DOCUMENTS] * len(ModelText.read(text).trees)


def test_counts_of_another_model_are_refused() -> None:
    """A model needs one count for each leaf."""
    text = _model(_features(), {})
    with pytest.raises(ValueError, match="number of counts, 2, differs"):
        with_counts(text, np.ones(2, np.int64))
    with pytest.raises(ModelError):
        with_counts("tree", np.ones(2, np.int64))
