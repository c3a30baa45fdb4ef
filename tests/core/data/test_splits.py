"""Holding out whole queries."""

from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.data.splits import bootstrap_queries, column_queries, fold_queries
from core.errors import InvalidInput
from tests.core.data.strategies import assert_same

SEEDS = st.integers(0, 2**32)


@st.composite
def judged(draw: Any, least: int = 2) -> RankingDataset:
    """Draw up to 80 queries of 1 to 30 documents, some without a relevant one; the feature is the row."""
    lengths = draw(st.lists(st.integers(1, 30), min_size=least, max_size=80))
    highest = draw(
        st.lists(st.sampled_from([-1, 0, 1, np.nan]), min_size=len(lengths), max_size=len(lengths))
    )
    n_documents = sum(lengths)
    return RankingDataset.from_arrays(
        np.arange(n_documents)[:, None], np.repeat(highest, lengths), np.cumsum([0, *lengths])
    )


def relevant_queries(dataset: RankingDataset) -> int:
    """Count the queries with a relevant document."""
    return int(np.maximum.reduceat(dataset.labels > 0, dataset.query_boundaries[:-1]).sum())


def positions(part: RankingDataset) -> list[int]:
    """Return the positions in the whole dataset of the queries of a part."""
    return [int(query_id) - 1 for query_id in part.query_ids]


def assert_parted(dataset: RankingDataset, *parts: RankingDataset) -> None:
    """Assert that every query is in one part, whole and in the order of the dataset."""
    assert sorted(chain.from_iterable(map(positions, parts))) == list(range(dataset.n_queries))
    for part in parts:
        assert all(first < second for first, second in pairwise(positions(part)))
        assert_same(part, dataset.select_queries(positions(part)))


@given(judged(), st.floats(0, 1, exclude_min=True, exclude_max=True), SEEDS)
def test_a_fraction_splits_the_queries(dataset: RankingDataset, fraction: float, seed: int) -> None:
    """Every query is on one side; the share is rounded, but no side is empty."""
    kept, held_out = split_queries(dataset, fraction, seed)
    assert_parted(dataset, kept, held_out)
    expected = min(max(round(fraction * dataset.n_queries), 1), dataset.n_queries - 1)
    assert held_out.n_queries == expected


@given(judged(least=10), st.floats(0.1, 0.9), SEEDS)
def test_a_fraction_applies_to_documents_and_relevant_queries_too(
    dataset: RankingDataset, fraction: float, seed: int
) -> None:
    """Both sides have their share of documents, give or take a few queries, and of relevant queries."""
    _, held_out = split_queries(dataset, fraction, seed)
    share = held_out.n_queries / dataset.n_queries
    longest = np.diff(dataset.query_boundaries).max()
    assert abs(held_out.n_documents - share * dataset.n_documents) <= 4 * longest
    assert abs(relevant_queries(held_out) - share * relevant_queries(dataset)) <= 2


def test_shares_are_close_where_lengths_differ_widely() -> None:
    """A tenth of 3,000 queries of 1 to 1,000 documents has a tenth of the documents, to two percent."""
    generator = np.random.default_rng(0)
    lengths = np.minimum(generator.geometric(0.01, 3000), 1000)
    boundaries = np.concatenate([[0], np.cumsum(lengths)])
    labels = (generator.random(boundaries[-1]) < 0.01).astype(np.float32)
    dataset = RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, boundaries)
    for seed in range(20):
        for _, held_out in (split_queries(dataset, 0.1, seed), fold_queries(dataset, 10, 3, seed)):
            assert held_out.n_documents == pytest.approx(0.1 * dataset.n_documents, rel=0.02)
            assert abs(relevant_queries(held_out) - 0.1 * relevant_queries(dataset)) <= 2


@pytest.mark.long
@given(judged(), st.integers(2, 12), SEEDS)
def test_folds_split_the_queries(dataset: RankingDataset, folds: int, seed: int) -> None:
    """Each query is held out in exactly one fold; folds are alike in queries, documents and relevance."""
    folds = min(folds, dataset.n_queries)
    splits = [fold_queries(dataset, folds, fold, seed) for fold in range(1, folds + 1)]
    assert_parted(dataset, *(held_out for _, held_out in splits))
    for kept, held_out in splits:
        assert_parted(dataset, kept, held_out)
    longest = np.diff(dataset.query_boundaries).max()
    for count, largest_difference in (
        (lambda part: part.n_queries, 1),
        (relevant_queries, 2),
        (lambda part: part.n_documents, 4 * longest),
    ):
        counts = [count(held_out) for _, held_out in splits]
        assert max(counts) - min(counts) <= largest_difference


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.8])
def test_every_query_may_be_held_out(fraction: float) -> None:
    """Each of eleven queries is held out by some of 200 seeds."""
    dataset = synthetic_dataset(11, seed=0, documents_per_query=2, n_features=2)
    seen = {query for seed in range(200) for query in split_queries(dataset, fraction, seed)[1].query_ids}
    assert len(seen) == 11


def test_equal_seeds_give_equal_splits() -> None:
    """The same seed gives the same split, and another seed another split."""
    dataset = synthetic_dataset(40, seed=0, documents_per_query=2, n_features=2)
    halves = [split_queries(dataset, 0.5, seed)[1].query_ids for seed in (1, 1, 2)]
    fourths = [fold_queries(dataset, 4, 2, seed)[1].query_ids for seed in (1, 1, 2)]
    for first, again, other in (halves, fourths):
        assert first == again
        assert first != other


@pytest.mark.long
@given(judged(), st.data())
def test_a_column_splits_the_queries(dataset: RankingDataset, data: Any) -> None:
    """Exactly the queries with one of the values are held out."""
    markets = data.draw(
        st.lists(
            st.sampled_from(["de", "fr", ""]), min_size=dataset.n_queries, max_size=dataset.n_queries
        ).filter(lambda found: len(set(found)) > 1)
    )
    dataset = RankingDataset.from_arrays(
        dataset.features, dataset.labels, dataset.query_boundaries, query_columns={"market": markets}
    )
    kept, held_out = column_queries(dataset, "market", [markets[0]])
    assert_parted(dataset, kept, held_out)
    assert set(held_out.query_columns["market"]) == {markets[0]}
    assert markets[0] not in kept.query_columns["market"]


def _plain(n_queries: int) -> RankingDataset:
    return RankingDataset.from_arrays(
        np.zeros((n_queries, 1)),
        np.zeros(n_queries),
        np.arange(n_queries + 1),
        query_columns={"split": ["train", "test"] * (n_queries // 2) + ["vali"] * (n_queries % 2)},
    )


@pytest.mark.parametrize(
    ("n_queries", "fraction", "seed"),
    [(5, 0.0, 0), (5, 1.0, 0), (5, -0.1, 0), (5, float("nan"), 0), (1, 0.5, 0), (5, 0.5, -1)],
)
def test_invalid_fractions_are_refused(n_queries: int, fraction: float, seed: int) -> None:
    """An empty side, a fraction outside 0 to 1, and a negative seed are invalid input."""
    with pytest.raises(InvalidInput):
        split_queries(_plain(n_queries), fraction, seed)


@pytest.mark.parametrize(
    ("folds", "fold", "pointer"), [(1, 1, "/folds"), (6, 1, "/folds"), (5, 0, "/fold"), (5, 6, "/fold")]
)
def test_invalid_folds_are_refused(folds: int, fold: int, pointer: str) -> None:
    """Five queries make two to five folds."""
    with pytest.raises(InvalidInput, match=f"{pointer}: must be"):
        fold_queries(_plain(5), folds, fold, 0)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("market", ["de"], r"/column: must be a column of the queries \(split\); found 'market'"),
        ("split", ["test", "dev"], r"/values/1: must be a value in split \(test, train, vali\); found 'dev'"),
        ("split", ["test", "train", "vali"], "/values: .* must leave at least one query"),
        ("split", [], "/values: .* must leave at least one query"),
    ],
)
def test_columns_that_cannot_split_are_refused(column: str, values: list[str], message: str) -> None:
    """The error lists the available columns or values."""
    with pytest.raises(InvalidInput, match=message):
        column_queries(_plain(5), column, values)


@given(judged(least=1), SEEDS)
def test_a_bootstrap_sample_has_as_many_queries(dataset: RankingDataset, seed: int) -> None:
    """Weights are the numbers of draws; documents stay, and the seed decides the sample."""
    sample = bootstrap_queries(dataset, seed)
    assert sample.query_weights is not None
    assert sample.query_weights.sum() == dataset.n_queries
    assert (sample.query_weights == np.round(sample.query_weights)).all()
    assert np.shares_memory(sample.labels, dataset.labels)
    np.testing.assert_array_equal(sample.query_weights, bootstrap_queries(dataset, seed).query_weights)


def test_a_bootstrap_sample_keeps_given_weights() -> None:
    """A query that is drawn twice counts twice its weight; seeds draw different samples."""
    given_weights = np.arange(1.0, 41.0)
    dataset = RankingDataset.from_arrays(
        np.zeros((40, 1)), np.zeros(40), np.arange(41), query_weights=given_weights
    )
    samples = []
    for seed in (1, 2):
        weights = bootstrap_queries(dataset, seed).query_weights
        assert weights is not None
        assert np.isin(weights / given_weights, np.arange(10)).all()
        samples.append(weights)
    assert not np.array_equal(samples[0], samples[1])
