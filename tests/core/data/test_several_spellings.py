"""Ids of queries that one file spells in several ways are read as one, and counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data.options import Limits, ReadingOptions
from core.data.part_files.joining import join_parts
from core.data.part_files.part import read_part
from core.data.reading import FileForm, JudgedFile, read_file
from core.doctor import examine
from rankery.client.frames.runs import run_of_frame, run_of_mapping
from rankery.errors import DataWarning
from rankery.metrics import evaluate

QUERIES = ("1", "1.0", "2", "3.0", "3.00", "4.0")


def _table(kind: pa.DataType) -> bytes:
    queries = pa.array(QUERIES) if pa.types.is_dictionary(kind) else pa.array(QUERIES).cast(kind)
    if pa.types.is_dictionary(kind):
        queries = queries.dictionary_encode()
    file = pa.BufferOutputStream()
    columns = {"query_id": queries, "label": [0, 1, 2, 0, 1, 2], "bm25": [0.5] * 6}
    pq.write_table(pa.table(columns), file)
    return file.getvalue().to_pybytes()


FILES = {
    "a.csv": b"query_id,label,bm25\n" + b"".join(f"{each},1,0.5\n".encode() for each in QUERIES),
    "a.txt": b"".join(f"1 qid:{each} 1:0.5\n".encode() for each in QUERIES),
    "a.qrels": b"".join(f"{each} 0 d{i} 1\n".encode() for i, each in enumerate(QUERIES)),
    "texts.parquet": _table(pa.string()),
    "bytes.parquet": _table(pa.binary()),
    "categories.parquet": _table(pa.dictionary(pa.int32(), pa.string())),
}


@pytest.mark.parametrize("name", FILES)
def test_they_are_counted(tmp_path: Path, name: str) -> None:
    """With what they are read as, whichever way they come in; the others are not."""
    path = tmp_path / name
    path.write_bytes(FILES[name])
    reading = read_file(JudgedFile(path, name), ReadingOptions())
    assert reading.dataset.query_ids == ("1", "2", "3", "4")
    assert reading.several_spellings == ("1", "3")
    report = examine(reading.dataset, several_spellings=reading.several_spellings)
    (finding,) = [each for each in report.findings if each.code == "several-spellings"]
    assert finding.title == "2 of 4 queries have ids in several spellings"
    assert finding.examples == ("1", "3")


def test_blocks_of_a_column_are_looked_at_together(tmp_path: Path) -> None:
    """The two spellings may be a million rows apart."""
    path = tmp_path / "large.csv"
    rows = "".join(f"q{row // 10},1,0.5\n" for row in range(200_000))
    path.write_text(f"query_id,label,bm25\n7,1,0.5\n{rows}7.0,1,0.5\n")
    assert read_file(JudgedFile(path, path.name), ReadingOptions()).several_spellings == ("7",)


def test_a_file_that_spells_them_alike(tmp_path: Path) -> None:
    """Whole numbers of which one is missing are all written with a point."""
    path = tmp_path / "a.csv"
    path.write_text("query_id,label,bm25\n1.0,1,0.5\n1.0,0,0.5\n2.0,1,0.5\n")
    assert read_file(JudgedFile(path, path.name), ReadingOptions()).several_spellings == ()


def test_several_files(tmp_path: Path) -> None:
    """Each counts for itself: another file may well be written by another tool."""
    parts = []
    for place, queries in enumerate((("1", "1.0", "5"), ("5.0", "6"))):
        path = tmp_path / f"part-{place}.txt"
        path.write_text("".join(f"1 qid:{each} 1:0.5\n" for each in queries))
        file = JudgedFile(path, path.name)
        parts.append(read_part(file, "", FileForm(path.name, "letor"), ReadingOptions(), Limits()))
    joined = join_parts(parts, ReadingOptions(), Limits())
    assert joined.dataset.query_ids == ("1", "5", "6")
    assert joined.several_spellings == ("1",)


@pytest.mark.parametrize("kind", [list, np.array, pa.array, pd.Series, pl.Series])
def test_the_library_warns(kind: Callable[[Any], Any]) -> None:
    """Of texts in memory, too, before their queries are measured as one."""
    with pytest.warns(
        DataWarning, match="query_ids: 1 id is spelled in several ways; 1 and 1.0 count as one id"
    ):
        evaluate([0.5, 0.4, 0.3], [0, 1, 1], query_ids=kind(["1", "1.0", "2.0"]), metrics=["mrr"])


def test_runs_of_frames_warn() -> None:
    """Their ids are spelled before they are sent, so that the service could not count them."""
    columns = {"query": ["1", "1.0"], "document": ["a", "b"], "score": [0.5, 0.4]}
    with pytest.warns(DataWarning, match="column 'query': 1 id is spelled in several ways"):
        run_of_frame(pd.DataFrame(columns))
    with pytest.warns(DataWarning, match="the run: 1 id is spelled"):
        list(run_of_mapping({"1": {"a": 0.5}, "1.0": {"b": 0.4}}))
