"""Systems that do not differ significantly from the best one."""

import numpy as np
import pytest
from scipy import stats

from core.evaluation import against_best


@pytest.fixture
def values() -> list[np.ndarray]:
    """Three systems on 200 queries: nearly the best, the best, and one that is clearly worse."""
    draw = np.random.default_rng(1)
    best = draw.uniform(0.3, 0.9, 200)
    return [best + draw.normal(-0.001, 0.05, 200), best, best - draw.uniform(0.0, 0.1, 200)]


def test_the_test_is_the_paired_t_test_adjusted_for_all_pairs(values: list[np.ndarray]) -> None:
    """P-values are scipy's, by Holm and times 3 pairs / 2 tests; one of at least 0.05 is a tie."""
    p = [float(stats.ttest_rel(each, values[1]).pvalue) for each in (values[0], values[2])]
    near, best, far = against_best(values)
    assert (best.difference, best.p, best.tied) == (0.0, None, True)
    assert far.p == pytest.approx(1.5 * 2 * min(p))
    assert near.p == pytest.approx(min(1.0, 1.5 * max(p)))
    assert (near.tied, far.tied) == (max(p) >= 0.05 / 1.5, 2 * min(p) >= 0.05 / 1.5) == (True, False)
    assert far.difference == pytest.approx(np.mean(values[2] - values[1]))


def test_the_best_is_the_least_where_less_is_better(values: list[np.ndarray]) -> None:
    """If lower values are better, the system with the lowest mean is the best."""
    assert [found.p for found in against_best(values, higher_is_better=False)].index(None) == 2


def test_queries_without_a_value_of_one_system_are_left_out(values: list[np.ndarray]) -> None:
    """A query is left out only of pairs in which one system has no value."""
    values[2][:50] = np.nan
    expected = np.mean((values[2] - values[1])[50:])
    assert against_best(values)[2].difference == pytest.approx(expected)


def test_equal_systems_are_tied() -> None:
    """A single system, and two systems on one query, are tied as well, since no test is possible."""
    same = np.array([0.2, 0.4])
    assert [found.tied for found in against_best([same, same.copy()])] == [True, True]
    assert [found.tied for found in against_best([same])] == [True]
    assert [found.tied for found in against_best([np.array([0.2]), np.array([0.3])])] == [True, True]


def test_systems_that_differ_on_fewer_than_six_queries_are_tied() -> None:
    """Equal differences on few queries, which metrics with few values have by chance, are no evidence."""
    best = np.full(20, 0.5)
    other = np.where(np.arange(20) < 5, 0.25, best)
    assert [found.p for found in against_best([best, other])] == [None, 1.0]
    assert [found.tied for found in against_best([best[:2], other[:2]])] == [True, True]


@pytest.mark.parametrize("n_systems", [2, 20])
def test_equally_good_systems_rarely_differ(n_systems: int) -> None:
    """The best of many is chosen from the data, which makes its differences look significant."""
    draw = np.random.default_rng(n_systems)
    wrong = 0
    for _ in range(300):
        systems = list(draw.choice([0.0, 0.5, 0.63, 1.0], size=(n_systems, 30)))
        wrong += not all(found.tied for found in against_best(systems))
    assert wrong / 300 < 0.07


def test_a_constant_difference_is_not_a_tie() -> None:
    """A system that is worse by the same amount on every query is not tied."""
    best = np.array([0.5, 0.75, 0.25] * 2)
    assert [found.tied for found in against_best([best, best - 0.125])] == [True, False]
