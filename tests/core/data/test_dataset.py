"""Validation of RankingDataset, and selection of its queries."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset
from core.data.categories import values_by_feature
from core.errors import InvalidInput
from tests.core.data.strategies import assert_same, datasets

_FITTING: dict[str, Any] = {
    "features": [[1.0, 2.0], [3.0, float("nan")], [5.0, 6.0]],
    "labels": [0, 1, 2],
    "query_boundaries": [0, 2, 3],
}


def test_names_default_to_numbers_from_one() -> None:
    """Ids and feature names left out are numbered; documents within their query."""
    dataset = RankingDataset.from_arrays(**_FITTING)
    assert (dataset.n_queries, dataset.n_documents, dataset.n_features) == (2, 3, 2)
    assert dataset.query_ids == ("1", "2")
    assert dataset.document_ids == ("1", "2", "1")
    assert dataset.feature_names == ("f1", "f2")
    assert dataset.matrix.dtype == np.float32
    assert dataset.matrix.flags.c_contiguous
    assert dataset.query_boundaries.dtype == np.int64


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"features": [1.0, 2.0, 3.0]}, "/features"),
        ({"features": np.zeros((0, 2))}, "/features"),
        ({"features": [[1.0], [2.0, 3.0]]}, "/features"),
        ({"features": [[1, 1], [1, 1], [-1e39, 1]]}, "/features/2/0"),
        ({"labels": [0, 1]}, "/labels"),
        ({"labels": [np.inf, 0, 0]}, "/labels/0"),
        ({"query_boundaries": [0]}, "/query_boundaries"),
        ({"query_boundaries": [[0, 3]]}, "/query_boundaries"),
        ({"query_boundaries": [1, 3]}, "/query_boundaries"),
        ({"query_boundaries": [0, 2]}, "/query_boundaries"),
        ({"query_boundaries": [0, 2, 1, 3]}, "/query_boundaries/2"),
        ({"query_boundaries": [0, 2.5, 3]}, "/query_boundaries"),
        ({"query_boundaries": [0, np.nan, 3]}, "/query_boundaries"),
        ({"query_boundaries": [0, 1e300]}, "/query_boundaries"),
        ({"labels": [0, 1, 10**400]}, "/labels"),
        ({"query_boundaries": ["a", "b"]}, "/query_boundaries"),
        ({"document_weights": ["a", 1, 2]}, "/document_weights"),
        ({"query_boundaries": [0, 2, 2, 3]}, "/query_boundaries/2"),
        ({"query_ids": ["a"]}, "/query_ids"),
        ({"query_ids": ["a", "a"]}, "/query_ids"),
        ({"document_ids": ["a"]}, "/document_ids"),
        ({"feature_names": ["x", "x"]}, "/feature_names"),
        ({"query_weights": [1.0]}, "/query_weights"),
        ({"query_weights": [1.0, -1.0]}, "/query_weights/1"),
        ({"document_weights": [1.0]}, "/document_weights"),
        ({"document_weights": [1.0, np.nan, 1.0]}, "/document_weights/1"),
        ({"query_columns": {"market": ["de"]}}, "/query_columns/market"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], pointer: str) -> None:
    """Each rule of the dataset is checked, and the error points at the argument that breaks it."""
    with pytest.raises(InvalidInput) as caught:
        RankingDataset.from_arrays(**(_FITTING | change))
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_labels_and_features_are_kept_as_they_are() -> None:
    """Negative labels, missing labels and infinite features are accepted; the doctor and jobs check them."""
    dataset = RankingDataset.from_arrays([[np.inf], [-np.inf], [np.nan]], [-1, np.nan, 0], [0, 3])
    np.testing.assert_array_equal(dataset.labels, [-1, np.nan, 0])
    np.testing.assert_array_equal(dataset.features[:, 0], [np.inf, -np.inf, np.nan])


@pytest.mark.long
@given(datasets(weighted=True), st.data())
def test_selected_queries_keep_their_rows(dataset: RankingDataset, data: st.DataObject) -> None:
    """A selection is the concatenation of the chosen queries' own slices, in the order given."""
    order = data.draw(st.permutations(range(dataset.n_queries)))
    chosen = order[: data.draw(st.integers(1, len(order)))]
    weights = np.arange(float(dataset.n_documents))
    dataset = replace(dataset, document_weights=weights, query_columns={"market": dataset.query_ids})
    selected = dataset.select_queries(chosen)
    slices = [slice(*dataset.query_boundaries[[q, q + 1]].tolist()) for q in chosen]
    expected = RankingDataset.from_arrays(
        np.concatenate([dataset.features[rows] for rows in slices]),
        np.concatenate([dataset.labels[rows] for rows in slices]),
        np.cumsum([0, *(rows.stop - rows.start for rows in slices)]),
        query_ids=[dataset.query_ids[q] for q in chosen],
        document_ids=[name for rows in slices for name in dataset.document_ids[rows]],
        feature_names=dataset.feature_names,
        query_weights=None if dataset.query_weights is None else dataset.query_weights[chosen],
        document_weights=np.concatenate([weights[rows] for rows in slices]),
        query_columns={"market": [dataset.query_ids[q] for q in chosen]},
        document_columns={
            name: [text for rows in slices for text in column[rows]]
            for name, column in dataset.document_columns.items()
        },
        categories=values_by_feature(dataset.categories),
    )
    assert_same(selected, expected)


def test_positions_of_a_small_type_select_queries_of_a_larger_dataset() -> None:
    """Eight bits hold the position -1, but not the number of the queries."""
    dataset = RankingDataset.from_arrays(np.zeros((300, 1)), np.zeros(300), np.arange(301))
    assert dataset.select_queries(np.array([1, -1], np.int8)).query_ids == ("2", "300")


@pytest.mark.parametrize("indices", [[], [2], [-3], [0, 0], [0, -2], [[0]], [0.5]])
def test_a_selection_names_existing_queries_once(indices: Any) -> None:
    """Empty selections, positions out of range, repeats and other types are refused."""
    with pytest.raises(InvalidInput):
        RankingDataset.from_arrays(**_FITTING).select_queries(indices)
