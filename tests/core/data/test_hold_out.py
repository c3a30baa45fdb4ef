"""Specifications of the queries that a job holds out."""

from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset
from core.data.folds import HeldOutColumn, HeldOutFold, HeldOutFraction, HoldOut, hold_out
from core.data.splits import column_queries, fold_queries, split_queries
from core.errors import InvalidInput


@pytest.fixture
def dataset() -> RankingDataset:
    """Ten queries of one document each."""
    return RankingDataset.from_arrays(
        np.zeros((10, 1)), np.zeros(10), np.arange(11), query_columns={"split": ["a", "b"] * 5}
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"fraction": 0.2}, HeldOutFraction(0.2)),
        ({"folds": 5, "fold": 1}, HeldOutFold(5, 1)),
        ({"column": "split", "values": ["a"]}, HeldOutColumn("split", ("a",))),
    ],
)
def test_each_form_is_read(values: dict[str, Any], expected: HoldOut) -> None:
    """A fraction, a fold and values of a column are read from the JSON of a job."""
    assert hold_out(values) == expected


@pytest.mark.parametrize(
    "values",
    [{}, {"fraction": "half"}, {"folds": 5}, {"column": "split", "values": []}, {"dataset_id": "ds_1"}],
)
def test_other_forms_are_refused(values: dict[str, Any]) -> None:
    """The error describes the valid forms."""
    with pytest.raises(InvalidInput, match="fraction"):
        hold_out(values)


def test_each_form_splits_as_its_function_does(dataset: RankingDataset) -> None:
    """Fractions and folds use the given seed."""
    for form, expected in (
        (HeldOutFraction(0.3), split_queries(dataset, 0.3, 7)),
        (HeldOutFold(5, 2), fold_queries(dataset, 5, 2, 7)),
        (HeldOutColumn("split", ("b",)), column_queries(dataset, "split", ["b"])),
    ):
        assert [part.query_ids for part in form.split(dataset, 7)] == [part.query_ids for part in expected]
