"""Holding out whole queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.errors import InvalidInput
from tests.core.data.strategies import assert_same


def _dataset(n_queries: int) -> RankingDataset:
    return RankingDataset.from_arrays(
        np.arange(2 * n_queries)[:, None], np.zeros(2 * n_queries), np.arange(n_queries + 1) * 2
    )


@given(st.integers(2, 60), st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(0, 2**32))
def test_a_split_parts_the_queries(n_queries: int, fraction: float, seed: int) -> None:
    """Every query is on one side, whole and in order; the held-out share is rounded, both sides hold some."""
    dataset = _dataset(n_queries)
    train, held_out = split_queries(dataset, fraction, seed)
    names = {name: position for position, name in enumerate(dataset.query_ids)}
    sides = [[names[name] for name in side.query_ids] for side in (train, held_out)]
    assert sorted(sides[0] + sides[1]) == list(range(n_queries))
    assert len(sides[1]) == min(max(round(fraction * n_queries), 1), n_queries - 1)
    for side, positions in zip((train, held_out), sides, strict=True):
        assert positions == sorted(positions)
        assert_same(side, dataset.select_queries(positions))


def test_the_seed_decides_the_split() -> None:
    """The same seed splits the same way, another differently."""
    dataset = synthetic_dataset(40, seed=0, documents_per_query=2, n_features=2)
    first, again, other = (split_queries(dataset, 0.5, seed)[1].query_ids for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("n_queries", "fraction", "seed"),
    [(5, 0.0, 0), (5, 1.0, 0), (5, -0.1, 0), (5, float("nan"), 0), (1, 0.5, 0), (5, 0.5, -1)],
)
def test_splits_that_cannot_be_are_refused(n_queries: int, fraction: float, seed: int) -> None:
    """An empty side, a share that is none and a negative seed are invalid input."""
    with pytest.raises(InvalidInput):
        split_queries(_dataset(n_queries), fraction, seed)
