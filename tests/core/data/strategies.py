"""Hypothesis strategies for judged datasets."""

import re
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.data import RankingDataset
from rankery.identifiers import normalise_ids

_FEATURE = st.floats(width=32, allow_infinity=False, allow_nan=True, allow_subnormal=True)
_LABEL = st.one_of(st.integers(0, 4).map(float), st.floats(0, 2.0**100, width=32))
_TOKEN = st.characters(exclude_characters=" \t\r\n", exclude_categories=["Cs"])


def is_normalised(identifier: str) -> bool:
    """Return whether an id is empty, or `normalise_ids` leaves it unchanged."""
    return bool(normalise_ids([identifier]).texts.to_pylist() == [identifier or None])


_LETOR_ID = st.text(_TOKEN, min_size=1, max_size=8).filter(
    lambda text: is_normalised(text) and re.search(r"\s", text) is None
)
_ANY_ID = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(is_normalised)


_LETOR_COLUMN = st.from_regex("[A-Za-z][a-z0-9_.-]{0,3}", fullmatch=True)


@st.composite
def datasets(
    draw: Any,
    ids: st.SearchStrategy[str] = _ANY_ID,
    weighted: bool = False,
    named: bool = True,
    column_names: st.SearchStrategy[str] = _ANY_ID,
) -> RankingDataset:
    """Draw datasets of 1 to 5 queries; features are any finite float32, with subnormals and -0.0, or NaN."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    rows, columns = sum(lengths), draw(st.integers(1, 6))
    feature_names = draw(_unique(columns)) if named else None
    return RankingDataset.from_arrays(
        draw(hnp.arrays(np.float32, (rows, columns), elements=_FEATURE)),
        draw(hnp.arrays(np.float32, rows, elements=_LABEL)),
        np.cumsum([0, *lengths]),
        query_ids=draw(st.lists(ids, min_size=len(lengths), max_size=len(lengths), unique=True)),
        document_ids=draw(st.lists(ids, min_size=rows, max_size=rows)),
        feature_names=feature_names,
        query_weights=draw(hnp.arrays(np.float64, len(lengths), elements=st.floats(0, 1e300)))
        if weighted
        else None,
        document_columns=draw(_document_columns(column_names, ids, rows)),
        categories=draw(_categories(feature_names)) if feature_names else None,
    )


def letor_datasets() -> st.SearchStrategy[RankingDataset]:
    """Return a strategy for datasets that LETOR text can hold: ids without blanks, features f1, f2, ..."""
    return datasets(_LETOR_ID, named=False, column_names=_LETOR_COLUMN)


def _document_columns(
    column_names: st.SearchStrategy[str], texts: st.SearchStrategy[str], rows: int
) -> st.SearchStrategy[dict[str, list[str]]]:
    """Return a strategy for up to three columns, empty for some documents, but not for the first."""
    value, some = texts.filter(bool), st.one_of(st.just(""), texts)
    columns = st.tuples(value, st.lists(some, min_size=rows - 1, max_size=rows - 1))
    return st.dictionaries(column_names, columns.map(lambda column: [column[0], *column[1]]), max_size=3)


def _categories(feature_names: list[str]) -> st.SearchStrategy[dict[str, list[str]]]:
    values = st.lists(_ANY_ID.filter(bool), max_size=4, unique=True)
    return st.dictionaries(st.sampled_from(feature_names), values, max_size=2)


def _unique(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(_ANY_ID, min_size=count, max_size=count, unique=True)


def assert_same(found: RankingDataset, expected: RankingDataset) -> None:
    """Assert equality of all fields.

    Features and labels are compared with the sign of 0; any NaN equals any NaN.
    """
    assert found.query_ids == expected.query_ids
    assert found.document_ids == expected.document_ids
    assert found.feature_names == expected.feature_names
    assert dict(found.query_columns) == dict(expected.query_columns)
    assert dict(found.document_columns) == dict(expected.document_columns)
    assert dict(found.categories) == dict(expected.categories)
    np.testing.assert_array_equal(found.query_boundaries, expected.query_boundaries, strict=True)
    for ours, theirs in ((found.matrix, expected.matrix), (found.labels, expected.labels)):
        np.testing.assert_array_equal(ours, theirs, strict=True)
        present = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(ours[present]), np.signbit(theirs[present]))
    for weights, wanted in (
        (found.query_weights, expected.query_weights),
        (found.document_weights, expected.document_weights),
    ):
        assert (weights is None) == (wanted is None)
        if weights is not None and wanted is not None:
            np.testing.assert_array_equal(weights, wanted, strict=True)
