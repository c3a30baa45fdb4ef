"""Columns of lists of numbers, which become blocks of features."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset
from core.data.feature_choice import block_features, feature_blocks
from core.data.options import Limits, reading_options
from core.data.reading import JudgedFile, read_file, read_unjudged
from core.data.tables import parquet_file
from core.errors import DatasetError, InvalidInput

JUDGED: dict[str, Any] = {"label": [2, 0, 1, 0], "query_id": ["a", "a", "b", "b"]}
LISTS: list[list[Any] | None] = [[1, 2, 3], None, [4, None, 6], [7, 8, 9]]
MATRIX = np.array([[1, 2, 3], [np.nan] * 3, [4, np.nan, 6], [7, 8, 9]], np.float32)
NAMES = ("emb.0", "emb.1", "emb.2")


def _file(folder: Path, columns: dict[str, Any], **options: Any) -> JudgedFile:
    path = folder / "judged.parquet"
    pq.write_table(pa.table(columns), path, **options)
    return JudgedFile(path, "judged.parquet")


def _read(folder: Path, table: dict[str, Any], **options: Any) -> RankingDataset:
    return read_file(_file(folder, {**JUDGED, **table}), reading_options(options)).dataset


def _error_of(folder: Path, table: dict[str, Any], **options: Any) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        _read(folder, table, **options)
    return caught.value


@pytest.mark.parametrize(
    "number", [pa.float32(), pa.float64(), pa.float16(), pa.int8(), pa.uint64(), pa.decimal128(5, 2)], ids=str
)
@pytest.mark.parametrize("make", [lambda number: pa.list_(number, 3), pa.list_, pa.large_list])
def test_each_number_of_a_list_is_a_feature(tmp_path: Path, make: Any, number: Any) -> None:
    """Lists may have any type of numbers; a null list and a null number in a list are missing values."""
    lists = pa.array([row and [None if one is None else float(one) for one in row] for row in LISTS])
    dataset = _read(tmp_path, {"emb": lists.cast(make(number))})
    assert dataset.feature_names == NAMES
    np.testing.assert_array_equal(dataset.matrix, MATRIX)


def test_blocks_keep_the_places_of_their_columns(tmp_path: Path) -> None:
    """Blocks are among the other features, in the order of the table or of the named columns."""
    columns = {"bm25": [1.0, 2, 3, 4], "emb": pa.array(LISTS), "brand": list("xyxx"), "price": [5, 6, 7, 8]}
    whole = _read(tmp_path, columns, columns={"categorical_features": ["brand"]})
    assert whole.feature_names == ("bm25", *NAMES, "brand", "price")
    np.testing.assert_array_equal(whole.matrix[:, 1:4], MATRIX)
    np.testing.assert_array_equal(whole.matrix[:, [0, 4, 5]].T, [[1, 2, 3, 4], [0, 1, 0, 0], [5, 6, 7, 8]])
    assert whole.categories["brand"].values == ("x", "y")
    named = _read(tmp_path, columns, columns={"features": ["price", "emb"], "ignore": ["bm25", "brand"]})
    assert named.feature_names == ("price", *NAMES)
    np.testing.assert_array_equal(named.matrix[:, 1:], MATRIX)


def test_scattered_queries_keep_their_lists(tmp_path: Path) -> None:
    """Rows are gathered with all features of a block."""
    dataset = _read(tmp_path, {"query_id": ["a", "b", "a", "b"], "emb": pa.array(LISTS)})
    np.testing.assert_array_equal(dataset.matrix, MATRIX[[0, 2, 1, 3]])


def test_blocks_are_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wide lists are read a few rows at a time, to the same values; the first may be in a later batch."""
    values = np.random.default_rng(0).normal(size=(1000, 8)).astype(np.float32)
    lists = [None] * 600 + values[600:].tolist()
    columns = {"label": np.zeros(1000), "query_id": np.arange(1000) // 10, "emb": pa.array(lists)}
    file = _file(tmp_path, columns, row_group_size=300)
    monkeypatch.setattr(parquet_file, "_BATCH_CELLS", 8 * 7)
    dataset = read_file(file).dataset
    assert np.isnan(dataset.matrix[:600]).all()
    np.testing.assert_array_equal(dataset.matrix[600:], values[600:])


def test_a_column_of_lists_can_be_ignored_and_renamed(tmp_path: Path) -> None:
    """The name of the column applies to all features that its lists become."""
    columns = {"bm25": [1.0, 2, 3, 4], "emb": pa.array(LISTS)}
    assert _read(tmp_path, columns, columns={"ignore": ["emb"]}).feature_names == ("bm25",)
    renamed = _read(tmp_path, columns, feature_names={"emb": "title"})
    assert renamed.feature_names == ("bm25", "title.0", "title.1", "title.2")


def test_usual_names_give_lists_no_role(tmp_path: Path) -> None:
    """`query` beside `query_id` may be the embedding of the query."""
    dataset = _read(tmp_path, {"query": pa.array(LISTS), "url": pa.array([[1.0]] * 4)})
    assert dataset.feature_names == ("query.0", "query.1", "query.2", "url.0")
    assert dataset.query_ids == ("a", "b")


def test_a_list_of_another_length_is_named_by_row_and_column(tmp_path: Path) -> None:
    """An empty list is refused, too; the file may be read without the column."""
    error = _error_of(tmp_path, {"emb": pa.array([[1.0, 2], [1], None, []]), "bm25": [1.0] * 4})
    assert [(problem.line, problem.column, problem.text) for problem in error.problems] == [
        (2, "emb", "a list of 1"),
        (4, "emb", "a list of 0"),
    ]
    assert error.problems[0].detail == (
        "expected a list of 2 numbers as in the first rows, but found a list of 1;"
        " or name 'emb' in columns.ignore"
    )
    (cause,) = error.causes
    assert (cause.cause, cause.count, cause.can_ignore) == ("list_length", 2, True)


def test_a_number_beyond_float32_is_named_by_its_feature(tmp_path: Path) -> None:
    """An infinite number is kept, as in other columns."""
    error = _error_of(tmp_path, {"emb": pa.array([[1.0, 2], None, [np.inf, -1e39], [0, 0]])})
    (problem,) = error.problems
    assert (problem.line, problem.column, problem.text) == (3, "emb", "-1e+39")
    assert "expected emb.1 within float32's range of 3.4e38, but found -1e+39" in problem.detail


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        (
            {"emb": pa.array(LISTS), "emb.1": [1, 2, 3, 4]},
            {},
            "expected no column 'emb.1', because the lists of column 'emb'",
        ),
        ({"emb": pa.array(LISTS)}, {"columns": {"label": "emb"}}, "a label, a number such as 2, but column"),
        (
            {"emb": pa.array(LISTS), "x": [1] * 4},
            {"columns": {"query": "emb"}},
            "a query id, but column 'emb'",
        ),
        (
            {"emb": pa.array(LISTS), "x": [1] * 4},
            {"columns": {"document": "emb"}},
            "a document id, but column",
        ),
        (
            {"emb": pa.array(LISTS)},
            {"columns": {"categorical_features": ["emb"]}},
            "true, false or a whole number, but column 'emb'",
        ),
        (
            {"x": [1] * 4, "emb": pa.array([["a"]] * 4)},
            {},
            "text or lists of numbers, but emb have",
        ),
        ({"x": [1] * 4, "emb": pa.array([[], None] * 2, pa.list_(pa.int8()))}, {}, "but emb have"),
        ({"x": [1] * 4, "emb": pa.array([[[1.0]]] * 4)}, {}, "but emb have"),
    ],
)
def test_columns_that_cannot_be_blocks_are_refused(
    tmp_path: Path, columns: dict[str, Any], options: dict[str, Any], expected: str
) -> None:
    """The error names the column."""
    assert expected in str(_error_of(tmp_path, columns, **options))


def test_an_ignored_column_causes_no_clash_of_names(tmp_path: Path) -> None:
    """Names of features, those of lists included, must all be different."""
    columns = {"emb": pa.array(LISTS), "emb.1": [1, 2, 3, 4]}
    assert _error_of(tmp_path, columns).problems[0].column == "emb"
    assert _read(tmp_path, columns, columns={"ignore": ["emb.1"]}).feature_names == NAMES
    with pytest.raises(InvalidInput, match="must all be different"):
        _read(tmp_path, {"e": pa.array(LISTS), "emb.1": [1, 2, 3, 4]}, feature_names={"e": "emb"})


def test_features_of_lists_are_counted(tmp_path: Path) -> None:
    """The features of lists count towards the largest allowed number of features."""
    file = _file(tmp_path, {**JUDGED, "emb": pa.array(LISTS), "x": pa.array(LISTS)})
    with pytest.raises(
        DatasetError, match="expected at most 5 features, but the columns and their lists hold 6"
    ):
        read_file(file, limits=Limits(features=5))
    assert read_file(file, limits=Limits(features=6)).dataset.n_features == 6


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (("bm25", *NAMES), NAMES),
        (("emb.1",), NAMES),  # a model without the other numbers of the list, which are ignored later
        (("emb", "other.0"), ("other.0", "other.1", "other.2")),
    ],
)
def test_documents_to_rank_may_have_lists(
    tmp_path: Path, features: Sequence[str], expected: Sequence[str]
) -> None:
    """Only lists of which the model has features are read."""
    file = _file(tmp_path, {"query_id": JUDGED["query_id"], "emb": pa.array(LISTS), "other": pa.array(LISTS)})
    dataset = read_unjudged(file, features).dataset
    assert dataset.feature_names == tuple(expected)
    np.testing.assert_array_equal(dataset.matrix, MATRIX)


def test_documents_to_rank_have_all_numbers_that_the_model_uses(tmp_path: Path) -> None:
    """Lists that are too short, which may be of another encoder, are refused."""
    file = _file(tmp_path, {"query_id": JUDGED["query_id"], "emb": pa.array(LISTS)})
    with pytest.raises(
        DatasetError, match="column emb: expected lists of at least 4 numbers, which the model"
    ):
        read_unjudged(file, block_features("emb", 4))


@pytest.mark.parametrize(
    ("names", "blocks"),
    [
        (("bm25", *NAMES, "x"), {"emb": range(1, 4)}),
        (("a.0", "b.0", "b.1"), {"a": range(1), "b": range(1, 3)}),
        (("emb.0", "emb.2"), {}),
        (("emb.1", "emb.0"), {}),
        (("emb.0", "x", "emb.1"), {}),
        (("emb", "emb.0"), {}),
        (("emb.00", "emb.", ".0", "v1.5"), {}),
        (("a.0.0", "a.0.1"), {"a.0": range(2)}),
    ],
)
def test_blocks_are_found_by_their_names(names: Sequence[str], blocks: dict[str, range]) -> None:
    """A block has all numbers from 0 side by side, in order; the name of a feature is not a block."""
    assert dict(feature_blocks(names)) == blocks
