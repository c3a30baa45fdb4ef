"""Sampling and rounding of gradients before a tree is grown."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from core.training import Hyperparameters
from core.training.derivatives import TreeDerivatives, goss_factors, on_common_grid, rounded_at_random

N = 20_000
BOUNDARIES = np.arange(0, N + 1, 20)


@pytest.fixture(scope="module")
def gradient() -> np.ndarray[Any, np.dtype[np.float32]]:
    """Numbers of many magnitudes."""
    generator = np.random.default_rng(0)
    return (generator.normal(size=N) * np.exp(generator.normal(size=N))).astype(np.float32)


@pytest.mark.parametrize("steps", [1, 2, 4, 63])
def test_rounding_at_random_keeps_the_mean(gradient: Any, steps: int) -> None:
    """A value is rounded to a multiple below or above it, without bias; the largest value is unchanged."""
    largest = np.abs(gradient).max()
    step = float(largest) / steps
    draws = np.array([rounded_at_random(gradient, steps, np.uint64(key)) for key in range(200)])
    multiples = draws / step
    np.testing.assert_allclose(multiples, np.rint(multiples), atol=1e-5)
    assert np.abs(multiples).max() == pytest.approx(steps)
    assert (np.abs(draws).max(axis=1) == largest).all()
    assert np.abs(draws - gradient).max() <= step * (1 + 1e-6)
    deviation = step / 2 / np.sqrt(len(draws))
    assert np.abs(draws.mean(axis=0) - gradient).max() < 6 * deviation
    assert len(np.unique(draws, axis=0)) == len(draws)


def test_zeros_stay_zeros() -> None:
    """A zero gradient is still zero after either kind of rounding."""
    zeros = np.zeros(5, np.float32)
    assert rounded_at_random(zeros, 4, np.uint64(0)).tolist() == [0.0] * 5
    assert on_common_grid(zeros).tolist() == [0.0] * 5


def test_sums_on_the_common_grid_do_not_depend_on_the_order(gradient: Any) -> None:
    """Sums in float64 are the same in any order; the grid changes values by at most 2^-24 of the largest."""
    rounded = on_common_grid(gradient)
    generator = np.random.default_rng(1)
    sums = {float(np.cumsum(rounded[generator.permutation(N)], dtype=np.float64)[-1]) for _ in range(20)}
    assert len(sums) == 1
    assert np.abs(rounded - gradient).max() <= np.abs(gradient).max() * 2.0**-24


def test_goss_keeps_the_largest_gradients_and_samples_the_others(gradient: Any) -> None:
    """The shares equal `top_rate` and `other_rate`; factors of sampled documents keep the expected sum."""
    sizes = np.abs(gradient)
    factors = goss_factors(sizes, 0.2, 0.1, 7)
    kept, drawn = factors == 1.0, factors > 1.0
    assert (kept.sum(), drawn.sum()) == (0.2 * N, 0.1 * N)
    assert sizes[kept].min() >= sizes[~kept].max()
    assert set(factors[drawn].tolist()) == {8.0}
    sums = [(gradient * goss_factors(sizes, 0.2, 0.1, key)).sum(dtype=np.float64) for key in range(300)]
    error = np.std(sums) / np.sqrt(len(sums))
    assert np.mean(sums) == pytest.approx(gradient.sum(dtype=np.float64), abs=5 * error)


def test_goss_begins_when_the_first_trees_are_grown(gradient: Any) -> None:
    """GOSS begins after 1 / learning_rate iterations, as in LightGBM; each iteration draws again."""
    hyperparameters = Hyperparameters(data_sample_strategy="goss", learning_rate=0.25)
    derivatives = TreeDerivatives(hyperparameters, BOUNDARIES, 1)
    hessian = np.ones_like(gradient)
    shares = [float((derivatives(gradient, hessian, i)[1] > 0).mean()) for i in range(8)]
    assert shares == [1.0] * 4 + [pytest.approx(0.3)] * 4
    drawn = [derivatives(gradient, hessian, i)[1].tobytes() for i in (4, 5, 4)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_each_tree_samples_whole_queries(gradient: Any) -> None:
    """A query keeps all of its derivatives or none; a repeated iteration samples the same queries."""
    derivatives = TreeDerivatives(Hyperparameters(query_fraction=0.25), BOUNDARIES, 1)
    drawn = []
    for iteration in (4, 5, 4):
        kept, hessian = derivatives(gradient, np.ones_like(gradient), iteration)
        by_query = hessian.reshape(-1, 20)
        np.testing.assert_array_equal(by_query, np.repeat(by_query[:, :1], 20, axis=1))
        np.testing.assert_array_equal(kept, gradient * hessian)
        assert by_query[:, 0].mean() == 0.25
        drawn.append(hessian.tobytes())
    assert drawn[0] == drawn[2] != drawn[1]


def test_sampling_does_not_change_its_input(gradient: Any) -> None:
    """The gradients are copied, since the objective reuses its arrays."""
    before = gradient.copy()
    for options in (
        {"query_fraction": 0.5},
        {"data_sample_strategy": "goss", "learning_rate": 1.0},
        {"use_quantized_grad": True},
        {"use_quantized_grad": True, "stochastic_rounding": False, "quant_train_renew_leaf": True},
    ):
        derivatives = TreeDerivatives(Hyperparameters(**options), BOUNDARIES, 1)
        found, _ = derivatives(gradient, np.abs(gradient), 3)
        assert not np.array_equal(found, gradient)
        np.testing.assert_array_equal(gradient, before)


def test_shards_sample_the_same_queries_as_one_process(gradient: Any) -> None:
    """With `query_fraction`, derivatives of three uneven shards equal those of one process bit for bit."""
    hyperparameters = Hyperparameters(query_fraction=0.3)
    n_queries, cuts = len(BOUNDARIES) - 1, [0, 100, 101, 1_000]
    whole = TreeDerivatives(hyperparameters, BOUNDARIES, 5)
    hessian = np.abs(gradient)
    for iteration in (0, 9):
        expected = whole(gradient, hessian, iteration)
        found: list[list[Any]] = [[], []]
        for first, last in pairwise(cuts):
            own = BOUNDARIES[first : last + 1]
            shard = TreeDerivatives(hyperparameters, own - own[0], 5, first_query=first, n_queries=n_queries)
            rows = slice(own[0], own[-1])
            for part, array in zip(found, shard(gradient[rows], hessian[rows], iteration), strict=True):
                part.append(array)
        for parts, array in zip(found, expected, strict=True):
            assert np.concatenate(parts).tobytes() == array.tobytes()
