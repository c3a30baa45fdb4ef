"""Several spellings of one query id in a file are read as one id, and reported."""

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
from rankery.client.frames.runs import run_of_mapping, scores_table
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
def test_queries_with_several_spellings_are_reported(tmp_path: Path, name: str) -> None:
    """The finding has the number of such queries and their ids as read, for every file format."""
    path = tmp_path / name
    path.write_bytes(FILES[name])
    reading = read_file(JudgedFile(path, name), ReadingOptions())
    assert reading.dataset.query_ids == ("1", "2", "3", "4")
    assert reading.several_spellings == ("1", "3")
    report = examine(reading.dataset, several_spellings=reading.several_spellings)
    (finding,) = [each for each in report.findings if each.code == "several-spellings"]
    assert finding.title == "2 of 4 queries have ids in several spellings"
    assert finding.examples == ("1", "3")


def test_spellings_in_different_blocks_are_found(tmp_path: Path) -> None:
    """The two spellings may be in different blocks of a large file."""
    path = tmp_path / "large.csv"
    rows = "".join(f"q{row // 10},1,0.5\n" for row in range(200_000))
    path.write_text(f"query_id,label,bm25\n7,1,0.5\n{rows}7.0,1,0.5\n")
    assert read_file(JudgedFile(path, path.name), ReadingOptions()).several_spellings == ("7",)


def test_a_file_with_one_spelling_per_id_has_no_finding(tmp_path: Path) -> None:
    """A file may have a point in all ids, as pandas writes whole numbers beside a missing one."""
    path = tmp_path / "a.csv"
    path.write_text("query_id,label,bm25\n1.0,1,0.5\n1.0,0,0.5\n2.0,1,0.5\n")
    assert read_file(JudgedFile(path, path.name), ReadingOptions()).several_spellings == ()


def test_spellings_that_differ_between_files_are_not_reported(tmp_path: Path) -> None:
    """Each file is examined separately, since another tool may have written the other file."""
    parts = []
    for index, queries in enumerate((("1", "1.0", "5"), ("5.0", "6"))):
        path = tmp_path / f"part-{index}.txt"
        path.write_text("".join(f"1 qid:{each} 1:0.5\n" for each in queries))
        file = JudgedFile(path, path.name)
        parts.append(read_part(file, "", FileForm(path.name, "letor"), ReadingOptions(), Limits()))
    joined = join_parts(parts, ReadingOptions(), Limits())
    assert joined.dataset.query_ids == ("1", "5", "6")
    assert joined.several_spellings == ("1",)


@pytest.mark.parametrize("kind", [list, np.array, pa.array, pd.Series, pl.Series])
def test_the_library_warns_of_several_spellings(kind: Callable[[Any], Any]) -> None:
    """Ids in lists, arrays and series cause a warning that the spellings count as one id."""
    with pytest.warns(
        DataWarning, match="query_ids: 1 id is spelled in several ways; 1 and 1.0 count as one id"
    ):
        evaluate([0.5, 0.4, 0.3], [0, 1, 1], query_ids=kind(["1", "1.0", "2.0"]), metrics=["mrr"])


def test_a_run_from_a_frame_with_several_spellings_of_an_id_warns() -> None:
    """The client normalises ids before it sends a run, so that only the client can report the spellings."""
    columns = {"query": ["1", "1.0"], "document": ["a", "b"], "score": [0.5, 0.4]}
    with pytest.warns(DataWarning, match="column 'query': 1 id is spelled in several ways"):
        scores_table(pd.DataFrame(columns))
    with pytest.warns(DataWarning, match="the run: 1 id is spelled"):
        list(run_of_mapping({"1": {"a": 0.5}, "1.0": {"b": 0.4}}))
