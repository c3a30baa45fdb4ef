"""Pruning: trials that are stopped early."""

import numpy as np
import pytest

from core.studies.pruning import (
    MEDIAN_STARTUP_TRIALS,
    MEDIAN_WARMUP_ITERATIONS,
    estimate,
    is_worse_than_best,
    is_worse_than_median,
)

# Medians of the best values so far: 0.3 at 10 iterations, 0.5 at 20 iterations.
CURVES = [{5: 0.05, 10: 0.1 * k, 20: 0.1 * k + 0.2} for k in range(1, MEDIAN_STARTUP_TRIALS + 1)]


@pytest.mark.parametrize(
    ("iteration", "best", "expected"),
    [(10, 0.31, False), (10, 0.29, True), (19, 0.31, False), (20, 0.31, True)],
)
def test_the_median_is_of_the_best_values_so_far(iteration: int, best: float, expected: bool) -> None:
    """The median is of the best value of each earlier curve up to the same iteration."""
    assert is_worse_than_median(CURVES, iteration, best, higher_is_better=True) is expected
    flipped = [{step: -value for step, value in curve.items()} for curve in CURVES]
    assert is_worse_than_median(flipped, iteration, -best, higher_is_better=False) is expected


def test_few_trials_and_early_iterations_prune_nothing() -> None:
    """A trial is not compared with too few others; early values depend mostly on the learning rate."""
    assert not is_worse_than_median(CURVES[1:], 20, 0.0, higher_is_better=True)
    assert not is_worse_than_median(CURVES, MEDIAN_WARMUP_ITERATIONS - 1, 0.0, higher_is_better=True)
    late = [{30: 0.5} for _ in CURVES]
    assert not is_worse_than_median(late, 20, 0.0, higher_is_better=True)


def test_the_wilcoxon_test_uses_shared_queries() -> None:
    """Only queries with a value in both trials count, and only a worse trial is pruned."""
    random = np.random.default_rng(3)
    best = random.uniform(0.4, 0.9, 60)
    worse = best - random.uniform(0.01, 0.1, 60)
    assert is_worse_than_best(best, worse, higher_is_better=True)
    assert not is_worse_than_best(best, worse, higher_is_better=False)
    assert not is_worse_than_best(worse, best, higher_is_better=True)
    disjoint = np.where(np.arange(60) < 30, np.nan, worse)
    assert not is_worse_than_best(np.where(np.arange(60) < 30, best, np.nan), disjoint, higher_is_better=True)
    assert is_worse_than_best(best[:6], worse[:6], higher_is_better=True)
    assert not is_worse_than_best(best[:5], worse[:5], higher_is_better=True)


def test_a_pruned_trial_is_estimated_by_its_difference_on_shared_folds() -> None:
    """The mean over the finished folds alone would depend on how easy they are."""
    assert estimate({1: 0.6}, {1: 0.7, 2: 0.3}, 0.5) == pytest.approx(0.5 - 0.1)
    assert estimate({3: 0.6}, {1: 0.7}, 0.5) == pytest.approx(0.6)
