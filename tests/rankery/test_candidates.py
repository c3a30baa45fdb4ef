"""Documents to rank, in all formats of files."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from core.data.categories import MAX_CATEGORIES
from rankery.candidates import read_candidates
from rankery.errors import FileUnusable

FEATURES = ("bm25", "price")
TABLE = "search,sku,bm25,price\nred,a,2.5,7\nred,b,1.5,\nblue,c,0.5,9\n"
ROLES = {"query": "search", "document": "sku"}
EXPECTED = [
    {
        "id": "red",
        "documents": [
            {"id": "a", "features": {"bm25": 2.5, "price": 7.0}},
            {"id": "b", "features": {"bm25": 1.5, "price": None}},
        ],
    },
    {"id": "blue", "documents": [{"id": "c", "features": {"bm25": 0.5, "price": 9.0}}]},
]


def read(folder: Path, content: str, name: str = "documents.csv", **options: Any) -> list[dict[str, Any]]:
    """Read the content of a file."""
    path = folder / name
    path.write_text(content)
    return read_candidates(path, FEATURES, **options)


def test_a_table_without_a_query_column_is_refused(tmp_path: Path) -> None:
    """A table without a query column would be one query, so the error names the option for the column."""
    with pytest.raises(FileUnusable, match=r"line 1: expected a column for the query, .* columns\.query"):
        read(tmp_path, TABLE)
    assert read(tmp_path, TABLE, columns=ROLES) == EXPECTED


@pytest.mark.parametrize("name", ["documents.csv", "documents.tsv", "standard input"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_format_of_a_table_is_detected_from_its_content(
    tmp_path: Path, name: str, delimiter: str
) -> None:
    """The format is detected from the content, since standard input has no name; labels are optional."""
    content = TABLE.replace("search,sku", "Query-ID,doc_id").replace(",", delimiter)
    assert read(tmp_path, content, name) == EXPECTED


def test_labels_are_not_read(tmp_path: Path) -> None:
    """Columns may be named as in an upload; the table may lack them, and wrong labels are no problem."""
    columns = {**ROLES, "label": "grade", "query_columns": ["market"]}
    assert read(tmp_path, TABLE, columns=columns) == EXPECTED
    rows = zip(TABLE.splitlines(), ("grade", "?", "", "x"), strict=True)
    judged = "".join(f"{row},{label}\n" for row, label in rows)
    assert read(tmp_path, judged, columns=columns) == EXPECTED


def test_categories_are_sent_as_texts(tmp_path: Path) -> None:
    """Columns declared as categories are sent as texts, also whole numbers; an empty cell is missing."""
    content = "query_id,bm25,price,brand\nq,2.5,7,acme\nq,1.5,12,\n"
    path = tmp_path / "documents.csv"
    path.write_text(content)
    columns = {"categorical_features": ["brand", "price"]}
    (query,) = read_candidates(path, (*FEATURES, "brand"), columns)
    assert [one["features"] for one in query["documents"]] == [
        {"bm25": 2.5, "price": "7", "brand": "acme"},
        {"bm25": 1.5, "price": "12", "brand": None},
    ]
    (query,) = read_candidates(path, ("brand",), {**columns, "ignore": ["bm25"]})
    assert query["documents"][0]["features"] == {"brand": "acme"}
    (query,) = read_candidates(path, (*FEATURES, "brand"), None)  # texts need no declaration
    assert query["documents"][0]["features"] == {"bm25": 2.5, "price": 7.0, "brand": "acme"}


def test_declared_categories_of_numbers_are_sent_with_all_digits(tmp_path: Path) -> None:
    """A float would be the number of another category; models with numbers take them, too."""
    path = tmp_path / "documents.parquet"
    declared: dict[str, list[Any]] = {
        "shop": [2**60 + 1, 123_456_789, 7, None],
        "is_new": [True, False, True, None],
    }
    columns = {name: pa.array(values).dictionary_encode() for name, values in declared.items()}
    pq.write_table(pa.table({"query_id": ["q"] * 4, **columns}), path)
    (query,) = read_candidates(path, tuple(declared))
    sent = {name: [one["features"][name] for one in query["documents"]] for name in declared}
    assert sent == {"shop": declared["shop"], "is_new": [1, 0, 1, None]}
    (query,) = read_candidates(path, tuple(declared), {"categorical_features": ["shop"]})
    assert query["documents"][2]["features"] == {"shop": "7", "is_new": 1}


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_whole_numbers_keep_all_digits(tmp_path: Path, format: str) -> None:
    """Without a categorical type, too, as a rounded number may be another category; others stay floats."""
    columns: dict[str, Any] = {
        "query_id": ["q"] * 4,
        "shop": pa.array([2**60 + 1, None, -7, 2**24 + 1]),
        "price": [2.0**40, 0.5, 3.0, None],
        "stock": [1, 2, None, 4],
    }
    path = tmp_path / "documents"
    if format == "csv":
        pa_csv.write_csv(pa.table(columns), path)
    else:
        pq.write_table(pa.table(columns), path)
    (query,) = read_candidates(path, ("shop", "price", "stock"))
    sent = {
        name: [one["features"][name] for one in query["documents"]]
        for name in query["documents"][0]["features"]
    }
    assert {name: list(map(repr, values)) for name, values in sent.items()} == {
        "price": ["1099511627776.0", "0.5", "3.0", "None"],
        "stock": ["1.0", "2.0", "None", "4.0"],
        "shop": ["1152921504606846977", "None", "-7", "16777217"],
    }


def test_candidates_may_have_more_categories_than_a_model(tmp_path: Path) -> None:
    """Values that no training has seen are missing values, however many there are."""
    n_rows = MAX_CATEGORIES + 1
    table = pa.table({"query_id": ["q"] * n_rows, "item": pa.array(range(10**9, 10**9 + n_rows))})
    pq.write_table(table, tmp_path / "documents")
    (query,) = read_candidates(tmp_path / "documents", ("item",))
    assert query["documents"][-1]["features"] == {"item": 10**9 + MAX_CATEGORIES}


def test_scattered_rows_are_gathered(tmp_path: Path) -> None:
    """Scattered rows of a query are gathered as in an upload, in the order of the file."""
    header, *rows = TABLE.splitlines()
    content = "\n".join([header, rows[0], rows[2], rows[1]])
    assert read(tmp_path, content, columns=ROLES) == EXPECTED


def test_a_table_without_unknown_columns_holds_one_query(tmp_path: Path) -> None:
    """Every column has a usual name or is a feature, so that none can be the query."""
    (query,) = read(tmp_path, "document_id,bm25,label\na,2.5,1\nb,1.5,0\n")
    assert (query["id"], [one["id"] for one in query["documents"]]) == ("1", ["a", "b"])
    assert [one["features"] for one in query["documents"]] == [{"bm25": 2.5}, {"bm25": 1.5}]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("query_id,price_eur\nq,1\n", "expected features of the model such as bm25, price, but found only"),
        ("1 qid:1 1:0.5\n", "has none of the model's features, bm25, price; it has f1"),
        ("query_id,bm25\nq,1\nq,high\n", "line 3, column bm25: expected a number, but found 'high'"),
        ("query_id,qid,bm25\nq,7,1\n", "expected one column for the query, but found 'query_id' and 'qid'"),
        ("[1]", "must hold queries such as"),
        pytest.param("[" * 100_000, "is not valid JSON: it is nested too deeply", id="deep"),
        ('{"queries": null}', "documents.csv: /queries must be a list"),
        ('{"queries": 5}', "documents.csv: /queries must be a list"),
        ('[{"documents": []}, {"documents": null}]', "documents.csv: /1/documents must be a list"),
        ('{"queries": [{"documents": 5}]}', "documents.csv: /queries/0/documents must be a list"),
        ('{"documents": null}', "documents.csv: /documents must be a list"),
    ],
)
def test_an_unusable_file_is_reported_in_one_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    """The sentence has the line and column of a cell, or the pointer of a JSON value."""
    with pytest.raises(FileUnusable) as unusable:
        read(tmp_path, content)
    assert sentence in str(unusable.value)


def test_lightgbm_data_find_their_query_file(tmp_path: Path) -> None:
    """LightGBM's query file is in the same folder."""
    (tmp_path / "rank.txt.query").write_text("2\n1\n")
    path = tmp_path / "rank.txt"
    path.write_text("1 1:0.5\n0 1:0.25\n1 1:2\n")
    queries = read_candidates(path, ["f1"])
    assert [[one["features"]["f1"] for one in query["documents"]] for query in queries] == [
        [0.5, 0.25],
        [2.0],
    ]


def test_a_byte_order_mark_before_json_is_skipped(tmp_path: Path) -> None:
    """Programs on Windows write one."""
    assert read(tmp_path, f"\ufeff{json.dumps(EXPECTED)}", "request.json") == EXPECTED
