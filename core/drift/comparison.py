"""Compare two samples of queries, column by column."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from core.drift import statistics
from core.types import Float32Array, Float64Array, FloatArray, Int64Array

# With fewer queries there is no verdict, as documents of a query are not independent observations.
MIN_QUERIES = 30
# Number of quantile bins of a numerical column for the distance between the samples.
_FINE_BINS = 100
_BLOCK_BINS = 1_024  # bins counted at a time: 32 MB for the largest samples

Verdict = Literal["drift", "shift", "none", "too_few"]


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of drift: statistical significance and effect sizes.

    Attributes:
        p: Significance level: maximum probability that a comparison of equal populations finds any drift.
        psi: Smallest population stability index that counts as drift.
        missing: Smallest difference of the shares of missing values that counts as drift.
    """

    p: float = 0.01
    psi: float = 0.2
    missing: float = 0.1


@dataclass(frozen=True)
class Column:
    """A compared column: a feature, or the scores.

    Attributes:
        categories: Texts of the codes from 0 on; None for numbers.
    """

    name: str
    categories: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class QuerySample:
    """Documents of some queries.

    Attributes:
        values: (n_documents, n_columns) float32, NaN where missing; codes of categories.
        query_boundaries: (n_queries + 1,) offsets.
    """

    values: Float32Array
    query_boundaries: Int64Array

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.query_boundaries) - 1

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.values)

    @property
    def query_of_document(self) -> Int64Array:
        """Return the query index of each document, (n_documents,)."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.query_boundaries))


@dataclass(frozen=True)
class ColumnDrift:
    """The difference of a column between two samples.

    Attributes:
        kind: `number` or `category`.
        psi: Population stability index. Bins are at most eleven quantile bins of the earlier sample, or its
            nine largest categories and one bin of the others. Missing values have a bin.
        distance: Kolmogorov-Smirnov distance of numbers, total variation of categories; missing values count
            as a value below all numbers, or as a category.
        p: Probability of such a distance in any column if nothing differs, see `adjusted_p_values`.
        missing_before: Share of documents without a value in the earlier sample.
        missing_after: Share of documents without a value in the later sample.
        verdict: `drift`, `shift` for a significant but small difference, or `none`.
        profile: Shares of documents in the bins, for a chart.
    """

    name: str
    kind: Literal["number", "category"]
    psi: float
    distance: float
    p: float
    missing_before: float
    missing_after: float
    verdict: Verdict
    sentence: str
    profile: dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """The differences of two samples of queries.

    Attributes:
        verdict: `drift` if any column drifts, `too_few` if a sample has too few queries, else `none`.
        columns: The difference of each column, in order; empty for too few queries.
    """

    verdict: Verdict
    columns: tuple[ColumnDrift, ...] = ()


def compare(
    before: QuerySample,
    after: QuerySample,
    columns: Sequence[Column],
    thresholds: Thresholds,
    seed: int,
    *,
    n_comparisons: int = 1,
    permutations: int | None = None,
) -> Comparison:
    """Compare two samples of queries.

    Queries are permuted instead of documents, since documents of a query are dependent. A column drifts if
    its distance is significant, adjusted for all columns, and its stability index or its change of missing
    values reaches a threshold. Both are needed: with many queries the smallest change is significant, and
    with few queries a large change may be due to chance.

    Args:
        n_comparisons: Number of comparisons in a report, which multiplies the p-values (Bonferroni).
        permutations: Number of permutations; None for as many as the significance level needs.
    """
    if min(before.n_queries, after.n_queries) < MIN_QUERIES:
        return Comparison("too_few")
    n_permutations = permutations or statistics.permutations_for(thresholds.p, n_comparisons)
    later = statistics.memberships(before.n_queries, after.n_queries, n_permutations, seed)
    query = np.concatenate([before.query_of_document, before.n_queries + after.query_of_document])
    sizes = np.bincount(query, minlength=before.n_queries + after.n_queries).astype(np.float32)
    differences, permuted = [], []
    for position, column in enumerate(columns):
        earlier_values, later_values = before.values[:, position], after.values[:, position]
        values = np.concatenate([earlier_values, later_values])
        fine_bins, _ = _bins(values, values, column, _FINE_BINS)
        is_ordered = column.categories is None
        by_block = [
            statistics.distances(counts, later, ordered=is_ordered, sizes=sizes)
            for counts in _counts(query, fine_bins, len(sizes))
        ]
        permuted.append(np.sum(by_block, axis=0))
        differences.append(_difference(column, earlier_values, later_values, float(permuted[-1][0])))
    p_values = np.minimum(1.0, n_comparisons * statistics.adjusted_p_values(permuted))
    with_verdicts = tuple(
        _with_verdict(each, float(p), thresholds) for each, p in zip(differences, p_values, strict=True)
    )
    drifts = any(each.verdict == "drift" for each in with_verdicts)
    return Comparison("drift" if drifts else "none", with_verdicts)


def _bins(
    values: FloatArray, reference: FloatArray, column: Column, n_quantiles: int
) -> tuple[Int64Array, Float64Array]:
    """Return the bin of each value, 0 for missing values, and the edges of the bins of numbers."""
    if column.categories is not None:
        codes = np.where(np.isnan(values) | (values < 0), -1, values).astype(np.int64)
        return codes + 1, np.zeros(0)
    edges = statistics.quantile_edges(reference[~np.isnan(reference)], n_quantiles)
    return statistics.bin_numbers(values, edges), edges


def _counts(query: Int64Array, bins: Int64Array, n_queries: int) -> Iterator[Float32Array]:
    """Yield the number of documents by query and bin, (n_queries, n_bins of a block), in blocks of bins."""
    _, bins = np.unique(bins, return_inverse=True)  # drops the many categories that do not occur
    n_bins = int(bins.max(initial=0)) + 1
    order = np.argsort(bins, kind="stable")
    for first in range(0, n_bins, _BLOCK_BINS):
        width = min(_BLOCK_BINS, n_bins - first)
        rows = order[slice(*np.searchsorted(bins, [first, first + width], sorter=order))]
        counts = np.bincount(query[rows] * width + bins[rows] - first, minlength=n_queries * width)
        yield counts.reshape(n_queries, width).astype(np.float32)


def _difference(column: Column, earlier: FloatArray, later: FloatArray, distance: float) -> ColumnDrift:
    """Compute the difference of a column, with p and verdict still unset."""
    is_number = column.categories is None
    bins_before, edges = _bins(earlier, earlier, column, statistics.BINS)
    bins_after, _ = _bins(later, earlier, column, statistics.BINS)
    if is_number:
        n_bins = len(edges) + 2
        # Features may be infinite, which JSON cannot hold.
        names: dict[str, Any] = {"edges": np.nan_to_num(edges).tolist()}
    else:
        bins_before, bins_after, largest = _merge_small_categories(bins_before, bins_after)
        n_bins = len(largest) + 2
        texts = column.categories or ()
        names = {
            "categories": [
                *(texts[code - 1] if code <= len(texts) else str(code - 1) for code in largest),
                "others",
            ]
        }
    counts = [np.bincount(bins, minlength=n_bins).astype(np.float64) for bins in (bins_before, bins_after)]
    shares = [each / max(1.0, float(np.sum(each))) for each in counts]
    return ColumnDrift(
        name=column.name,
        kind="number" if is_number else "category",
        psi=statistics.population_stability_index(*_without_empty_bins(*counts)),
        distance=distance,
        p=1.0,
        missing_before=float(shares[0][0]),
        missing_after=float(shares[1][0]),
        verdict="none",
        sentence="",
        profile={**names, "before": shares[0].tolist(), "after": shares[1].tolist()},
    )


def _merge_small_categories(
    before: Int64Array, after: Int64Array
) -> tuple[Int64Array, Int64Array, list[int]]:
    """Merge all but the largest categories of `before` into a last bin.

    Returns:
        The new bins of both samples, and the previous bins of the largest categories.
    """
    codes, counts = np.unique(before[before > 0], return_counts=True)
    largest = sorted(codes[np.argsort(-counts, kind="stable")[: statistics.BINS - 1]].tolist())
    new_bins = {0: 0} | {code: number for number, code in enumerate(largest, 1)}

    def merged(bins: Int64Array) -> Int64Array:
        return np.array([new_bins.get(code, len(largest) + 1) for code in bins.tolist()], np.int64)

    return merged(before), merged(after), largest


def _without_empty_bins(before: Float64Array, after: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Remove the bins that are empty in both samples."""
    used = (before + after) > 0
    return before[used], after[used]


def _with_verdict(difference: ColumnDrift, p: float, thresholds: Thresholds) -> ColumnDrift:
    missing = abs(difference.missing_after - difference.missing_before)
    is_significant = p <= thresholds.p
    reasons = []
    if difference.psi >= thresholds.psi:
        reasons.append(f"its stability index is {difference.psi:.2f}")
    if missing >= thresholds.missing:
        reasons.append(
            f"{difference.missing_after:.0%} of its values are missing, compared with"
            f" {difference.missing_before:.0%} before"
        )
    if is_significant and reasons:
        verdict: Verdict = "drift"
        sentence = f"{difference.name} has drifted: {' and '.join(reasons)} (p = {p:.2g})."
    elif is_significant:
        verdict = "shift"
        sentence = (
            f"{difference.name} differs significantly, but only slightly (stability index"
            f" {difference.psi:.2f}, p = {p:.2g})."
        )
    else:
        verdict, sentence = "none", f"{difference.name} does not differ significantly (p = {p:.2g})."
    return replace(difference, p=p, verdict=verdict, sentence=sentence)
