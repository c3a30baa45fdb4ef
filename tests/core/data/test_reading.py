"""Opening files: compression, formats, and progress."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from core.data import read_dataset
from core.data.options import Columns, ReadingOptions
from core.data.reading import JudgedFile, read_file, read_unjudged
from core.errors import DatasetError, InvalidInput
from tests.core.data.strategies import assert_same

LETOR = b"1 qid:1 1:2 3:4 # a\n0 qid:2 2:5\n"


def _zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(LETOR),
        gzip.compress(LETOR[:20]) + gzip.compress(LETOR[20:]),
        gzip.compress(LETOR) + bytes(100_000),
        gzip.compress(LETOR[:20]) + bytes(3) + gzip.compress(LETOR[20:]) + bytes(1),
        _zstd(LETOR),
        _zstd(LETOR[:20]) + _zstd(LETOR[20:]),
    ],
    ids=["gzip", "gzip in members", "gzip padded", "gzip padded in members", "zstd", "zstd in frames"],
)
def test_compression_is_recognised_by_content(tmp_path: Path, packed: bytes) -> None:
    """A packed file reads as its plain form, whatever its name is."""
    plain, other = tmp_path / "a.gz", tmp_path / "b.parquet"
    plain.write_bytes(LETOR)
    other.write_bytes(packed)
    assert_same(read_dataset(other), read_dataset(str(plain), "letor"))


@pytest.mark.parametrize("first", ["ORCID", "PARENT_ID"])
def test_a_column_may_begin_like_the_signature_of_a_binary_format(tmp_path: Path, first: str) -> None:
    """Names such as ORCID are text; signatures of ORC and encrypted Parquet precede control characters."""
    path = tmp_path / "judged"
    path.write_text(f"{first},label,query_id,bm25\n1,2,q1,0.5\n2,0,q1,0.25\n")
    assert read_dataset(path).feature_names == (first, "bm25")
    for signature, name in ((b"ORC\n\x03\x00", "an ORC file"), (b"PARE\x18\x00\x00", "an encrypted Parquet")):
        path.write_bytes(signature)
        with pytest.raises(DatasetError, match=name):
            read_dataset(path)


@pytest.mark.parametrize("arguments", [{"format": "arff"}, {"repeated_features": "first"}])
def test_unknown_choices_are_refused(tmp_path: Path, arguments: dict[str, str]) -> None:
    """An unknown format or rule is invalid input, not a dataset error."""
    with pytest.raises(InvalidInput):
        read_dataset(tmp_path / "x", **arguments)  # type: ignore[arg-type]


def test_delimited_rows_with_a_query_file_are_read_as_lightgbm(tmp_path: Path) -> None:
    """The label is the first column; a header names the features, and without one they are numbered."""
    for text, names in (
        ("1,2,3\n0,4,5\n", ("f1", "f2")),
        ("y\tage\tbm25\n1\t2\t3\n0\t4\t5\n", ("age", "bm25")),
    ):
        (tmp_path / "rows").write_text(text)
        (tmp_path / "sizes").write_text("1\n1\n")
        reading = read_file(JudgedFile(tmp_path / "rows", "rows", tmp_path / "sizes", "sizes"))
        assert reading.format == "lightgbm"
        assert reading.dataset.feature_names == names
        assert reading.dataset.matrix.tolist() == [[2, 3], [4, 5]]
        assert reading.dataset.query_boundaries.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("header", "columns"),
    [("age,bm25,z", {"features": ("age",)}), ("age,bm25,z", {"ignore": ("age",)}), ("age,bm25,grade", {})],
)
def test_a_label_elsewhere_than_in_the_first_column_is_named(
    tmp_path: Path, header: str, columns: dict[str, Any]
) -> None:
    """Beside a query file, a feature would otherwise be the label."""
    (tmp_path / "rows").write_text(f"{header}\n1,2,3\n")
    (tmp_path / "sizes").write_text("1\n")
    file = JudgedFile(tmp_path / "rows", "rows", tmp_path / "sizes", "sizes")
    expected = r"line 1: expected the label in the first column, but found 'age'; set columns\.label"
    with pytest.raises(DatasetError, match=expected):
        read_file(file, ReadingOptions(columns=Columns(**columns)))
    reading = read_file(file, ReadingOptions(columns=Columns(label=header.split(",")[2], **columns)))
    assert reading.dataset.labels.tolist() == [3]


def test_scattered_rows_of_a_table_are_gathered(tmp_path: Path) -> None:
    """Rows, ids and columns of queries follow their query; the reading counts the scattered queries."""
    path = tmp_path / "t.csv"
    path.write_text("label,qid,docid,x,market\n0,a,1,10,de\n1,b,2,20,fr\n2,a,3,30,de\n")
    reading = read_file(JudgedFile(path, "t.csv"))
    assert (reading.scattered_queries, reading.scattered_examples) == (1, ("a",))
    dataset = reading.dataset
    assert dataset.features[:, 0].tolist() == [10, 30, 20]
    assert dataset.document_ids == ["1", "3", "2"]
    assert dataset.query_columns == {"market": ("de", "fr")}


def test_columns_are_chosen_and_named(tmp_path: Path) -> None:
    """Features have the requested order and names; a column of numbers can be a text column of queries."""
    path = tmp_path / "t.csv"
    path.write_text("grade,search,a,b,fold,note\n1,s,2,3,7,x\n0,s,4,5,7,y\n")
    columns = Columns(
        label="grade", query="search", features=("b", "a"), query_columns=("fold",), ignore=("note",)
    )
    dataset = read_dataset(path, columns=columns, feature_names={"b": "bm25"})
    assert dataset.feature_names == ("bm25", "a")
    assert dataset.matrix.tolist() == [[3, 2], [5, 4]]
    assert dataset.query_columns == {"fold": ("7",)}


def test_product_ids_and_sample_weights_are_not_read_as_features(tmp_path: Path) -> None:
    """Names of shops and of scikit-learn have roles, so that ids and weights are never learnt from."""
    path = tmp_path / "judged.csv"
    path.write_text("qid,product_id,label,sample_weight,bm25\na,17,1,0.5,2\na,4,0,1,3\n")
    dataset = read_dataset(path)
    assert dataset.feature_names == ("bm25",)
    assert list(dataset.document_ids) == ["17", "4"]
    assert dataset.document_weights is not None
    assert dataset.document_weights.tolist() == [0.5, 1.0]


def test_the_first_of_the_usual_names_goes_before_the_others(tmp_path: Path) -> None:
    """Further ids and weights describe the document, and the text of a query describes the query."""
    path = tmp_path / "judged.csv"
    names = "query_id,query,document_id,product_id,doc_weight,document_weight,label,x"
    path.write_text(f"{names}\n1,shoes,a,11,5,0.5,1,2\n1,shoes,b,12,6,0.25,0,3\n")
    dataset = read_dataset(path)
    assert dataset.feature_names == ("x",)
    assert (list(dataset.query_ids), list(dataset.document_ids)) == (["1"], ["a", "b"])
    assert {name: list(texts) for name, texts in dataset.document_columns.items()} == {
        "product_id": ["11", "12"],
        "doc_weight": ["5", "6"],
    }
    assert list(dataset.query_columns["query"]) == ["shoes"]
    assert dataset.document_weights is not None
    assert dataset.document_weights.tolist() == [0.5, 0.25]
    unjudged = read_unjudged(JudgedFile(path, "judged.csv"), ["x"]).dataset
    assert (list(unjudged.query_ids), list(unjudged.document_ids)) == (["1"], ["a", "b"])


def test_the_first_of_the_usual_names_of_a_query_goes_before_texts_only(tmp_path: Path) -> None:
    """A number such as `group` may be the query or a feature, so that the table is ambiguous."""
    path = tmp_path / "judged.csv"
    path.write_text("query_id,group,label,x\n1,5,1,2\n1,6,0,3\n")
    with pytest.raises(DatasetError, match="query_id"):
        read_dataset(path)


def test_the_first_name_may_hold_a_line_feed(tmp_path: Path) -> None:
    """Spreadsheets break long names, also before the first delimiter."""
    (tmp_path / "t.csv").write_text('"query\nid",label,"text, or\nBM25"\na,2,1\na,0,2\n')
    reading = read_file(
        JudgedFile(tmp_path / "t.csv", "t.csv"), ReadingOptions(columns=Columns(query="query\nid"))
    )
    assert reading.dataset.feature_names == ("text, or\nBM25",)
    assert reading.dataset.matrix.tolist() == [[1], [2]]


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_delta_encoded_texts_of_parquet_are_read(tmp_path: Path, encoding: str) -> None:
    """Spark and DuckDB encode texts so in files of version 2; Arrow has no dictionaries of them."""
    rows = 20_000
    documents = [f"sku-{row % 7}-{row}" for row in range(rows)]
    table = pa.table({"label": [1.0] * rows, "q": ["shoes", "hats"] * (rows // 2), "d.id": documents})
    path = tmp_path / "delta.parquet"
    encodings = {"q": encoding, "d.id": encoding}
    pq.write_table(table, path, use_dictionary=False, column_encoding=encodings, row_group_size=9_000)
    dataset = read_dataset(path, columns=Columns(query="q", document="d.id", features=()))
    assert dataset.query_ids == ("shoes", "hats")
    assert list(dataset.document_ids) == documents[::2] + documents[1::2]


def test_an_index_in_parquet_is_not_read_as_a_feature(tmp_path: Path) -> None:
    """The index that pandas writes with shuffled rows is left out, unless a role names it."""
    path = tmp_path / "shuffled.parquet"
    frame = pd.DataFrame({"label": [2, 0, 1], "query_id": ["q1", "q1", "q2"], "bm25": [1.0, 2.0, 3.0]})
    frame.iloc[[2, 0, 1]].to_parquet(path)
    assert pq.read_schema(path).names[-1] == "__index_level_0__"
    assert read_dataset(path).feature_names == ("bm25",)
    named = read_dataset(path, columns=Columns(document="__index_level_0__"))
    assert list(named.document_ids) == ["2", "0", "1"]


def test_texts_to_show_are_recognised_by_their_names(tmp_path: Path) -> None:
    """Text of queries, titles and URLs of documents are not features; a title of numbers is one."""
    path = tmp_path / "t.csv"
    path.write_text(
        "label,qid,query_text,doc_id,title,url,bm25\n"
        "1,a,red shoes,d1,Shoe,https://x/1,2\n0,b,blue coat,d2,Coat,,3\n1,a,red shoes,d3,,https://x/3,4\n"
    )
    dataset = read_dataset(path)
    assert dataset.feature_names == ("bm25",)
    assert dataset.query_columns == {"query_text": ("red shoes", "blue coat")}
    assert dataset.segment_columns == {}
    assert dataset.document_ids == ["d1", "d3", "d2"]
    assert dataset.document_columns == {
        "document_title": ["Shoe", "", "Coat"],
        "document_url": ["https://x/1", "https://x/3", ""],
    }
    path.write_text("label,qid,url,title\n1,a,https://x/1,2.5\n")
    dataset = read_dataset(path)
    assert dataset.document_ids == ["https://x/1"]
    assert dataset.feature_names == ("title",)
    assert dataset.document_columns == {}


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_columns_of_shown_texts_are_left_out_of_the_features(tmp_path: Path, format: str) -> None:
    """Columns of texts, titles and URLs may have any names; the text may equal the query id."""
    rows = [
        {"grade": 1, "search": "red shoes", "name": "Shoe", "link": "https://x/1", "bm25": 2.0},
        {"grade": 0, "search": "red shoes", "name": "Boot", "link": None, "bm25": 3.0},
    ]
    table = pa.Table.from_pylist([{**row, "words": row["search"]} for row in rows])
    path = tmp_path / "t"
    pa_csv.write_csv(table, path) if format == "csv" else pq.write_table(table, path)
    columns = Columns(
        label="grade", query="search", query_text="words", document_title="name", document_url="link"
    )
    dataset = read_dataset(path, columns=columns)
    assert dataset.query_columns == {"query_text": ("red shoes",)}
    assert dataset.document_columns == {
        "document_title": ["Shoe", "Boot"],
        "document_url": ["https://x/1", ""],
    }
    assert dataset.feature_names == ("bm25",)


def test_a_signalling_nan_is_a_missing_feature(tmp_path: Path) -> None:
    """NaN of any bits is read without a warning."""
    values = np.array([1.0, np.nan])
    values.view(np.uint64)[1] = 0x7FF0_0000_0000_0001
    columns = {"query_id": ["a", "a"], "document_id": ["x", "y"], "label": [0, 1], "bm25": values}
    pq.write_table(pa.table(columns), tmp_path / "judged.parquet")
    np.testing.assert_array_equal(read_dataset(tmp_path / "judged.parquet").matrix, [[1.0], [np.nan]])


def test_progress_of_delimited_text_rises(tmp_path: Path) -> None:
    """Progress counts the rows of each block, not the bytes that are read ahead."""
    path = tmp_path / "t.csv"
    path.write_text("label,qid,a\n" + f"1,q,{'0' * 100}\n" * 250_000)
    calls: list[tuple[int, int]] = []
    read_file(JudgedFile(path, "t.csv"), on_progress=lambda done, total: calls.append((done, total)))
    assert {total for _, total in calls} == {250_000}
    rows = [done for done, _ in calls]
    assert rows == sorted(set(rows))
    assert len(rows) > 2
    assert rows[-1] == 250_000


def test_progress_may_stop_a_reading(tmp_path: Path) -> None:
    """An exception of the listener ends the reading of a table, too."""
    path = tmp_path / "t.csv"
    path.write_text("label,qid,x\n" + "1,1,2\n" * 10)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_file(JudgedFile(path, "t.csv"), on_progress=stop)


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "sizes", "counts"),
    [
        ("lightgbm-rank/train.letor.txt", None, (201, 3005, 300)),
        ("lightgbm-rank/test.letor.txt", None, (50, 768, 300)),
        ("lightgbm-rank/rank.train", "lightgbm-rank/rank.train.query", (201, 3005, 300)),
        ("lightgbm-rank/rank.test", "lightgbm-rank/rank.test.query", (50, 768, 300)),
        ("fastrank-trec-news/trec_news_2018.train", None, (45, 782, 5)),
        ("fastrank-trec-news/trec_news_2018.test", None, (5, 41, 5)),
        ("tfranking-libsvm/train.txt", None, (27, 119, 136)),
        ("tfranking-libsvm/test.txt", None, (9, 36, 136)),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_public_files_have_their_published_sizes(
    shared_data: Path,
    tmp_path: Path,
    file: str,
    sizes: str | None,
    counts: tuple[int, int, int],
    packed: bool,
) -> None:
    """Public files have the published numbers of queries, documents and features, also if compressed."""
    path, side = shared_data / file, None if sizes is None else shared_data / sizes
    if packed:
        path = tmp_path / "packed"
        path.write_bytes(gzip.compress((shared_data / file).read_bytes()))
    dataset = read_file(JudgedFile(path, file, side, sizes)).dataset
    assert (dataset.n_queries, dataset.n_documents, dataset.n_features) == counts


def test_features_take_the_names_of_a_mapping_from_ids(shared_data: Path) -> None:
    """The file of names beside TREC News' features maps ids to names."""
    folder = shared_data / "fastrank-trec-news"
    names = json.loads((folder / "trec_news_2018.features.json").read_text())
    dataset = read_dataset(folder / "trec_news_2018.test", feature_names=names)
    assert dataset.feature_names == tuple(names[str(number)] for number in range(1, 6))
