"""Tests of significance against scipy, full enumeration and simulation."""

import itertools

import numpy as np
import pytest
from scipy import stats

from core.errors import InvalidInput
from core.evaluation.bootstrap import bootstrap_intervals
from core.evaluation.paired import holm, paired_differences, queries_needed, verdict
from core.evaluation.randomisation import randomisation_p_values


def test_the_t_test_is_scipys() -> None:
    """On the queries that both systems define; the others are counted."""
    generator = np.random.default_rng(1)
    a, b = generator.random((200, 2)), generator.random((200, 2))
    a[:10, 1] = np.nan
    for column, compared in enumerate(paired_differences(a, b, permutations=1000)):
        assert compared is not None
        defined = ~np.isnan(a[:, column])
        expected = stats.ttest_rel(b[defined, column], a[defined, column]).pvalue
        assert compared.t_test_p == pytest.approx(expected, abs=1e-12)
        assert (compared.queries, compared.skipped) == (defined.sum(), 200 - defined.sum())
        assert compared.wins + compared.ties + compared.losses == compared.queries


def test_twelve_queries_are_enumerated() -> None:
    """The p-value is the exact share of all 2^12 sign assignments."""
    differences = np.random.default_rng(2).standard_normal((12, 3)).round(1)
    found = randomisation_p_values(differences)
    signs = np.array(list(itertools.product([-1, 1], repeat=12)))
    for column in range(3):
        sums = np.abs(signs @ differences[:, column])
        expected = np.mean(sums >= abs(differences[:, column].sum()) - 1e-9)
        assert found[column] == pytest.approx(expected, abs=1e-12)


def test_many_queries_agree_with_scipys_permutation_test() -> None:
    """Within what so many random assignments allow."""
    differences = np.random.default_rng(3).standard_normal(60) + 0.25
    ours = randomisation_p_values(differences[:, None], 50_000)[0]
    theirs = stats.permutation_test(
        (differences,),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=1,
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.01)


def test_p_values_are_uniform_under_the_null() -> None:
    """Over 2,000 simulated pairs of equal systems (Kolmogorov-Smirnov)."""
    differences = np.random.default_rng(4).standard_normal((50, 2_000))
    assert stats.kstest(randomisation_p_values(differences, 2_000, threads=2), "uniform").pvalue > 0.01


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads() -> None:
    """Random numbers are keyed by the assignment, not by the thread."""
    differences = np.random.default_rng(5).standard_normal((100, 3))
    one, two = (randomisation_p_values(differences, 5_000, seed=7, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    for ends in zip(*(bootstrap_intervals(differences, seed=7, threads=n) for n in (1, 2)), strict=True):
        np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("n_queries", [20, 50, 200])
def test_intervals_cover_the_mean_about_as_often_as_they_say(n_queries: int) -> None:
    """95% intervals of skewed values cover it in 93 to 97% of 2,000 simulations."""
    values = np.random.default_rng(6).beta(0.8, 1.6, (n_queries, 2_000))
    lower, upper = bootstrap_intervals(values, resamples=2_000, threads=2)
    assert 0.93 <= np.mean((lower <= 1 / 3) & (upper >= 1 / 3)) <= 0.97


def test_equal_systems_are_no_evidence() -> None:
    """No difference anywhere: p = 1, no effect, no number of queries."""
    values = np.full((30, 1), 0.5)
    (compared,) = paired_differences(values, values)
    assert compared is not None
    assert (compared.randomisation_p, compared.t_test_p, compared.queries_needed) == (1.0, None, None)
    assert verdict(compared.difference, 1.0) == "no evidence"


def test_holm_and_verdicts() -> None:
    """Adjusted p-values rise with the number of tests; the sign of the difference tells the winner."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert [verdict(0.1, 0.01), verdict(-0.1, 0.01), verdict(0.1, 0.05)] == ["better", "worse", "no evidence"]


def test_queries_needed_give_the_power_they_promise() -> None:
    """A simulation with so many queries finds the difference four times in five."""
    needed = queries_needed(0.1, 0.5)
    assert needed == 197
    draws = np.random.default_rng(8).normal(0.1, 0.5, (2_000, needed))
    assert np.mean(stats.ttest_1samp(draws, 0.0, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.03)


def test_unfit_input_is_refused() -> None:
    """Shapes, infinities and counts."""
    with pytest.raises(InvalidInput):
        paired_differences(np.zeros((2, 1)), np.zeros((3, 1)))
    with pytest.raises(InvalidInput):
        randomisation_p_values(np.array([[np.nan]]))
    with pytest.raises(InvalidInput):
        randomisation_p_values(np.zeros((2, 1)), 0)
    with pytest.raises(InvalidInput):
        bootstrap_intervals(np.zeros((0, 1)))
