"""Partial dependence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset
from core.inspection import Grid, partial_dependence
from core.scorers import TreeModel
from core.scoring.model_text import ModelText
from tests.core.inspection.forests import NAN_GOES_LEFT, forest_of, judged, stump
from tests.core.scoring.forests import documents_near, random_model_text, thresholds_of


def _dataset(columns: list[list[float]]) -> RankingDataset:
    features = np.array(columns, np.float32).T
    return RankingDataset.from_arrays(features, np.zeros(len(features)), [0, len(features)])


def test_responses_of_a_small_forest_are_exact() -> None:
    """f0 adds 1 above 0.5 and 4 if it is missing; f1 adds 10 or 20, whatever the value of f0."""
    text = forest_of(
        stump(0, 0.5, 0.0, 1.0), stump(0, np.inf, 0.0, 3.0), stump(1, 0.0, 10.0, 20.0), n_features=2
    )
    dataset = _dataset([[0.0, 0.25, 0.5, 0.75, np.nan], [-1.0, -1.0, -1.0, -1.0, 1.0]])
    (found,) = partial_dependence(TreeModel(text), [0], dataset, Grid(values=4))
    assert found.values == [0.0, 0.25, 0.5, 0.75]
    assert found.shares == [0.25, 0.5, 0.75, 1.0]
    # f1 adds 10 to four documents and 20 to one; the quantiles are interpolated as numpy does.
    assert [each.mean for each in found.responses] == [12.0, 12.0, 12.0, 13.0]
    assert (found.responses[0].lower, found.responses[0].upper) == (10.0, 16.0)
    assert found.missing is not None
    assert (found.missing.mean, found.missing_share) == (16.0, 0.2)
    assert found.to_json(("a", "b"))["points"][3] == {
        "value": 0.75,
        "share": 1.0,
        "mean": 13.0,
        "lower": 11.0,
        "upper": 17.0,
    }


def test_a_feature_that_is_never_missing_has_no_point_for_missing_values() -> None:
    """A feature that is always missing has no other point."""
    dataset = _dataset([[1.0, 2.0, np.inf], [np.nan] * 3])
    text = forest_of(stump(1, 0.5, 1.0, 2.0, NAN_GOES_LEFT), n_features=2)
    whole, empty = partial_dependence(TreeModel(text), [0, 1], dataset)
    assert (whole.values, whole.missing, whole.percentiles[-1]) == ([1.0, 2.0], None, 2.0)
    assert (empty.values, empty.percentiles, empty.missing_share) == ([], [], 1.0)
    assert empty.missing is not None
    assert empty.missing.mean == 1.0


@pytest.mark.long
@given(st.integers(0, 10_000))
def test_responses_equal_the_scores_after_setting_the_values_by_hand(seed: int) -> None:
    """Means and quantiles are equal for random forests and documents, two features and two threads."""
    random = np.random.default_rng(seed)
    text = random_model_text(random, n_features=3, n_trees=4, max_leaves=8)
    near = documents_near(random, thresholds_of(text), 30, 3)
    documents = np.where(np.abs(near) < 1e30, near, np.nan).astype(np.float32)
    dataset = RankingDataset.from_arrays(documents, np.zeros(30), [0, 30])
    forest = TreeModel(ModelText.read(text))
    found = partial_dependence(forest, [2, 0], dataset, Grid(values=5), threads=2)
    for each in found:
        responses = [*zip(each.values, each.responses, strict=True)]
        if each.missing:
            responses.append((np.nan, each.missing))
        for value, response in responses:
            changed = documents.copy()
            changed[:, each.feature] = value
            scores = forest.score(changed)
            assert response.mean == pytest.approx(scores.mean(), rel=1e-12)
            assert (response.lower, response.upper) == tuple(np.quantile(scores, [0.1, 0.9]))


def test_responses_use_a_sample_and_the_grid_uses_all_documents() -> None:
    """The seed decides the sampled documents; grid values are distinct quantiles of the whole column."""
    dataset = judged(100, 3, seed=1)
    forest = TreeModel(forest_of(stump(1, 0.5, 0.0, 1.0), n_features=3))
    few = [partial_dependence(forest, [0], dataset, Grid(8, 50, seed))[0] for seed in (1, 1, 2)]
    assert few[0] == few[1] != few[2]
    assert few[0].values == few[2].values
    assert few[0].values[0] == dataset.features[:, 0].min()
    assert few[0].values[-1] == few[0].percentiles[-1] == dataset.features[:, 0].max()
    assert len(few[0].percentiles) == 101
    tied = _dataset([[0.0] * 90 + [1.0] * 10, [0.0] * 100, [0.0] * 100])
    (found,) = partial_dependence(forest, [0], tied)
    assert (found.values, found.shares) == ([0.0, 1.0], [0.9, 1.0])
