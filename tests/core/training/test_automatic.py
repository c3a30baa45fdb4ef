"""Hyperparameters chosen by the size of a dataset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.stored import read_entries, write_entries
from core.training import Hyperparameters
from core.training.automatic import AutomaticChoice, DatasetSize, hyperparameters_by_size

DATASET_SIZES = st.builds(
    DatasetSize,
    queries=st.integers(1, 10**7),
    documents=st.integers(1, 10**10),
    features=st.integers(1, 10**6),
)


@given(DATASET_SIZES)
def test_every_choice_is_within_the_declared_bounds(size: DatasetSize) -> None:
    """The values for a dataset of any size are hyperparameters that a training accepts."""
    values = hyperparameters_by_size(size)
    assert set(values) == {"num_leaves", "min_data_in_leaf", "learning_rate", "num_iterations"}
    Hyperparameters(**values)  # type: ignore[arg-type] # of the declared types


@given(DATASET_SIZES, st.integers(2, 1_000))
def test_more_data_never_mean_fewer_leaves(size: DatasetSize, factor: int) -> None:
    """Leaves, documents in a leaf and iterations grow with the dataset."""
    larger = DatasetSize(size.queries * factor, size.documents * factor, size.features * factor)
    small, large = hyperparameters_by_size(size), hyperparameters_by_size(larger)
    for name in ("num_leaves", "min_data_in_leaf", "num_iterations"):
        assert small[name] <= large[name]


def test_one_feature_has_few_leaves() -> None:
    """A function of one feature needs no tree of many leaves."""
    assert hyperparameters_by_size(DatasetSize(10_000, 1_000_000, 1))["num_leaves"] == 4


def test_given_values_are_not_chosen() -> None:
    """Values of the request are kept, and the others are chosen; a stored choice is read back equal."""
    size = DatasetSize(45, 782, 5)
    choice = AutomaticChoice.of(size, {"num_leaves": 9, "lambda_l2": 1.0})
    assert set(choice.chosen) == set(hyperparameters_by_size(size)) - {"num_leaves"}
    assert read_entries(AutomaticChoice, write_entries(choice)) == choice


def test_an_empty_dataset_has_no_choice() -> None:
    """The error names each number that is not a positive count."""
    with pytest.raises(InvalidInput) as caught:
        DatasetSize(0, 10, 0)
    assert [problem.pointer for problem in caught.value.problems] == ["/queries", "/features"]
