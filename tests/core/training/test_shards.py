"""Queries shared out among ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.training.distribution import shards
from core.types import Int64Array

_LENGTHS = st.lists(st.one_of(st.integers(0, 20), st.integers(0, 100_000)), min_size=1, max_size=60)


def _boundaries(lengths: list[int]) -> Int64Array:
    return np.cumsum([0, *lengths], dtype=np.int64)


@given(_LENGTHS, st.data())
def test_each_query_has_one_rank_and_each_rank_has_a_query(lengths: list[int], data: st.DataObject) -> None:
    """Ranges follow each other, and none is empty."""
    n_ranks = data.draw(st.integers(1, len(lengths)))
    cuts = shards(_boundaries(lengths), n_ranks)
    assert cuts.dtype == np.int64
    assert len(cuts) == n_ranks + 1
    assert (cuts[0], cuts[-1]) == (0, len(lengths))
    assert (np.diff(cuts) >= 1).all()


@given(_LENGTHS, st.data())
def test_ranks_have_about_the_same_number_of_documents(lengths: list[int], data: st.DataObject) -> None:
    """Each cut is as near as possible to its target, unless a neighbouring rank has a single query."""
    n_ranks = data.draw(st.integers(1, len(lengths)))
    boundaries = _boundaries(lengths)
    cuts = shards(boundaries, n_ranks)
    queries = np.diff(cuts)
    for rank in range(1, n_ranks):
        place = boundaries[-1] * rank / n_ranks
        distance, nearest = abs(boundaries[cuts[rank]] - place), np.abs(boundaries - place).min()
        assert distance <= nearest + 1e-6 or queries[rank - 1] == 1 or queries[rank] == 1


@given(st.lists(st.integers(1, 20), min_size=40, max_size=200), st.integers(1, 8))
def test_short_queries_are_shared_out_evenly(lengths: list[int], n_ranks: int) -> None:
    """No rank has more documents than its share and the longest query."""
    boundaries = _boundaries(lengths)
    documents = np.diff(boundaries[shards(boundaries, n_ranks)])
    assert documents.max() <= boundaries[-1] / n_ranks + max(lengths)


def test_a_long_query_has_a_rank_to_itself() -> None:
    """The query cannot be split; the other ranks share the remaining queries."""
    assert shards(_boundaries([3, 3, 1_000, 3, 3]), 3).tolist() == [0, 2, 3, 5]


def test_more_ranks_than_queries_are_refused() -> None:
    """A rank without a query would have nothing to do."""
    with pytest.raises(
        InvalidInput, match="each of 3 ranks needs at least one query, but there are only 2"
    ) as raised:
        shards(_boundaries([5, 5]), 3)
    assert raised.value.problems[0].pointer == "/distribution/ranks"
