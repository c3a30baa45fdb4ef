"""Batches of whole queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clicks.binding import LossBinding
from core.data import RankingDataset
from core.losses import make_loss
from core.scorers import InputTransform
from core.training.networks.batches import Batches


def batches_of(lengths: list[int], max_documents: int, seed: int = 1) -> tuple[RankingDataset, Batches]:
    """Cut queries of these lengths, whose only feature is the row number, into batches."""
    boundaries = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.arange(boundaries[-1])
    dataset = RankingDataset.from_arrays(rows[:, np.newaxis], rows % 3, boundaries)
    transform = InputTransform.fit(dataset.features, kind="none", log1p=False, missing_indicators=False)
    return dataset, Batches.of(
        dataset, LossBinding(make_loss("mse"), dataset), transform, max_documents, seed
    )


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=40),
    st.integers(1, 100),
    st.integers(0, 5),
)
def test_a_batch_is_whole_queries_within_the_bound(lengths: list[int], max_documents: int, seed: int) -> None:
    """Each query is in one batch, its documents in order; only a larger query exceeds the bound, alone."""
    dataset, batches = batches_of(lengths, max_documents, seed)
    np.testing.assert_array_equal(np.sort(batches.documents), np.arange(dataset.n_documents))
    np.testing.assert_array_equal(batches.inputs[:, 0], batches.documents)
    query_of = np.repeat(np.arange(len(lengths)), lengths)
    for batch in batches.batches:
        rows = batches.documents[batch.rows]
        queries = query_of[rows]
        assert len(set(queries.tolist())) == batch.n_queries
        for query in set(queries.tolist()):
            expected = np.arange(*dataset.query_boundaries[query : query + 2])
            np.testing.assert_array_equal(rows[queries == query], expected)
        assert batch.n_documents <= max_documents or batch.n_queries == 1
        size = batches.padded_size(batch)
        assert size >= batch.n_documents
        assert size % 8 == 0


@pytest.mark.parametrize(
    ("lengths", "max_documents", "sizes"), [([10] * 100, 250, {256}), ([7] * 3, 100, {24})]
)
def test_usual_batches_share_a_size(lengths: list[int], max_documents: int, sizes: set[int]) -> None:
    """Few shapes are compiled, and batches are about equally large."""
    _, batches = batches_of(lengths, max_documents)
    found = {batches.padded_size(batch) for batch in batches.batches}
    assert found == sizes
    if max_documents == 250:
        assert {batch.n_documents for batch in batches.batches} == {250}


def test_an_epoch_has_each_batch_once_in_its_own_order() -> None:
    """The order is drawn by seed and epoch."""
    _, batches = batches_of([10] * 100, 50)
    first, second, again = ([batch.rows.start for batch in batches.of_epoch(epoch)] for epoch in (1, 2, 1))
    assert sorted(first) == sorted(second) == [batch.rows.start for batch in batches.batches]
    assert first == again != second
