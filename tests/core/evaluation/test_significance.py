"""Tests of significance against scipy, full enumeration and simulation."""

import itertools

import numpy as np
import pytest
from scipy import stats

from core.errors import InvalidInput
from core.evaluation.bootstrap import bootstrap_intervals
from core.evaluation.paired import holm, paired_differences, queries_needed, t_test_p, verdict
from core.evaluation.randomisation import randomisation_p_values
from tests.core.evaluation.populations import effect_of_power


def test_the_t_test_is_scipys() -> None:
    """The test uses the queries with values of both systems; the others are counted as skipped."""
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
    """P-values differ by at most 0.01, the error of the random sign assignments."""
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
    """P-values of 2,000 simulated pairs of equal systems pass a Kolmogorov-Smirnov test."""
    differences = np.random.default_rng(4).standard_normal((50, 2_000))
    assert stats.kstest(randomisation_p_values(differences, 2_000, threads=2), "uniform").pvalue > 0.01


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads() -> None:
    """Random numbers are keyed by the assignment, not by the thread."""
    differences = np.random.default_rng(5).standard_normal((100, 3))
    one, two = (randomisation_p_values(differences, 5_000, seed=7, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    for ends in zip(*(bootstrap_intervals(differences, seed=7, threads=n) for n in (1, 2)), strict=True):
        np.testing.assert_array_equal(*ends)


def test_queries_needed_follow_the_noncentral_t() -> None:
    """From 8 to 800 queries, the result is the smallest number with a power of 0.80 by the noncentral t."""
    for n in (*range(8, 40), 60, 100, 200, 400, 800):
        larger, effect = effect_of_power(n - 0.3), effect_of_power(n)
        assert queries_needed(larger, 1.0) == n
        assert queries_needed(effect, 1.0) in (n, n + 1)


def test_equal_systems_give_no_evidence() -> None:
    """Without any difference, p is 1, and there is neither a t-test nor a number of queries needed."""
    values = np.full((30, 1), 0.5)
    (compared,) = paired_differences(values, values)
    assert compared is not None
    assert (compared.randomisation_p, compared.t_test_p, compared.queries_needed) == (1.0, None, None)
    assert verdict(compared.difference, 1.0) == "no evidence"


def test_holm_adjusts_p_values_and_the_sign_decides_the_verdict() -> None:
    """Adjusted p-values rise with the number of tests; the sign of the difference decides the verdict."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert [verdict(0.1, 0.01), verdict(-0.1, 0.01), verdict(0.1, 0.05)] == ["better", "worse", "no evidence"]


def test_one_query_gives_neither_an_interval_nor_the_number_of_queries_needed() -> None:
    """One query has no standard deviation to derive them from."""
    (compared,) = paired_differences(np.array([[0.2]]), np.array([[0.5]]))
    assert compared is not None
    assert (compared.lower, compared.upper, compared.queries_needed) == (None, None, None)
    assert compared.interval == "one query gives no interval"


def test_a_difference_of_rounding_errors_needs_no_number_of_queries() -> None:
    """Gains and losses that cancel leave a mean of about 1e-18, for which no number of queries would do."""
    gained = np.random.default_rng(3).random(50)
    differences = np.random.default_rng(4).permutation(np.concatenate((gained, -gained)))[:, None]
    (compared,) = paired_differences(np.zeros_like(differences), differences)
    assert compared is not None
    assert 0.0 < abs(compared.difference) < 1e-15
    assert compared.queries_needed is None


def test_few_differing_queries_are_named() -> None:
    """Five queries that all differ have p = 0.0625 at the least."""
    named = ((5, "Only 5 queries differ"), (1, "Only 1 query differs"), (0, "No query differs."), (6, None))
    for differing, words in named:
        values = np.zeros((20, 2))
        values[:differing, 1] = 0.5
        (compared,) = paired_differences(values[:, :1], values[:, 1:])
        assert compared is not None
        assert (compared.randomisation_p < 0.05) == (words is None)
        assert (compared.too_few_warning or "").startswith(words or "")
        assert (compared.too_few_warning is None) == (words is None)


def test_unfit_input_is_refused() -> None:
    """Different shapes, values that are not finite, and counts of 0 are refused."""
    with pytest.raises(InvalidInput):
        paired_differences(np.zeros((2, 1)), np.zeros((3, 1)))
    with pytest.raises(InvalidInput):
        randomisation_p_values(np.array([[np.nan]]))
    with pytest.raises(InvalidInput):
        randomisation_p_values(np.zeros((2, 1)), 0)
    with pytest.raises(InvalidInput):
        bootstrap_intervals(np.zeros((0, 1)))


@pytest.mark.parametrize(("mean", "expected"), [(0.0, 1.0), (0.1, 0.0), (-0.1, 0.0)])
def test_only_a_difference_is_significant_without_deviation(mean: float, expected: float) -> None:
    """Two systems with the same values do not differ, so that neither is better."""
    assert t_test_p(mean, 0.0, 5) == expected
