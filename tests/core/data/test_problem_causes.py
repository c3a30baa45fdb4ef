"""Mistakes in tables by cause and column."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data.options import reading_options
from core.data.reading import JudgedFile, read_file
from core.data.tables.problems import CAUSES
from core.errors import DatasetError, ProblemCause


def causes_in(path: Path, **options: Any) -> tuple[ProblemCause, ...]:
    """Return the causes for which a file is refused."""
    with pytest.raises(DatasetError) as caught:
        read_file(JudgedFile(path, "f"), reading_options(options))
    return caught.value.causes


CASES: dict[str, tuple[str, dict[str, Any], list[tuple[str, str | None, int, bool]]]] = {
    "words and commas": (
        'label,qid,a,b\n1,q,x,1\n1,q,2,"1,5"\n1,q,y,"2,5"\nbad,q,3,4\n',
        {},
        [
            ("not_a_number", "a", 2, True),
            ("decimal_comma", "b", 2, True),
            ("not_a_number", "label", 1, False),
        ],
    ),
    "ranges": (
        "label,qid,x\ninf,q,1e39\n1,q,2\n1,,2\n",
        {},
        [
            ("out_of_range", "x", 1, True),
            ("infinite_label", "label", 1, False),
            ("empty_query_id", "qid", 1, False),
        ],
    ),
    "weights": (
        "label,qid,weight,doc_weight,x\n1,q,1,-1,2\n1,q,2,1,2\n",
        {},
        [("unfit_weight", "doc_weight", 1, True), ("several_values", "weight", 1, True)],
    ),
    "texts": (
        "label,qid,market,query_text,x\n1,q,de,red,2\n1,q,fr,red,2\n1,q,it,blue,2\n",
        {},
        [("several_values", "market", 2, True), ("several_values", "query_text", 1, True)],
    ),
    "cells": ("label,qid,x\n1,q,1\n1,q\n1,q,2,3\n", {}, [("number_of_cells", None, 2, False)]),
    "row numbers": ("Unnamed: 0,label,qid,x\n0,1,q,2\n", {}, [("row_numbers", "Unnamed: 0", 1, True)]),
    "scattered": (
        "label,qid,x\n1,a,1\n1,b,1\n1,a,1\n",
        {"non_contiguous_queries": "error"},
        [("scattered_query", None, 1, False)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_mistakes_are_counted_by_cause_and_column(tmp_path: Path, case: str) -> None:
    """The most frequent cause is first; `can_ignore` is true if the file can be read without the column."""
    text, options, expected = CASES[case]
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = causes_in(path, **options)
    listed = [(cause.cause, cause.column, cause.count, cause.can_ignore) for cause in found]
    assert [count for _, _, count, _ in listed] == [count for _, _, count, _ in expected]
    assert set(listed) == set(expected)
    assert all(cause.title == CAUSES[cause.cause] and not cause.at_least for cause in found)


def test_columns_that_hold_something_else_can_be_ignored(tmp_path: Path) -> None:
    """Columns of Parquet are named, too."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"label": [1], "qid": ["q"], "x": [1.0], "a": [["t"]], "b": [{"c": 1}]}), path)
    found = causes_in(path)
    assert [(cause.cause, cause.column, cause.can_ignore) for cause in found] == [
        ("nested_values", "a", True),
        ("nested_values", "b", True),
    ]
    read_file(JudgedFile(path, "f"), reading_options({"columns": {"ignore": ["a", "b"]}}))


def test_a_bad_column_hides_no_other(tmp_path: Path) -> None:
    """All rows are read, however many mistakes the first ones have."""
    path = tmp_path / "t.csv"
    rows = ["1,q,1,1"] * 2000 + ["1,q,x,1"] * 1500 + ["1,q,1,y"]
    path.write_text("\n".join(["label,qid,a,b", *rows]))
    found = causes_in(path)
    assert [(cause.column, cause.count, cause.lines) for cause in found] == [
        ("a", 1500, (2002, 2003, 2004, 2005, 2006)),
        ("b", 1, (3502,)),
    ]


def test_reading_stops_after_many_rows_with_other_numbers_of_cells(tmp_path: Path) -> None:
    """If reading stops, the count of every cause is a lower bound."""
    path = tmp_path / "t.csv"
    path.write_text("label,qid,x\n" + "1,q\n" * 200)
    (cause,) = causes_in(path)
    assert (cause.at_least, 100 < cause.count <= 200) == (True, True)
