"""Detection of drift between two samples of queries."""

import json
import math
import tracemalloc
from dataclasses import asdict, replace

import numpy as np
import pytest

from core.drift import Column, QuerySample, Thresholds, compare, population_stability_index
from core.drift.statistics import adjusted_p_values, bin_numbers, distances, memberships, quantile_edges
from tests.core.drift.samples import COLUMNS, draw

TRIALS = 100
# By p alone: every column counts whose distance is significant.
BY_P = Thresholds(p=0.05, psi=1e-9, missing=1.0)
DEFAULT = Thresholds()


def drifted(before: QuerySample, after: QuerySample, thresholds: Thresholds, seed: int = 1) -> list[str]:
    """Return the names of the columns that have drifted."""
    found = compare(before, after, COLUMNS, thresholds, seed, permutations=199)
    return [each.name for each in found.columns if each.verdict == "drift"]


@pytest.mark.long
def test_resampled_data_raise_few_alarms() -> None:
    """Of 100 reports on equal populations at most five have an alarm, and p alone holds its level of 5%."""
    found = [
        compare(draw(2 * trial, 60), draw(2 * trial + 1, 40), COLUMNS, DEFAULT, trial, permutations=199)
        for trial in range(TRIALS)
    ]
    assert sum(each.verdict == "drift" for each in found) <= 5
    by_p = sum(min(column.p for column in each.columns) <= 0.05 for each in found)
    assert by_p <= 11  # the 99% quantile of the binomial distribution


@pytest.mark.long
def test_permuting_single_documents_would_raise_many_alarms() -> None:
    """Each document as a separate query raises alarms, which the permutation of whole queries prevents."""

    def single_documents(sample: QuerySample) -> QuerySample:
        return replace(sample, query_boundaries=np.arange(sample.n_documents + 1))

    pairs = [
        (single_documents(draw(2 * trial, 60)), single_documents(draw(2 * trial + 1, 40)))
        for trial in range(20)
    ]
    alarms = sum(bool(drifted(*pair, BY_P, seed)) for seed, pair in enumerate(pairs))
    assert alarms >= 15


@pytest.mark.long
def test_shifted_data_are_found() -> None:
    """A shift by a standard deviation is found in 18 of 20 reports; at most one names another column."""
    shift = math.sqrt(2.0)
    found = [
        drifted(draw(2 * trial, 120), draw(2 * trial + 1, 80, shift), DEFAULT, trial) for trial in range(20)
    ]
    assert sum("normal" in names for names in found) >= 18
    assert sum(len(names) > 1 for names in found) <= 1


def test_missing_values_are_found() -> None:
    """A feature that is no longer sent is found, although the values that are sent stay as they were."""
    assert drifted(draw(1, 100), draw(2, 100, missing=0.6), DEFAULT) == ["often missing"]


def test_many_queries_make_a_small_difference_a_shift() -> None:
    """The difference is significant, and too small for the verdict of the report."""
    found = compare(draw(1, 2_000), draw(2, 2_000, 0.3), COLUMNS, DEFAULT, 1)
    assert found.verdict == "none"
    assert found.columns[0].verdict == "shift"


def test_a_small_p_value_is_not_written_as_zero() -> None:
    """The smallest p-value of 9,999 permutations is 0.0001."""
    found = compare(draw(1, 100), draw(2, 100, 3.0), COLUMNS, DEFAULT, 1, permutations=9_999)
    assert found.columns[0].sentence.endswith("(p = 0.0001).")


def test_too_few_queries_give_no_verdict() -> None:
    """With only 29 queries before, even a large shift gives no verdict."""
    found = compare(draw(1, 29), draw(2, 500, 9.0), COLUMNS, DEFAULT, 1)
    assert (found.verdict, found.columns) == ("too_few", ())


def test_a_constant_and_an_absent_column_do_not_differ() -> None:
    """Both columns have a distance of 0 and no division by zero; a constant that changes differs."""
    values = np.tile(np.array([[7.0, np.nan, 1.0]], np.float32), (80, 1))
    boundaries = np.arange(81)
    changed = values.copy()
    changed[:, 2] = 2.0
    columns = [Column("constant"), Column("absent"), Column("changed")]
    found = compare(QuerySample(values, boundaries), QuerySample(changed, boundaries), columns, DEFAULT, 1)
    assert [each.verdict for each in found.columns] == ["none", "none", "drift"]
    assert [each.psi for each in found.columns[:2]] == [0.0, 0.0]
    assert found.columns[2].distance == 1.0


def test_infinite_values_have_finite_edges() -> None:
    """A report is stored and sent as JSON, which has no infinity."""
    before, after = draw(1, 60), draw(2, 60)
    before.values[::2, 0], before.values[1::7, 0] = np.inf, -np.inf
    found = compare(before, after, COLUMNS, Thresholds(), 1)
    assert found.columns[0].verdict == "drift"
    json.dumps([asdict(each) for each in found.columns], allow_nan=False)


def test_ordered_values_and_categories_have_different_distances() -> None:
    """Ordered values have the Kolmogorov-Smirnov distance, categories half the sum of share differences."""
    counts = np.array([[2, 0, 2], [0, 3, 1]], np.float32)
    later = np.array([[0, 1]], np.float32)
    shares = (np.array([2, 0, 2]) / 4, np.array([0, 3, 1]) / 4)
    functions = [np.cumsum(each) for each in shares]
    assert distances(counts, later, ordered=True) == pytest.approx(max(abs(functions[0] - functions[1])))
    assert distances(counts, later, ordered=False) == pytest.approx(sum(abs(shares[0] - shares[1])) / 2)


def test_many_categories_are_compared_block_by_block() -> None:
    """A feature of product ids takes no memory for each query and each id, and has the same distance."""
    rng = np.random.default_rng(5)
    n, size = 20_000, 300
    column = Column("product", tuple(map(str, range(n))))
    boundaries = np.arange(61) * size
    before, after = (
        QuerySample(rng.integers(0, n, (60 * size, 1)).astype(np.float32), boundaries) for _ in range(2)
    )
    tracemalloc.start()
    try:
        (found,) = compare(before, after, [column], DEFAULT, 1, permutations=99).columns
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    counts = [np.bincount(each.values[:, 0].astype(int), minlength=n) for each in (before, after)]
    assert found.distance == pytest.approx(abs(counts[0] - counts[1]).sum() / (2 * 60 * size))


def test_permutations_keep_the_sizes_of_the_samples() -> None:
    """The first permutation assigns each query to its own sample."""
    found = memberships(3, 5, 20, seed=1)
    assert found[0].tolist() == [0] * 3 + [1] * 5
    assert set(found.sum(axis=1)) == {5.0}
    assert len({tuple(row) for row in found.tolist()}) > 10


def test_a_p_value_counts_the_largest_of_all_columns() -> None:
    """The first permutation is the samples themselves, so that no p-value is 0."""
    small = np.array([1.0, 1.0, 2.0, 0.0])
    large = np.array([9.0, 0.0, 0.0, 0.0])
    p_of_large, p_of_small = adjusted_p_values([large, small])
    assert p_of_large == 1 / 4
    assert p_of_small == 3 / 4  # the largest distance of each permutation is 9, 1, 2, 0: three are at least 1


def test_a_feature_of_few_values_has_one_bin_per_value() -> None:
    """Values below or above all values of a feature have a bin, too; missing values have the first one."""
    edges = quantile_edges(np.array([0.0] * 90 + [1.0] * 10), 100)
    assert edges[1:].tolist() == [0.0, 1.0]
    assert bin_numbers(np.array([np.nan, -1.0, 0.0, 0.5, 1.0, 9.0]), edges).tolist() == [0, 1, 2, 3, 3, 4]


def test_the_index_is_the_symmetrised_divergence() -> None:
    """Σ (a - b) ln(a / b), with half a document more in each bin."""
    before, after = np.array([30.0, 70.0]), np.array([60.0, 40.0])
    b, a = (before + 0.5) / 101, (after + 0.5) / 101
    expected = (a[0] - b[0]) * math.log(a[0] / b[0]) + (a[1] - b[1]) * math.log(a[1] / b[1])
    assert population_stability_index(before, after) == pytest.approx(expected, rel=1e-12)
