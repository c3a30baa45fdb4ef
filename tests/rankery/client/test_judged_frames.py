"""Mistakes in judged frames, named by row and column before anything is sent."""

import decimal
import warnings
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from core.data.options import COLUMN_LISTS, ROLES
from rankery.client.arguments import Columns
from rankery.client.frames.incoming import (
    as_table,
    is_frame,
    sizes_or_ids,
    table_of_arrays,
    temporary_parquet,
)
from rankery.client.frames.judged import checked_columns
from rankery.client.frames.runs import warn_if_reordered
from rankery.errors import DataUnusable, DataWarning, InvalidArgument

FRAME = pandas.DataFrame(
    {
        "query": ["a", "a", "a", "b", "b"],
        "label": [0, 2, 1, 0, 1],
        "bm25": [3.0, 2.0, 1.0, 5.0, 4.0],
        "brand": ["x", "y", "x", "y", "y"],
        "market": ["de", "de", "de", "at", "at"],
    },
    index=[10, 11, 12, 13, 14],
)


def _check(frame: Any, columns: Columns | None = None) -> Columns:
    return checked_columns(frame, as_table(frame), columns)


def test_a_frame_has_the_roles_of_the_service() -> None:
    """Texts of documents may be kept without being features, as in files."""
    assert set(Columns.__annotations__) == {*ROLES, *COLUMN_LISTS}
    assert _check(FRAME, {"document_columns": ["brand"]}) == {"document_columns": ["brand"]}


def test_the_first_of_the_usual_names_goes_before_the_others() -> None:
    """The columns of a shop are accepted as the service reads them: further ids describe the document."""
    shop = pandas.DataFrame(
        {
            "query_id": [1, 1, 2],
            "query": ["shoes", "shoes", "hats"],
            "document_id": ["a", "b", "a"],
            "product_id": ["x", "y", "x"],
            "label": [1, 0, 1],
            "price": [1.0, 2.0, 3.0],
        }
    )
    assert _check(shop) == {}
    with pytest.raises(DataUnusable, match="column 'product_id': texts differ within query"):
        _check(shop, {"document": "document_id"})


@pytest.mark.parametrize(
    ("changes", "columns", "sentence"),
    [
        ({"brand": 1.0}, {"label": "labl"}, r"no column 'labl', .*did you mean 'label'"),
        ({"brand": 1.0}, {"labels": "label"}, r"columns has no 'labels'; did you mean 'label'"),
        ({"label": ["0", "2", "x", "0", "1"], "brand": 1.0}, None, r"row 2 .*, column 'label'.*found 'x'"),
        ({"bm25": ["3", "2", "?", "5", "4"], "brand": 1.0}, None, r"row 2 .*, column 'bm25'.*found '\?'"),
        ({"bm25": [3.0, "high", 1.0, 5.0, 4.0]}, None, r"row 1 \(index 11\), column 'bm25'.*found 'high'"),
        ({"query": ["1", 1, 1, 2, 2]}, None, r"if it has ids, convert them to texts: frame\['query'\]"),
        ({"bm25": ["a", "b", 1.0, "c", "d"]}, None, r"row 2 \(index 12\), column 'bm25': expected a text"),
        ({"label": ["good", *["bad"] * 4]}, None, r"row 0 .*; map .*: frame\['label'\]\.map\(\{'good': 2"),
        ({"label": [1, np.inf, 0, 0, 1]}, None, r"row 1 \(index 11\), column 'label': the label is infinite"),
        ({"weight": [1, 1, 2, 1, 1], "brand": 1}, None, r"row 2 .*'weight': weights differ within"),
        ({"weight": [1, 1, 1, 1, np.nan]}, None, r"row 4 .*'weight': expected a finite weight .* .*nan"),
        ({"w": [1, 2, 3, -4, 5]}, {"document_weight": "w"}, r"row 3 .*'w': expected a finite weight .*-4"),
        ({"at": pandas.to_datetime([*"12345"], format="%d"), "brand": 1}, None, r"row 1 .*'at': times that"),
        ({"age": pandas.to_timedelta([1] * 5), "brand": 1}, None, r"^column 'age': durations are"),
        ({"query": ["a", None, "a", "b", "b"]}, None, r"row 1 .*, column 'query': the query is missing"),
        ({}, None, r"row 1 \(index 11\), column 'brand': texts differ within query 'a' \('x', 'y'\)"),
        ({}, None, r"if it has the ids of documents, name it in columns=\{'document': 'brand'\}; if it is a"
         r" feature, name it in columns=\{'categorical_features': \['brand'\]\}, else name it in columns="),
        ({"doc": range(5)}, None, r"\('x', 'y'\); if it is a feature, name it"),
        ({"brand": ["1", "2", "3", "4", ""]}, None, r"numbers: pandas\.to_numeric\(frame\['brand'\], "),
        ({"bm25": [2**70] * 5, "brand": 1.0}, None, r"the data frame cannot be read: .*too large"),
        ({"brand": pandas.cut(range(5), 2)}, None, r"column 'brand': .*frame\['brand'\]\.astype\(str\)"),
        ({"brand": ["1,5", "2,0", "3,1", "4", None]}, None, r"numeric\(frame\['brand'\]\.str\.replace\("),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_its_cell(changes: dict[str, Any], columns: Any, sentence: str) -> None:
    """The error has the row's position and index, the column, and a remedy."""
    with pytest.raises(DataUnusable, match=sentence):
        _check(FRAME.assign(**changes), columns)


def test_a_frame_without_rows_is_refused() -> None:
    """A filter that keeps nothing is noticed before the upload."""
    with pytest.raises(DataUnusable, match=r"^the frame has no rows$"):
        _check(FRAME.head(0))


@pytest.mark.parametrize(
    "columns",
    [
        {"document_weight": "weight"},
        {"features": ["bm25", "weight"]},
        {"document_columns": ["weight"]},
        {"ignore": ["weight"]},
    ],
)
def test_a_column_with_another_role_is_not_read_as_query_weights(columns: Columns) -> None:
    """A column called `weight` need not be equal within a query if the caller gives it another role."""
    frame = FRAME.assign(weight=[1, 1, 2, 1, 1]).drop(columns="brand")
    assert _check(frame, columns) == columns


def test_an_ignored_id_leaves_another_column_as_document() -> None:
    """The document is detected among the columns that the caller gives no role, as the service does it."""
    frame = FRAME.assign(doc_id=1, product_id=[*"vwxyz"]).drop(columns="brand")
    assert _check(frame, {"ignore": ["doc_id"]}) == {"ignore": ["doc_id"]}


def test_advice_on_texts_that_are_numbers_suits_the_library() -> None:
    """Frames of other libraries than pandas get no code of pandas."""
    frame = polars.from_pandas(FRAME.assign(brand=["1,5", "2,0", "3,1", "4", None]))
    with pytest.raises(DataUnusable, match="convert its texts to numbers, else name it"):
        _check(frame)


def test_the_error_of_a_missing_column_suggests_another() -> None:
    """The error suggests the frame's most similar column name, or that of its index."""
    indexed = FRAME.drop(columns="brand").set_index("query")
    with pytest.raises(
        DataUnusable, match=r"no query column.*; the index has 'query': frame\.reset_index\(\)"
    ):
        _check(indexed)
    with pytest.raises(DataUnusable, match=r"no label column was found: .*did you mean 'lable'"):
        _check(FRAME.rename(columns={"label": "lable"}))


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (FRAME.assign(label=[0, np.nan, 1, 0, np.nan]), r"row 1 \(index 11\), column 'label'.*and 1 more"),
        (
            FRAME.iloc[[0, 3, 1, 2, 4]],
            r"the rows of 2 queries are not contiguous, first row 2 \(index 11\)",
        ),
        (FRAME.head(3), r"all 3 rows belong to one query, 'a'"),
    ],
)
def test_unusual_but_possible_data_are_a_warning(frame: pandas.DataFrame, sentence: str) -> None:
    """Unjudged documents, scattered rows and single queries raise a warning that points at the caller."""
    with pytest.warns(DataWarning, match=sentence) as warned:
        _check(frame.drop(columns="brand"))
    assert [one.filename for one in warned] == [__file__]


def test_types_declare_categories() -> None:
    """Categorical types declare a feature if it varies within a query; a constant describes the query."""
    frame = FRAME.astype({"brand": "category", "market": "category"})
    polar = polars.from_pandas(FRAME).with_columns(polars.col("brand", "market").cast(polars.Categorical))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for one in (frame, polar):
            assert _check(one).get("categorical_features") == ["brand"]
    assert _check(frame, {"ignore": ["brand"]}).get("categorical_features") is None


def test_numbers_declared_as_categories_stay_categories() -> None:
    """A number declared as a category is a feature, even if it is constant within each query."""
    shop = FRAME.assign(shop=[30, 30, 30, 7, 7])
    polar = polars.from_pandas(shop)
    assert _check(shop.astype({"shop": "category"}), {"ignore": ["brand"]})["categorical_features"] == [
        "shop"
    ]
    assert "categorical_features" not in _check(polar, {"ignore": ["brand"]})
    rounded = FRAME.assign(shop=pandas.Series([2**24, 7, 7, 7, 8], FRAME.index, "float32"))
    assert "categorical_features" not in _check(rounded.astype({"shop": "category"}), {"ignore": ["brand"]})


def test_a_missing_category_is_a_separate_value() -> None:
    """A query with one market and a missing value has two categories, and no cast raises a warning."""
    gaps = FRAME.assign(market=["de", None, "de", "at", "at"], shop=[3, None, 3, 4, 4])
    frame = gaps.astype({"market": "category", "brand": "category"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _check(frame)["categorical_features"] == ["brand", "market"]


def test_a_group_is_sizes_or_queries() -> None:
    """The group is sizes, as in LightGBM, or a query per document; an ambiguous group is refused."""
    assert sizes_or_ids([2, 3], 5)["query_sizes"].tolist() == [2, 3]
    assert list(sizes_or_ids(["a", "a", "b"], 3)["query_ids"]) == ["a", "a", "b"]
    with pytest.raises(InvalidArgument, match="could be sizes or ids"):
        sizes_or_ids([1, 1, 1], 3)
    with pytest.raises(InvalidArgument, match="which add up to 5"):
        sizes_or_ids([2, 2], 5)


def test_single_columns_are_refused_as_frames() -> None:
    """A Series is refused, although it has Arrow's interface as frames do."""
    assert all(map(is_frame, (FRAME, as_table(FRAME), polars.from_pandas(FRAME))))
    series = FRAME.loc[:, "bm25"]
    for column in (series, polars.Series([1.0]), as_table(FRAME.copy()).column(0), [1.0], None):
        assert not is_frame(column)


def test_sparse_features_are_dense_in_a_dataset() -> None:
    """Elements that a sparse matrix omits are 0, not missing."""
    scipy_sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed: make develop")
    sparse = scipy_sparse.csr_matrix([[0.0, 2.0], [3.0, 0.0]])
    assert table_of_arrays(sparse).to_pydict() == {"f1": [0.0, 3.0], "f2": [2.0, 0.0]}


def test_a_wrong_number_of_columns_is_refused_with_the_names() -> None:
    """`predict` of a model with two features refuses three columns."""
    with pytest.raises(DataUnusable, match=r"3 columns and 2 names \(bm25, age\); give a column for each"):
        table_of_arrays(np.zeros((4, 3)), feature_names=["bm25", "age"])


def test_arrays_of_objects_hold_values_of_one_type() -> None:
    """Missing values of pandas are read; the error of mixed types has the column."""
    objects = np.array([[1, "a"], [pandas.NA, "b"]], object)
    ids: dict[str, Any] = {"query_ids": ["q", "q"], "labels": [0, 1]}
    assert table_of_arrays(objects, **ids).column("f1").to_pylist() == [1, None]
    for mixed in ({"labels": np.array([0, "1"], object)}, {"features": objects.T}):
        arguments: dict[str, Any] = {"features": objects, **ids, **mixed}
        with pytest.raises(DataUnusable, match=r"(label|f1): the values are not of one type"):
            table_of_arrays(**arguments)


def test_sparse_columns_of_a_frame_are_dense_in_a_dataset() -> None:
    """Other columns keep their types."""
    frame = FRAME.assign(bm25=pandas.arrays.SparseArray([0.0, 2.0, 0.0, 0.0, 4.0]))
    table = as_table(frame)
    assert table.column("bm25").to_pylist() == [0.0, 2.0, 0.0, 0.0, 4.0]
    assert table.column("label").type == as_table(FRAME).column("label").type


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            ["label", "query", "bm25", "bm25"],
            r"^two columns are named 'bm25'; rename one, or keep the first:",
        ),
        (
            pandas.MultiIndex.from_product([["x", "y"], ["a", "b"]]),
            r"^the names of columns have 2 levels; join",
        ),
    ],
)
def test_ambiguous_names_of_columns_are_refused_with_advice(names: Any, sentence: str) -> None:
    """The advice is an expression of pandas."""
    with pytest.raises(DataUnusable, match=sentence):
        as_table(pandas.DataFrame(np.zeros((2, 4)), columns=names))


def test_columns_of_another_order_than_their_frame_are_refused() -> None:
    """Labels and ids are matched with features by position, which a sorted Series would break."""
    features, labels = FRAME[["bm25"]], FRAME["label"]
    table = table_of_arrays(features, labels=labels, query_ids=FRAME["query"])
    assert table.column("label").to_pylist() == [0, 2, 1, 0, 1]
    with pytest.raises(
        InvalidArgument, match=r"^labels: the index has the labels of the index of features in"
    ):
        table_of_arrays(features, labels=labels.sort_values(), query_ids=FRAME["query"])
    with pytest.raises(InvalidArgument, match=r"^query_ids: the index"):
        table_of_arrays(features, **sizes_or_ids(FRAME["query"][::-1], len(features)))


@pytest.mark.parametrize(
    ("rows", "queries", "is_reordered"),
    [([2, 0, 1], None, True), ([0, 1, 2], None, False), ([7, 5, 6], None, False), ([0, 2, 1], "aab", False)],
)
def test_scores_with_a_reordered_index_raise_a_warning(
    rows: list[int], queries: str | None, is_reordered: bool
) -> None:
    """Scores are matched by their order, within queries if they are given."""
    scores = pandas.Series([0.1, 0.2, 0.3], index=rows)
    with warnings.catch_warnings(record=True, action="always") as caught:
        warn_if_reordered(scores, None if queries is None else np.array(list(queries)))
    assert [warning.category for warning in caught] == [DataWarning] * is_reordered


def test_whole_decimals_keep_their_digits() -> None:
    """Databases return 64-bit ids as decimals; fractions and larger numbers become float64."""
    digits = [decimal.Decimal(9007199254740993), None]
    table = pa.table(
        {
            "document": digits,
            "price": [decimal.Decimal("1.5"), None],
            "size": pa.array([10**30, None], pa.decimal128(38, 0)),
        }
    )
    assert as_table(table).to_pydict() == {
        "document": [9007199254740993, None],
        "price": [1.5, None],
        "size": [1e30, None],
    }


@pytest.mark.parametrize(
    "column",
    [
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array([[(1, 2, 3)]], pa.list_(pa.month_day_nano_interval())),
        pa.array([2.0], pa.run_end_encoded(pa.int32(), pa.float64())),
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array(["b"])]),
    ],
)
def test_a_column_of_a_type_that_parquet_lacks_is_named(column: Any) -> None:
    """DuckDB returns intervals in this type."""
    table = pa.table({"query": ["a"], "waited": column})
    with pytest.raises(DataUnusable, match=r"^a column cannot be sent, .*: 'waited' \(.*type"):
        temporary_parquet(table).__enter__()
