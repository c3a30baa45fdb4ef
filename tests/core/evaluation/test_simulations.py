"""Intervals, power and verdicts by simulation, on values that the metrics themselves give."""

import numpy as np
import pytest

from core.evaluation.intervals import mean_intervals
from core.evaluation.paired import paired_differences, queries_needed, verdict
from core.evaluation.randomisation import randomisation_p_values
from core.types import Float64Array
from tests.core.evaluation.populations import METRIC_SPELLINGS, effect_of_power, parsed_metrics, rankings

# Share of relevant documents and quality: rankings that are mostly 0, mixed, and mostly perfect.
POPULATIONS = ((0.05, 0.2), (0.1, 0.5), (0.3, 0.5), (0.3, 3.0))


def _samples(population: Float64Array, n_queries: int, n_samples: int) -> Float64Array:
    return np.random.default_rng(3).choice(population, (n_queries, n_samples))


def _coverage(name: str, population: Float64Array, n_queries: int, n_samples: int) -> float:
    metric = parsed_metrics()[name]
    bounds = np.array(metric.bounds)
    if metric.geometric_mean:
        population, bounds = np.log(population), np.log(bounds)
    lower, upper = mean_intervals(_samples(population, n_queries, n_samples), bounds, resamples=1_000)
    mean = population.mean()
    return float(np.mean((lower <= mean) & (mean <= upper)))


def _check(name: str, n_queries: int, n_samples: int) -> None:
    for relevant, quality in POPULATIONS:
        covered = _coverage(name, rankings(relevant, quality)[name][:, 0], n_queries, n_samples)
        # Two standard deviations of the simulation's error are allowed.
        assert covered >= 0.93 - 2.0 * np.sqrt(0.93 * 0.07 / n_samples), (relevant, quality, covered)


@pytest.mark.parametrize("name", METRIC_SPELLINGS)
def test_the_interval_of_ten_queries_covers_the_mean(name: str) -> None:
    """At least 93% of the 95% intervals cover the true mean, to within the simulation's own error."""
    _check(name, 10, 300)


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [10, 15, 20, 30, 50, 100, 300, 999])
@pytest.mark.parametrize("name", METRIC_SPELLINGS)
def test_intervals_of_10_to_999_queries_cover_the_mean(name: str, n_queries: int) -> None:
    """Coverage is at least 93%, to within the simulation's own error, until the method changes at 1,000."""
    _check(name, n_queries, 1_000)


def _power(n_queries: int, n_samples: int) -> float:
    effect = effect_of_power(n_queries)
    assert queries_needed(effect, 1.0) in (n_queries, n_queries + 1)
    draws = np.random.default_rng(8).normal(effect, 1.0, (n_queries, n_samples))
    return float(np.mean(randomisation_p_values(draws, 2_000, threads=2) < 0.05))


@pytest.mark.long
@pytest.mark.parametrize("n_queries", [10, 100])
def test_queries_needed_give_the_power_they_promise(n_queries: int) -> None:
    """With the number of queries needed, the randomisation test finds four in five differences."""
    assert _power(n_queries, 3_000) == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [8, 9, 10, 12, 15, 18, 25, 40, 60, 100, 200, 400, 800])
def test_queries_needed_hold_over_their_range(n_queries: int) -> None:
    """The power is 0.80 from the smallest number of queries to 800."""
    assert _power(n_queries, 10_000) == pytest.approx(0.8, abs=0.03)


def _called_better(n_samples: int) -> float:
    """Return the share of pairs of equal systems of which one is called better than the other."""
    values = rankings(0.1, 0.5, systems=2)["ndcg@10"]
    generator = np.random.default_rng(4)
    called = 0
    for n_queries in (10, 30, 100, 300):
        # A coin toss per query swaps the systems, so that neither is better.
        drawn = values[generator.integers(0, len(values), (n_queries, n_samples // 4))]
        swapped = generator.random(drawn.shape[:2]) < 0.5
        a, b = (
            np.where(swapped, drawn[..., 1], drawn[..., 0]),
            np.where(swapped, drawn[..., 0], drawn[..., 1]),
        )
        for found in paired_differences(a, b, permutations=2_000, threads=2):
            assert found is not None
            called += verdict(found.difference, found.randomisation_p) == "better"
    return called / n_samples


def test_equal_systems_are_called_better_in_at_most_5_percent() -> None:
    """At most 5% of 800 comparisons of equal systems have the verdict `better`."""
    assert _called_better(800) <= 0.05


@pytest.mark.slow
def test_equal_systems_are_called_better_in_at_most_5_percent_of_many_comparisons() -> None:
    """At most 5% of 10,000 comparisons of equal systems have the verdict `better`."""
    assert _called_better(10_000) <= 0.05
