"""Ids have one spelling, whatever the type of their column and the format of the data."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, read_dataset
from core.data.trec.join import join_run
from core.data.trec.run import Run
from core.errors import DatasetError
from rankery.client.frames.runs import run_of_mapping, scores_table
from rankery.errors import DataUnusable, InvalidArgument
from rankery.identifiers import normalise_ids
from rankery.query_groups import group_by_ids

BARCODE = 4006381333931
LABELS = [1.0, 0.0, 2.0, 0.0]


def _csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path.with_suffix(".csv"), index=False)


def _tsv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path.with_suffix(".csv"), index=False, sep="\t")


def _pandas(frame: pd.DataFrame, path: Path) -> None:
    frame.to_parquet(path.with_suffix(".parquet"), index=False)


def _polars(frame: pd.DataFrame, path: Path) -> None:
    pl.from_pandas(frame).write_parquet(path.with_suffix(".parquet"))


def _dictionaries(frame: pd.DataFrame, path: Path) -> None:
    table = pa.table(
        {
            name: pa.chunked_array(pa.array(column).dictionary_encode()) if "id" in name else pa.array(column)
            for name, column in frame.items()
        }
    )
    pq.write_table(table, path.with_suffix(".parquet"))


WRITERS = pytest.mark.parametrize("write", [_csv, _tsv, _pandas, _polars, _dictionaries])
Write = Callable[[pd.DataFrame, Path], None]


def _frame(queries: Any, documents: Any) -> pd.DataFrame:
    columns = {"query_id": queries, "document_id": documents, "label": LABELS, "f": [0.5, 1.5, 2.5, 3.5]}
    return pd.DataFrame(columns)


def _read(folder: Path) -> tuple[tuple[str, ...], list[str]]:
    (path,) = folder.iterdir()
    dataset = read_dataset(path)
    return dataset.query_ids, list(dataset.document_ids)


@WRITERS
@pytest.mark.parametrize(
    "numbers",
    [
        [1, 2, 3, 4],
        [0, -1, 10**10, BARCODE],
        [2**53 - 1, 2**52 + 1, 123456789012, 7],
    ],
    ids=["small", "barcodes", "the largest"],
)
@pytest.mark.parametrize("kind", ["int64", "float64", "object", "Int64"])
def test_whole_numbers_are_spelled_as_integers(
    tmp_path: Path, write: Write, numbers: list[int], kind: str
) -> None:
    """Columns of integers, floats and texts have the same spelling, as each library writes them."""
    documents = pd.Series([str(number) for number in numbers] if kind == "object" else numbers, dtype=kind)
    queries = pd.Series([numbers[0]] * 2 + [numbers[1]] * 2, dtype="float64")
    write(_frame(queries, documents), tmp_path / "x")
    assert _read(tmp_path) == (
        (str(numbers[0]), str(numbers[1])),
        [str(number) for number in numbers],
    )


@WRITERS
def test_a_query_without_an_id_is_refused_with_its_row(tmp_path: Path, write: Write) -> None:
    """NaN is a missing id, as null is: rows with NaN do not become one query."""
    write(_frame([1.0, 1.0, np.nan, 2.0], ["a", "b", "c", "d"]), tmp_path / "x")
    with pytest.raises(DatasetError, match="query id, but found an empty cell") as caught:
        _read(tmp_path)
    assert {problem.column for problem in caught.value.problems} == {"query_id"}


@pytest.mark.parametrize(
    ("kind", "number"), [(np.float64, 2.0**53), (np.float32, 2.0**24), (np.float64, np.inf)]
)
def test_numbers_beyond_the_exact_range_of_their_type_are_refused_as_ids(
    tmp_path: Path, kind: type, number: float
) -> None:
    """A neighbouring whole number may have become the same number."""
    _pandas(_frame(["a", "a", "b", "b"], np.array([1, 2, 3, number], kind)), tmp_path / "x")
    with pytest.raises(DatasetError, match="represents exactly"):
        _read(tmp_path)
    with pytest.raises(InvalidArgument, match="document 3, counted from 0"):
        group_by_ids(np.array([1, 2, 3, number], kind), 4)


def test_a_refused_id_is_not_reported_as_an_empty_cell(tmp_path: Path) -> None:
    """A value that is no id has one problem; only missing ids are empty cells."""
    _pandas(_frame([1.5, np.nan, 2.5, 3.0], ["a", "b", "c", "d"]), tmp_path / "x")
    with pytest.raises(DatasetError) as caught:
        _read(tmp_path)
    found = [(problem.line, problem.text) for problem in caught.value.problems]
    assert found == [(1, "1.5"), (2, ""), (3, "2.5")]


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        (["1.0", "2.00", "-0.0", "1.5"], ["1", "2", "0", "1.5"]),
        (["00.0", "+1.0", "1e5", "1."], ["00.0", "+1.0", "1e5", "1."]),
        (["-0", "-0.0", "-1.0", "-00.0"], ["-0", "0", "-1", "-00.0"]),
        (["", "nan", "NaN", "NA"], [None, None, None, "NA"]),
        ([b"a", 2**70, np.float32(3), Decimal("4.00")], ["a", str(2**70), "3", "4"]),
        ([Decimal("0.0000000"), Decimal("5.0000000")], ["0", "5"]),
        ([None, np.nan, pd.NA, pd.NaT], [None] * 4),
        (np.array([1, 2], ">i4"), ["1", "2"]),
    ],
)
def test_each_id_is_spelled_by_itself(given: Any, spelled: list[str | None]) -> None:
    """A text such as `2.00` becomes `2`, whatever the other ids are; other spellings of numbers stay."""
    found = normalise_ids(given)
    assert found.texts.to_pylist() == spelled
    assert not len(found.invalid)
    for value, text in zip(given, spelled, strict=True):
        assert normalise_ids([value]).texts.to_pylist() == [text]


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        np.float32(0.1),
        2.0**60,
        np.inf,
        Decimal("1.10"),
        Decimal("0.0000001"),
        True,
        pd.Timestamp("2024-05-01"),
        1j,
        "9" * 16 + ".0",
    ],
)
def test_values_without_one_exact_spelling_are_refused_as_ids(value: Any) -> None:
    """Fractions, inexact whole numbers and other types are refused, in lists and in typed arrays."""
    assert normalise_ids([value]).invalid.tolist() == [0]
    assert normalise_ids(["a", value, None]).invalid.tolist() == [1]
    assert normalise_ids(np.array([value])).invalid.tolist() == [0]
    with pytest.raises(InvalidArgument, match="document 1, counted from 0, has"):
        group_by_ids(["a", value], 2)


def test_invalid_ids_in_text_files_are_reported_by_line_and_column(tmp_path: Path) -> None:
    """LETOR text and the files of TREC are refused with the position of the id."""
    path = tmp_path / "x.txt"
    path.write_text("1 qid:1 1:1\n1 qid:nan 1:1\n")
    with pytest.raises(DatasetError, match="line 2, column 7: expected a query id, but found 'nan'"):
        read_dataset(path)
    path.write_text("1 qid:1 1:1\n1 qid:1 1:1 # 9007199254740993.0\n")
    with pytest.raises(DatasetError, match=r"line 2, column 15: expected an id, .* '9007199254740993.0'"):
        read_dataset(path)
    path.write_text("1.0 0 a 1\nnan 0 a 1\n")
    with pytest.raises(DatasetError, match=r"line 2, column 1: expected an id, .* found 'nan'"):
        read_dataset(path)


def test_runs_join_datasets_of_earlier_releases() -> None:
    """Earlier releases stored ids such as `1.0`; they match the id `1` of a run."""
    dataset = RankingDataset.from_arrays(
        np.empty((2, 0)), [1.0, 0.0], [0, 2], query_ids=["1.0"], document_ids=["7.0", "8.0"]
    )
    joined = join_run(dataset, Run.from_columns(["1", "1"], ["7", "8"], [2.0, 1.0]))
    assert joined.scores.tolist() == [2.0, 1.0]


def test_ids_of_runs_are_normalised() -> None:
    """Whole floating-point numbers in a frame, or as keys of a mapping, are spelled as integers."""
    frame = pd.DataFrame({"query_id": [1.0, 1.0], "document_id": [float(BARCODE), 2.0], "score": [2.0, 1.0]})
    run = scores_table(frame)
    assert run.column("query").to_pylist() == ["1", "1"]
    assert run.column("document").to_pylist() == [str(BARCODE), "2"]
    (line, *_) = run_of_mapping({1.0: {float(BARCODE): 2.0}, b"q": {b"d": 1.0}})
    assert line.split()[:3] == ["1", "Q0", str(BARCODE)]
    with pytest.raises(DataUnusable, match=r"row 0, column 'document_id': expected an id, .* exactly"):
        scores_table(frame.assign(document_id=2.0**60))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_query_ids_of_arrays_are_named(missing: object) -> None:
    """Each library's value for a missing id is found."""
    with pytest.raises(InvalidArgument, match="no query for document 1, counted from 0"):
        group_by_ids(np.array(["a", missing, "b"], object), 3)
