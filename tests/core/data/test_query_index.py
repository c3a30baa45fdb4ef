"""The index of a dataset's queries."""

import io

import numpy as np
import pytest
from hypothesis import given

from core.data import RankingDataset
from core.data.query_index import QueryEntry, QueryIndex, write_query_index
from core.errors import NotFound
from tests.core.data.strategies import datasets


def index_of(dataset: RankingDataset) -> QueryIndex:
    """Write an index and read it back."""
    file = io.BytesIO()
    write_query_index(dataset, file)
    file.seek(0)
    return QueryIndex.read(file)


@pytest.fixture
def index() -> QueryIndex:
    """Three queries: one judged as usual, one with labels below 0 and one whose only label is missing."""
    dataset = RankingDataset.from_arrays(
        np.zeros((6, 1)),
        [0.1, 2, 0, -1, np.nan, np.nan],
        [0, 3, 5, 6],
        query_ids=["web 1", "web 2", "ad"],
        query_columns={"market": ["de", "fr", "de"], "split": ["", "test", "train"]},
    )
    return index_of(dataset)


def test_each_query_is_described(index: QueryIndex) -> None:
    """An entry has the first row, counts and range of labels; None where a query has no label at all."""
    assert index.entries(0, 10) == [
        QueryEntry("web 1", 0, 3, 2, 0.0, 2.0, {"market": "de", "split": ""}),
        QueryEntry("web 2", 3, 2, 0, -1.0, -1.0, {"market": "fr", "split": "test"}),
        QueryEntry("ad", 5, 1, 0, None, None, {"market": "de", "split": "train"}),
    ]


def test_pages_follow_the_order_of_the_dataset(index: QueryIndex) -> None:
    """Queries have the order of the dataset; a page after the last query is empty."""
    assert len(index) == 3
    assert [entry.query_id for entry in index.entries(1, 1)] == ["web 2"]
    assert index.entries(3, 5) == []


def test_a_query_is_found_by_its_id(index: QueryIndex) -> None:
    """A query is found by its whole id only, not by a part of it."""
    assert index.find("ad").first_row == 5
    with pytest.raises(NotFound, match="there is no query 'web'"):
        index.find("web")


def test_texts_are_found_by_query_id() -> None:
    """Texts are found by id; queries without a text, and unknown ids, are left out."""
    dataset = RankingDataset.from_arrays(
        np.zeros((3, 1)),
        [0, 0, 0],
        [0, 1, 2, 3],
        query_ids=["a", "b", "c"],
        query_columns={"market": ["de", "de", "fr"], "query_text": ["red", "", "blue"]},
    )
    file = io.BytesIO()
    write_query_index(dataset, file)
    index = QueryIndex.read(io.BytesIO(file.getvalue()))
    assert index.texts(["c", "b", "z"]) == {"c": "blue"}
    assert [entry.query_id for entry in index.among(["c", "a", "z"])] == ["a", "c"]


def test_queries_are_found_by_a_prefix_of_their_ids(index: QueryIndex) -> None:
    """Every character of a prefix is literal, so that there are no wildcards."""
    assert [entry.first_row for entry in index.with_prefix("web").entries(0, 10)] == [0, 3]
    assert index.with_prefix("web").find("web 2").columns == {"market": "fr", "split": "test"}
    assert len(index.with_prefix(".")) == 0


@pytest.mark.long
@given(datasets())
def test_the_rows_are_those_of_the_dataset(dataset: RankingDataset) -> None:
    """Each query of any dataset is found at its first row, whatever the ids are."""
    index = index_of(dataset)
    bounds = dataset.query_boundaries
    for position, query_id in enumerate(dataset.query_ids):
        entry = index.find(query_id)
        assert (entry.first_row, entry.documents) == (bounds[position], np.diff(bounds)[position])
