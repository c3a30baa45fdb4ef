"""Inputs made of features."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.data.features import SelectedFeatures
from core.scorers import InputTransform
from tests.core.scorers.networks import plain_inputs, random_features


def _fit(
    features: Any, kind: str = "standard", log1p: bool = False, indicators: bool = False
) -> InputTransform:
    return InputTransform.fit(features, kind=kind, log1p=log1p, missing_indicators=indicators)


@pytest.mark.parametrize("log1p", [False, True])
def test_standard_inputs_have_mean_0_and_deviation_1(log1p: bool) -> None:
    """Mean and deviation are of known values; a missing value becomes the mean, a constant feature 0."""
    features = random_features(500, 6)
    features[:, 3] = 0.1
    inputs = _fit(features, log1p=log1p)(features)
    missing = ~np.isfinite(features)
    assert (inputs[missing] == 0).all()
    np.testing.assert_allclose(inputs[:, 3], 0, atol=1e-14)
    known = np.ma.masked_array(inputs, missing)[:, [0, 1, 2, 4, 5]]
    np.testing.assert_allclose(known.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(known.std(axis=0), 1, rtol=1e-12)


def test_rank_gauss_inputs_are_normal() -> None:
    """Inputs keep the order of values of any distribution; values beyond the training data are clipped."""
    features = np.exp(3 * np.random.default_rng(0).normal(size=(4_000, 2))).astype(np.float32)
    transform = _fit(features, "rank-gauss")
    inputs = transform(features)
    assert stats.kstest(inputs[:, 0], "norm").statistic < 0.02
    order = np.argsort(features[:, 1], kind="stable")
    assert (np.diff(inputs[order, 1]) >= 0).all()
    beyond = transform(np.array([[-1, 1e30]], np.float32))[0]
    np.testing.assert_allclose(beyond, [stats.norm.ppf(1 / 128), stats.norm.ppf(127 / 128)], rtol=1e-12)


def test_equal_quantiles_become_one_value() -> None:
    """A value that half of the documents share becomes the mean of its share of a normal distribution."""
    features = np.concatenate([np.zeros(500), np.random.default_rng(0).random(500) + 1])
    inputs = _fit(features[:, np.newaxis].astype(np.float32), "rank-gauss")(np.zeros((1, 1)))
    expected = stats.norm.ppf((np.arange(32) + 0.5) / 64).mean()
    np.testing.assert_allclose(inputs[0, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["standard", "rank-gauss", "none"])
@pytest.mark.parametrize("log1p", [False, True])
def test_inputs_equal_the_documented_formula(kind: str, log1p: bool) -> None:
    """NumPy gives the same inputs and indicators; a transform is restored from its description and arrays."""
    features = random_features(200, 5)
    transform = _fit(features, kind, log1p, indicators=True)
    others = random_features(60, 5, seed=1)
    np.testing.assert_allclose(transform(others), plain_inputs(transform, others), rtol=1e-13, atol=1e-13)
    restored = InputTransform.restored(transform.description(), transform.arrays())
    np.testing.assert_array_equal(restored(others), transform(others))


def test_only_features_with_missing_training_values_have_indicators() -> None:
    """A value of another feature that is missing later becomes the centre, without an indicator."""
    features = random_features(300, 3, missing=0)
    features[7, 1] = np.nan
    transform = _fit(features, indicators=True)
    assert (transform.indicators.tolist(), transform.n_inputs) == ([1], 4)
    found = transform(np.array([[np.nan, 1, 1], [1, np.inf, 1]]))
    assert (found[0, 0], found[0, 3], found[1, 1], found[1, 3]) == (0, 0, 0, 1)
    assert _fit(features).n_inputs == 3


def test_features_without_a_known_value_become_0() -> None:
    """Only their indicators are 1."""
    features = np.full((20, 2), np.nan, np.float32)
    for kind in ("standard", "rank-gauss", "none"):
        inputs = _fit(features, kind, indicators=True)(np.array([[np.nan, np.nan]]))
        np.testing.assert_array_equal(inputs, [[0, 0, 1, 1]])


def test_selected_features_give_the_transform_of_a_copy() -> None:
    """A selection of rows and columns gives the transform of the copied values, up to rounding."""
    features = random_features(400, 4)
    rows = np.arange(0, 400, 3)
    chosen = SelectedFeatures(features, rows, np.array([2, 0]))
    for kind in ("standard", "rank-gauss"):
        selected, copied = _fit(chosen, kind), _fit(features[rows][:, [2, 0]], kind)
        for name, array in copied.arrays().items():
            np.testing.assert_allclose(selected.arrays()[name], array, rtol=1e-14)
