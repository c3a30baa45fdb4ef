"""Groups of queries."""

import numpy as np
import pytest

from core.data import RankingDataset
from core.evaluation import slices


def _dataset(lengths: list[int], relevant: list[int], **columns: list[str]) -> RankingDataset:
    labels = [
        float(index < count)
        for length, count in zip(lengths, relevant, strict=True)
        for index in range(length)
    ]
    return RankingDataset.from_arrays(
        np.zeros((sum(lengths), 1)), labels, np.cumsum([0, *lengths]), query_columns=columns
    )


def test_every_query_is_in_one_slice_of_each_kind() -> None:
    """Slices are by documents, by relevant documents, and by the columns of the dataset."""
    dataset = _dataset([1, 3, 12, 15], [0, 1, 1, 6], market=["de", "fr", "de", "it"])
    parts = slices(dataset, min_queries=1)
    found = [(part.by, part.value, part.queries.tolist()) for part in parts]
    assert found == [
        ("documents a query", "1", [0]),
        ("documents a query", "3 to 5", [1]),
        ("documents a query", "11 to 20", [2, 3]),
        ("relevant documents", "0", [0]),
        ("relevant documents", "1", [1, 2]),
        ("relevant documents", "6 to 10", [3]),
        ("market", "de", [0, 2]),
        ("market", "fr", [1]),
        ("market", "it", [3]),
    ]


def test_rare_values_of_a_column_are_one_slice() -> None:
    """The twenty most frequent values have a slice each."""
    names = [f"v{i:02d}" for i in range(20) for _ in range(2)] + ["rare", "rarer", "rarest"]
    dataset = _dataset([2] * 43, [1] * 43, market=names)
    found = slices(dataset, min_queries=2)
    assert len(found) == 21
    assert (found[-1].value, found[-1].queries.tolist()) == ("3 other values", [40, 41, 42])


def test_slices_of_too_few_queries_are_left_out() -> None:
    """Rare values count together if they are enough queries; a mean over four queries is too uncertain."""
    dataset = _dataset([2] * 16, [1] * 12 + [0] * 4, market=["de"] * 7 + ["fr"] * 4 + ["it"] * 5)
    found = [(part.by, part.value, len(part.queries)) for part in slices(dataset)]
    assert found == [("relevant documents", "1", 12), ("market", "de", 7), ("market", "it", 5)]
    dataset = _dataset([2] * 12, [1] * 12, market=["de"] * 6 + ["fr"] * 3 + ["it"] * 3)
    found = [(part.by, part.value, len(part.queries)) for part in slices(dataset)]
    assert found == [("market", "de", 6), ("market", "2 other values", 6)]


def test_query_texts_are_not_slices() -> None:
    """The search texts of users do not divide the queries."""
    dataset = RankingDataset.from_arrays(
        np.zeros((12, 1)),
        [0, 1] * 6,
        np.arange(13),
        query_columns={"query_text": ["red shoes"] * 6 + ["blue coat"] * 6},
    )
    assert {part.by for part in slices(dataset)} == {"relevant documents"}


def test_a_value_of_all_queries_is_not_a_slice() -> None:
    """The mean of such a slice would be the mean over all queries."""
    dataset = _dataset([3, 4], [1, 1], market=["de", "de"])
    assert slices(dataset) == []


@pytest.mark.parametrize(("threshold", "values"), [(0.0, ["0", "2"]), (0.5, ["0", "2"]), (1.0, [])])
def test_relevant_documents_are_those_of_the_contract(threshold: float, values: list[str]) -> None:
    """A label is relevant above the threshold."""
    dataset = _dataset([3, 3], [0, 2])
    found = slices(dataset, threshold, min_queries=1)
    assert [part.value for part in found if part.by == "relevant documents"] == values
