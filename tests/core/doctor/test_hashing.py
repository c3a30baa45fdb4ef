"""Hashes: equal for values that compare equal, different for other values."""

import numpy as np
import pytest

from core.data.texts import Texts
from core.doctor.hashing import hash_rows, hash_texts


def _hashes(*rows: list[float]) -> list[int]:
    features = np.array(rows, np.float32)
    hashes: list[int] = hash_rows(features, np.arange(features.shape[1]))[0].tolist()
    return hashes


def test_values_that_compare_equal_hash_equal() -> None:
    """Negative zero is zero, and a missing value is missing whatever its bits are."""
    other_nan = np.array([0xFFC00001], np.uint32).view(np.float32)[0]
    first, second = _hashes([0.0, np.nan, 1.0], [-0.0, float(other_nan), 1.0])
    assert first == second


@pytest.mark.parametrize(
    "rows",
    [
        ([1.0, 2.0], [2.0, 1.0]),
        ([0.0, 1.0], [1.0, 0.0]),
        ([0.0, 0.0], [np.nan, 0.0]),
        ([1.0, -1.0], [-1.0, 1.0]),
        ([np.inf, 0.0], [-np.inf, 0.0]),
        ([1e-45, 0.0], [0.0, 0.0]),
    ],
    ids=str,
)
def test_other_values_or_other_places_hash_differently(rows: tuple[list[float], list[float]]) -> None:
    """A value counts with its column."""
    first, second = _hashes(*rows)
    assert first != second


@pytest.mark.long
def test_small_whole_numbers_do_not_collide() -> None:
    """Coarse features, the hard case for sums: a million rows of a few small numbers all differ."""
    grid = np.stack(np.meshgrid(*[np.arange(10.0, dtype=np.float32)] * 6), axis=-1).reshape(-1, 6)
    hashes, _ = hash_rows(grid, np.arange(6))
    assert len(np.unique(hashes)) == len(grid)


def test_columns_hash_in_the_requested_order() -> None:
    """Two datasets whose columns are in different orders can be compared."""
    left, right = np.array([[1, 2, 3]], np.float32), np.array([[3, 9, 1]], np.float32)
    assert hash_rows(left, np.array([0, 2]))[0] == hash_rows(right, np.array([2, 0]))[0]


def test_documents_without_a_value_are_marked() -> None:
    """Zeros and missing values do not count as values; an infinite value does."""
    features = np.array([[0, np.nan], [-0.0, 0], [np.inf, 0], [0, 1e-45]], np.float32)
    assert hash_rows(features, np.arange(2))[1].tolist() == [False, False, True, True]


def test_texts_hash_by_their_bytes() -> None:
    """Equal texts have equal hashes, others different ones; also in a part of a longer array."""
    hashes = hash_texts(Texts.of(["x", "", "ab", "ba", "é", "ab"])[1:]).tolist()
    assert hashes[1] == hashes[4]
    assert len(set(hashes)) == 4
