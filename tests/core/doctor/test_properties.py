"""Counts equal those of a slow reference; threads and the order of queries do not change them."""

from dataclasses import asdict
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.data import RankingDataset, synthetic_dataset
from core.doctor import Report, examine
from core.doctor.columns import ColumnCounts, measure_columns
from core.doctor.documents import count_repeats
from core.doctor.hashing import hash_texts
from core.doctor.report import FeatureProfile

VALUE = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-45, 3e38, np.inf, -np.inf, np.nan])
LABEL = st.sampled_from([0.0, 1.0, 2.0, -1.0, np.nan])


@st.composite
def small_datasets(draw: st.DrawFn) -> RankingDataset:
    """Draw queries of a few documents whose values, labels and ids often repeat."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    rows, columns = sum(lengths), draw(st.integers(1, 3))
    return RankingDataset.from_arrays(
        draw(hnp.arrays(np.float32, (rows, columns), elements=VALUE)),
        draw(hnp.arrays(np.float32, rows, elements=LABEL)),
        np.cumsum([0, *lengths]),
        document_ids=draw(st.lists(st.sampled_from(["", "a", "b", "é"]), min_size=rows, max_size=rows)),
    )


def _same(left: np.ndarray, right: np.ndarray) -> bool:
    return np.array_equal(left, right, equal_nan=True)


def _equal_pairs(dataset: RankingDataset) -> list[list[tuple[int, int]]]:
    """Return the pairs of rows with equal features, query by query, each row compared with each."""
    return [
        [pair for pair in combinations(range(start, stop), 2) if _same(*dataset.features[list(pair)])]
        for start, stop in pairwise(dataset.query_boundaries.tolist())
    ]


@pytest.mark.long
@given(small_datasets())
def test_columns_are_measured_as_numpy_does(dataset: RankingDataset) -> None:
    """Counts of columns over all values and within queries equal those of numpy."""
    columns = measure_columns(dataset)
    queries = [dataset.features[a:b] for a, b in pairwise(dataset.query_boundaries)]
    for j in range(dataset.n_features):
        values = dataset.features[:, j]
        finite = values[np.isfinite(values)].astype(np.float64)
        assert columns.minimum[j] == min(finite, default=np.inf)
        assert columns.maximum[j] == max(finite, default=-np.inf)
        assert columns.total[j] == pytest.approx(sum(finite), rel=1e-12)
        assert columns.missing[j] == np.isnan(values).sum()
        assert columns.infinite[j] == np.isinf(values).sum()
        assert columns.zeros[j] == (values == 0).sum()
        assert columns.varies[j] == (not _same(values, np.repeat(values[:1], len(values))))
        assert columns.varies_in_queries[j] == any(
            not _same(query[:, j], np.repeat(query[:1, j], len(query))) for query in queries
        )
    filled = [any(value != 0 and not np.isnan(value) for value in row) for row in dataset.matrix]
    assert columns.filled.tolist() == filled


@pytest.mark.long
@given(small_datasets())
def test_equal_documents_are_those_whose_features_compare_equal(dataset: RankingDataset) -> None:
    """0 equals -0, and missing values are equal; labels of equal documents contradict if they differ."""
    repeats = count_repeats(measure_columns(dataset).hashes, dataset.labels, dataset.query_boundaries)
    for query, pairs in enumerate(_equal_pairs(dataset)):
        assert repeats.surplus[query] == len({later for _, later in pairs})
        opposed = [pair for pair in pairs if np.ptp(dataset.labels[list(pair)]) > 0]  # not where one is NaN
        assert repeats.contradicting[query] == len({row for pair in opposed for row in pair})


@given(small_datasets())
def test_repeated_ids_are_those_that_came_before_in_the_query(dataset: RankingDataset) -> None:
    """Any text is an id, the empty one included."""
    repeats = count_repeats(hash_texts(dataset.document_ids), dataset.labels, dataset.query_boundaries)
    ids = list(dataset.document_ids)
    for query, (start, stop) in enumerate(pairwise(dataset.query_boundaries.tolist())):
        assert repeats.surplus[query] == stop - start - len(set(ids[start:stop]))


def _counts(report: Report) -> set[tuple[str, str, int, int]]:
    return {(found.code, found.title, found.count, found.total) for found in report.findings}


def _rounded(profile: FeatureProfile) -> tuple[object, ...]:
    """Round a profile, whose sums depend on the order of addition."""

    def rounded(value: object) -> object:
        if not isinstance(value, float):
            return value
        return 0.0 if abs(value) < 1e-30 else float(f"{value:.9g}")

    return tuple(map(rounded, asdict(profile).values()))


@pytest.mark.long
@given(small_datasets(), st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_no_count(dataset: RankingDataset, random: Random) -> None:
    """The profiles of features do not change either."""
    order = list(range(dataset.n_queries))
    random.shuffle(order)
    report, other = examine(dataset), examine(dataset.select_queries(order))
    assert _counts(report) == _counts(other)
    assert list(map(_rounded, report.features)) == list(map(_rounded, other.features))


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_gives_the_same_report(threads: int) -> None:
    """Reports on data of several blocks are the same to the last bit."""
    dataset = synthetic_dataset(700, seed=2, n_features=7)
    assert examine(dataset, threads=threads) == examine(dataset, threads=1)


def test_blocks_of_whole_queries_miss_no_document() -> None:
    """Two queries are longer than a block; many are shorter."""
    lengths = np.r_[9000, np.ones(50, int), 5000, np.full(300, 17), 1]
    boundaries = np.r_[0, np.cumsum(lengths)]
    values = np.random.default_rng(0).normal(size=(boundaries[-1], 2)).astype(np.float32)
    dataset = RankingDataset.from_arrays(values, np.zeros(len(values)), boundaries)
    columns: ColumnCounts = measure_columns(dataset)
    assert columns.minimum.tolist() == values.min(axis=0).tolist()
    np.testing.assert_allclose(columns.total, values.sum(axis=0, dtype=np.float64))
    assert len(set(columns.hashes.tolist())) == len(values)
    assert columns.filled.all()
