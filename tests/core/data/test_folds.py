"""Folds of whole queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, synthetic_dataset
from core.data.folds import FoldColumn, HeldOutFold, RandomFolds, folds_of
from core.errors import InvalidInput


def dataset_of(lengths: list[int], columns: dict[str, list[str]] | None = None) -> RankingDataset:
    """Return a dataset with queries of these lengths, whose feature is the row of the document."""
    boundaries = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.arange(boundaries[-1])
    return RankingDataset.from_arrays(rows[:, None], rows % 3, boundaries, query_columns=columns)


@given(
    st.lists(st.integers(1, 7), min_size=2, max_size=40),
    st.integers(2, 12),
    st.integers(0, 2**31 - 1),
    st.booleans(),
)
def test_no_query_is_on_both_sides_of_a_fold(lengths: list[int], k: int, seed: int, given: bool) -> None:
    """All documents of a query are held out by one fold, and are training data of all other folds."""
    k = min(k, len(lengths))
    names = [f"S{query % k}" for query in range(len(lengths))]
    dataset = dataset_of(lengths, {"fold": names})
    assignment = (FoldColumn("fold") if given else RandomFolds(k)).assign(dataset, seed)
    held_out_ids: list[str] = []
    for fold in range(assignment.n_folds):
        training, held_out = assignment.split(dataset, fold)
        assert not set(training.query_ids) & set(held_out.query_ids)
        assert set(training.query_ids) | set(held_out.query_ids) == set(dataset.query_ids)
        rows = assignment.documents(dataset.query_boundaries, fold)
        for part, own in zip((training, held_out), rows, strict=True):
            assert part.matrix[:, 0].tolist() == own.tolist()
        held_out_ids += held_out.query_ids
    assert sorted(held_out_ids) == sorted(dataset.query_ids)


def test_folds_are_those_that_single_trainings_hold_out() -> None:
    """Fold 2 of a cross-validation has the queries of `{"folds": 5, "fold": 2}`, with the same seed."""
    dataset = synthetic_dataset(23, seed=1, n_features=4)
    assignment = RandomFolds(5).assign(dataset, 7)
    for fold in range(5):
        _, held_out = HeldOutFold(5, fold + 1).split(dataset, 7)
        assert assignment.split(dataset, fold)[1].query_ids == held_out.query_ids


def test_given_folds_are_taken_as_they_are() -> None:
    """Each value of the column is a fold, in the order of its number."""
    dataset = dataset_of([1] * 4, {"fold": ["Fold10", "Fold2", "Fold10", "Fold1"]})
    assignment = FoldColumn("fold").assign(dataset, 0)
    assert assignment.names == ("Fold1", "Fold2", "Fold10")
    assert assignment.fold_of.tolist() == [2, 1, 2, 0]


def test_a_column_of_one_value_has_no_folds() -> None:
    """Nothing would be left to train on; an unknown column is refused, too."""
    with pytest.raises(InvalidInput, match="must have 2 to 100 different values"):
        FoldColumn("fold").assign(dataset_of([1, 2], {"fold": ["a", "a"]}), 0)
    with pytest.raises(InvalidInput, match="must be a column of the queries"):
        FoldColumn("folds").assign(dataset_of([1, 2], {"fold": ["a", "b"]}), 0)


def test_folds_are_read_from_a_number_or_a_column() -> None:
    """A single held-out fold has another form and is not read; one fold is too few."""
    assert folds_of({"folds": 5}) == RandomFolds(5)
    assert folds_of({"fold_column": "fold"}) == FoldColumn("fold")
    assert folds_of({"folds": 5, "fold": 1}) is None
    with pytest.raises(InvalidInput, match="must be 2 to 100"):
        folds_of({"folds": 1})
