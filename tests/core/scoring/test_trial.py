"""Trials of imported models, before the models are used."""

import re

import lightgbm
import numpy as np
import pytest

from core.errors import ModelError
from core.scoring import Explainability
from core.scoring.model_text import ModelText
from core.scoring.trial import MAX_NAME_CHARACTERS, trial_rows, try_out
from tests.core.scoring.forests import chain_model_text, random_model_text


@pytest.fixture(scope="module")
def model_text() -> str:
    """A model that LightGBM trains and saves by itself, with missing values and a category."""
    random = np.random.default_rng(1)
    features = random.normal(size=(500, 3))
    features[:, 1] = random.integers(12, size=500)
    features[random.random(features.shape) < 0.2] = np.nan
    labels = features[:, 0] + (features[:, 1] % 3 == 0)
    names = ["bm25", "shop", "age"]
    data = lightgbm.Dataset(features, np.nan_to_num(labels), feature_name=names, categorical_feature=[1])
    parameters = {"num_leaves": 15, "verbosity": -1}
    return str(lightgbm.train(parameters, data, num_boost_round=5).model_to_string())


def test_a_model_of_lightgbm_passes(model_text: str) -> None:
    """The trial returns the names of features and the number of trees."""
    found = try_out(model_text, max_features=3)
    assert (found.feature_names, found.n_trees) == (("bm25", "shop", "age"), 5)
    assert found.n_rows >= 32
    assert found.explainability == Explainability.of(ModelText.read(model_text))
    assert found.explainability.problem is None


def test_a_model_without_trees_passes() -> None:
    """A model without trees can be tried out and explained."""
    found = try_out(ModelText(("bm25",), ()).write(), max_features=1)
    assert (found.n_trees, found.explainability.problem) == (0, None)


def test_a_chain_passes_and_is_not_explained() -> None:
    """LightGBM would overflow its stack when it explains such a model, but not when it scores."""
    found = try_out(chain_model_text(20_000, 4), max_features=4)
    assert "a depth of 19,999" in str(found.explainability.problem)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_forests_of_any_shape_pass(seed: int, linear: bool) -> None:
    """Forests with categories and linear leaves pass, too."""
    text = random_model_text(np.random.default_rng(seed), 4, 6, 12, linear=linear)
    assert try_out(text, max_features=4).n_trees == 6


def test_trial_documents_cover_thresholds_and_special_values(model_text: str) -> None:
    """Documents are on both sides of each threshold, and have zeros, infinities and NaN."""
    model = ModelText.read(model_text)
    rows = trial_rows(model)
    assert np.isnan(rows).any(axis=0).all()
    assert np.isinf(rows).any(axis=0).all()
    assert (rows == 0.0).any(axis=0).all()
    for tree in model.trees:
        for feature, threshold in zip(tree.features, tree.thresholds, strict=True):
            assert (rows[:, feature] <= threshold).any()
            assert (rows[:, feature] > threshold).any()


def test_a_text_that_lightgbm_scores_differently_is_refused(model_text: str) -> None:
    """LightGBM reads only as many trees as the text has tree sizes, so the scores differ."""
    with pytest.raises(
        ModelError, match=r"scores of Rankery and LightGBM differ on \d+ of 1000 random documents"
    ):
        try_out(re.sub(r"(?m)^(tree_sizes=.*) \d+$", r"\1", model_text), max_features=3)


@pytest.mark.parametrize(
    ("pattern", "becomes", "words"),
    [
        (r"(?s).*", "%PDF-1.7", "not a LightGBM text model"),
        (r"num_class=1", "num_class=3", "one score per document"),
        (r"feature_names=bm25 shop age", "feature_names=bm25 bm25 age", "same name"),
        (r"feature_names=bm25", "feature_names=bm\x0725", "printable"),
        (r"feature_names=bm25", f"feature_names={'x' * (MAX_NAME_CHARACTERS + 1)}", "printable"),
        (r"left_child=\S+", "left_child=0", "is not a binary tree"),
    ],
)
def test_unusable_texts_are_refused(model_text: str, pattern: str, becomes: str, words: str) -> None:
    """The error describes the problem, even for texts that LightGBM would accept."""
    with pytest.raises(ModelError, match=words):
        try_out(re.sub(pattern, becomes, model_text, count=1), max_features=3)


def test_too_many_features_are_refused(model_text: str) -> None:
    """A model with more than `max_features` features is refused."""
    with pytest.raises(ModelError, match="the maximum is 2"):
        try_out(model_text, max_features=2)
