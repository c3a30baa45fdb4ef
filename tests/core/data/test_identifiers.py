"""Ids are spelled alike, whatever type their column has and whichever way they come in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import read_dataset
from core.errors import DatasetError
from rankery.client.frames.runs import run_of_frame, run_of_mapping
from rankery.errors import DataUnusable, InvalidArgument
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


WAYS = pytest.mark.parametrize("write", [_csv, _tsv, _pandas, _polars, _dictionaries])
Write = Callable[[pd.DataFrame, Path], None]


def _frame(queries: Any, documents: Any) -> pd.DataFrame:
    columns = {"query_id": queries, "document_id": documents, "label": LABELS, "f": [0.5, 1.5, 2.5, 3.5]}
    return pd.DataFrame(columns)


def _read(folder: Path) -> tuple[tuple[str, ...], list[str]]:
    (path,) = folder.iterdir()
    dataset = read_dataset(path)
    return dataset.query_ids, list(dataset.document_ids)


@WAYS
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
    """In a column of integers, of floating-point numbers, of texts; as written by each library."""
    documents = pd.Series([str(number) for number in numbers] if kind == "object" else numbers, dtype=kind)
    queries = pd.Series([numbers[0]] * 2 + [numbers[1]] * 2, dtype="float64")
    write(_frame(queries, documents), tmp_path / "x")
    assert _read(tmp_path) == (
        (str(numbers[0]), str(numbers[1])),
        [str(number) for number in numbers],
    )


@WAYS
def test_a_query_without_an_id_is_refused_with_its_row(tmp_path: Path, write: Write) -> None:
    """NaN joins no rows: it is as missing as null is."""
    write(_frame([1.0, 1.0, np.nan, 2.0], ["a", "b", "c", "d"]), tmp_path / "x")
    with pytest.raises(DatasetError, match="query id, but found an empty cell") as caught:
        _read(tmp_path)
    assert {problem.column for problem in caught.value.problems} == {"query_id"}


@pytest.mark.parametrize(
    ("kind", "number"), [(np.float64, 2.0**53), (np.float32, 2.0**24), (np.float64, np.inf)]
)
def test_numbers_that_a_type_no_longer_tells_apart_are_no_ids(
    tmp_path: Path, kind: type, number: float
) -> None:
    """The whole number beside it may have become the same one."""
    _pandas(_frame(["a", "a", "b", "b"], np.array([1, 2, 3, number], kind)), tmp_path / "x")
    with pytest.raises(DatasetError, match="holds exactly"):
        _read(tmp_path)
    with pytest.raises(InvalidArgument, match="document 3, counted from 0"):
        group_by_ids(np.array([1, 2, 3, number], kind), 4)


def test_other_numbers_and_bytes_are_what_they_look_like(tmp_path: Path) -> None:
    """Fractions as Python writes them, bytes as their text, decimals without a fraction of zeros."""
    table = pa.table(
        {
            "query_id": pa.array([b"q", b"q", b"r", b"r"], pa.binary()),
            "document_id": pa.array([1.5, 2.0, 1e-7, -0.0]),
            "label": LABELS,
            "f": [0.5, 1.5, 2.5, 3.5],
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    assert _read(tmp_path) == (("q", "r"), ["1.5", "2", "1e-07", "0"])
    assert group_by_ids(np.array([b"q", b"r"]), 2).query_ids == ("q", "r")


def test_texts_with_a_point_stay_where_one_is_no_whole_number(tmp_path: Path) -> None:
    """Versions are no numbers."""
    _csv(_frame(["1.0", "1.0", "1.1", "1.1"], ["a", "b", "c", "d"]), tmp_path / "x")
    assert _read(tmp_path)[0] == ("1.0", "1.1")


def test_a_run_has_the_ids_of_the_judgments() -> None:
    """As a frame whose documents are floating-point numbers, and as a mapping by them."""
    frame = pd.DataFrame({"query_id": [1.0, 1.0], "document_id": [float(BARCODE), 2.0], "score": [2.0, 1.0]})
    run = run_of_frame(frame)
    assert run.column("query").to_pylist() == ["1", "1"]
    assert run.column("document").to_pylist() == [str(BARCODE), "2"]
    (line, *_) = run_of_mapping({1.0: {float(BARCODE): 2.0}, b"q": {b"d": 1.0}})
    assert line.split()[:3] == ["1", "Q0", str(BARCODE)]
    with pytest.raises(DataUnusable, match=r"row 0, column 'document_id': .* too large for an id"):
        run_of_frame(frame.assign(document_id=2.0**60))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_query_ids_of_arrays_are_named(missing: object) -> None:
    """Whatever a library writes for them."""
    with pytest.raises(InvalidArgument, match="no query for document 1, counted from 0"):
        group_by_ids(np.array(["a", missing, "b"], object), 3)
