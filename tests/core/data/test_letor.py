"""Reading and writing LETOR text."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from core.data import RankingDataset, options, read_dataset, write_letor
from core.data.feature_alignment import align_features
from core.data.letor import read_letor
from core.data.options import Limits, ReadingOptions
from core.data.result import Reading
from core.errors import DatasetError, InvalidInput
from tests.core.data.strategies import assert_same, letor_datasets


def _read(text: str | bytes) -> RankingDataset:
    content = text.encode() if isinstance(text, str) else text
    return _reading(content).dataset


def _reading(content: bytes, **options: Any) -> Reading:
    return read_letor(np.frombuffer(content, np.uint8), "x.txt", ReadingOptions(**options))


def test_a_row_is_label_query_and_features() -> None:
    """Features come in any order, absent ones are 0, and columns are named from f1."""
    dataset = _read("2 qid:7 3:0.5 1:-1e-2\n0 qid:7 2:nan\n")
    np.testing.assert_array_equal(
        dataset.features, np.array([[-0.01, 0, 0.5], [0, np.nan, 0]], np.float32), strict=True
    )
    assert dataset.labels.tolist() == [2, 0]
    assert dataset.query_ids == ("7",)
    assert dataset.feature_names == ("f1", "f2", "f3")
    assert dataset.query_weights is None


@pytest.mark.parametrize(
    ("comment", "name"),
    [
        ("#docid = GX1-2 inc = 1 prob = 0.5", "GX1-2"),
        ("# docid=GX1", "GX1"),
        ("#docid= é1", "é1"),
        ("# 7555\trambo", "7555"),
        ("#7555", "7555"),
        ("# docid", "docid"),
        ("# docid-9 x", "docid-9"),
        ("#docid = #9", "#9"),
        ("#", "1"),
        ("#docid =", "1"),
        ("", "1"),
    ],
)
def test_document_ids_come_from_comments(comment: str, name: str) -> None:
    """`#docid = X` and `# X` name the document; without either it is its row number within the query."""
    assert _read(f"1 qid:1 1:2 {comment}\n").document_ids == (name,)


def test_documents_without_id_are_numbered_within_their_query() -> None:
    """The number is the row's, counting rows that have an id."""
    dataset = _read("0 qid:a 1:1\n0 qid:a 1:1 # x\n0 qid:a 1:1\n0 qid:b 1:1\n")
    assert dataset.document_ids == ("1", "x", "3", "1")


def test_a_scattered_query_is_gathered_where_it_first_appears() -> None:
    """Rows keep their order within the query, and queries the order of their first rows."""
    dataset = _read("0 qid:b 1:1 # p\n1 qid:a 1:2\n2 qid:b 1:3\n3 qid:c 1:4\n4 qid:a 1:5 # q\n")
    assert dataset.query_ids == ("b", "a", "c")
    assert dataset.query_boundaries.tolist() == [0, 2, 4, 5]
    assert dataset.labels.tolist() == [0, 2, 1, 4, 3]
    assert dataset.features[:, 0].tolist() == [1, 3, 2, 5, 4]
    assert dataset.document_ids == ("p", "2", "1", "q", "1")


_PLAIN = b"1 qid:1 1:2 3:4 # a\n0 qid:2 2:5\n"


@pytest.mark.parametrize(
    "content",
    [
        _PLAIN.replace(b"\n", b"\r\n"),
        _PLAIN.rstrip(b"\n"),
        b"\xef\xbb\xbf" + _PLAIN,
        b"# made by hand\n\n \t \n" + _PLAIN + b"\n#end",
        _PLAIN.replace(b" ", b" \t ").replace(b"\n", b"  \t\n"),
        b"  " + _PLAIN,
        _PLAIN.replace(b" # a", b"#a"),
        _PLAIN.replace(b"1 qid:1", b"1.0e0 qid:1"),
        b"1 qid:1 3:9 1:2 3:4 # a\n0 qid:2 2:5\n",
    ],
)
def test_layout_does_not_matter(content: bytes) -> None:
    """Line ends, blanks, comments, a byte order mark and an earlier value of a feature change nothing."""
    assert_same(_read(content), _read(_PLAIN))


def test_the_last_of_repeated_features_counts_whatever_its_digits() -> None:
    """This holds whether the kernel or, for many digits, Python parses the first or the last value."""
    halfway = "1.000000059604644775390625"
    assert _read(f"0 qid:1 1:{halfway} 1:7").matrix.tolist() == [[7.0]]
    assert _read(f"0 qid:1 1:7 1:{halfway}").matrix.tolist() == [[np.float32(float(halfway))]]


def test_the_text_of_scikit_learn_is_read_from_feature_0(tmp_path: Path) -> None:
    """`dump_svmlight_file` counts from 0; a test file without feature 0 still agrees."""
    features = np.array([[0.5, 0.0, 2.0], [1.5, 1.0, 0.0], [0.0, 3.0, 4.0], [0.0, 5.0, 6.0]])
    parts = {"train": slice(0, 2), "test": slice(2, 4)}  # the test part has no value of feature 0
    for name, rows in parts.items():
        labels, queries = np.array([1.0, 0.0]), np.array([7, 7])
        dump_svmlight_file(features[rows], labels, str(tmp_path / name), query_id=queries)
    train, test = (read_dataset(tmp_path / name) for name in parts)
    assert train.feature_names == ("f0", "f1", "f2")
    np.testing.assert_array_equal(train.features, features[:2])
    np.testing.assert_array_equal(align_features(test, train.feature_names).features, features[2:])
    named = read_dataset(tmp_path / "train", feature_names={"0": "bm25"})
    assert named.feature_names == ("bm25", "f1", "f2")
    with pytest.raises(InvalidInput, match="a feature of the file, 0 to 2; the names of a list start"):
        read_dataset(tmp_path / "train", feature_names={"1": "a", "2": "b", "3": "c"})


def test_bytes_that_are_not_utf8_stay_different_ids() -> None:
    """Ids in another encoding are escaped, not merged or refused."""
    assert _read(b"0 qid:\xe9 1:1\n0 qid:\xe8 1:1\n").query_ids == ("\\xe9", "\\xe8")


_OK = "0 qid:1 1:1\n"
_LONG = "9" * 60
_JUST_TOO_LARGE = "3.4028235677973366163753939545814e38"
_MALFORMED = [
    ("1_0 qid:1 1:1", 1, 1, "1_0", "expected a label"),
    ("- qid:1 1:1", 1, 1, "-", "expected a label"),
    (f"{_JUST_TOO_LARGE} qid:1 1:1", 1, 1, _JUST_TOO_LARGE, "finite"),
    ("1 1:1 2:2", 1, 3, "1:1", "expected qid:"),
    (_OK + "1 qid:1 a:1", 2, 9, "a:1", "<feature id>:<value>"),
    ("1 qid:1 99999999999999999999999:1#", 1, 9, "99999999999999999999999:1", "at most 100,000"),
    (_OK + "1 qid:1 1:+-1", 2, 9, "1:+-1", "expected a number"),
    (_OK + "1\tqid:1\t1:1\r\n1 qid:1 1:1:1\r\n", 3, 9, "1:1:1", "expected a number"),
    ("1 qid:é 1:é", 1, 10, "1:é", "expected a number"),
    (f"1 qid:1 x{_LONG}", 1, 9, f"x{_LONG}"[:39] + "…", "<feature id>:<value>"),
    ("1 qid:1 1:1\n2 qid:1 x\nbad", 2, 9, "x", "<feature id>:<value>"),
]


@pytest.mark.parametrize(("text", "line", "column", "found", "detail"), _MALFORMED)
def test_malformed_rows_are_located(text: str, line: int, column: int, found: str, detail: str) -> None:
    """The first error has line, column, found text (cut to 40 characters) and expected text.

    `test_malformed.py` has more cases, with their whole messages.
    """
    with pytest.raises(DatasetError, match=detail) as caught:
        _read(text)
    error = caught.value.problems[0]
    assert (error.file, error.line, error.column, error.text) == ("x.txt", line, column, found)
    assert (repr(found) if found else "the end of the line") in error.detail


@pytest.mark.parametrize("chunk", [1, 7, 64, 2**22])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_wrong_line_is_reported_in_file_order(
    monkeypatch: pytest.MonkeyPatch, chunk: int, threads: int
) -> None:
    """One problem a line, wherever chunks are cut and however many threads there are."""
    monkeypatch.setattr("core.data.rows.CHUNK_BYTES", chunk)
    text = b"1 qid:1 1:1\nx qid:1 1:1\n1 qid:1 1:1 2:y 3:z\n# fine\n1 qid:2 3:3\n1 1:1\n1 qid:3 1:1e50"
    with pytest.raises(DatasetError) as caught:
        read_letor(np.frombuffer(text, np.uint8), "x.txt", threads=threads)
    found = [(problem.line, problem.column, problem.text) for problem in caught.value.problems]
    assert found == [(2, 1, "x"), (3, 13, "2:y"), (6, 3, "1:1"), (7, 9, "1:1e50")]
    assert not caught.value.more


def test_a_hundred_problems_are_listed_and_more_are_indicated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another kind does not produce an endless list."""
    monkeypatch.setattr("core.data.rows.CHUNK_BYTES", 50)
    with pytest.raises(DatasetError, match="and at least 99 more") as caught:
        _read("x qid:1 1:1\n" * 1000)
    assert [problem.line for problem in caught.value.problems] == list(range(1, 101))
    assert caught.value.more


def test_labels_stay_as_they_were_judged() -> None:
    """Negative labels and NaN are read unchanged; the job maps or refuses them."""
    np.testing.assert_array_equal(_read("-1 qid:1 1:1\nnan qid:1 1:1").labels, [-1, np.nan])


def test_infinite_features_are_kept() -> None:
    """A feature spelled inf is infinite; the doctor reports it."""
    assert _read("1 qid:1 1:inf 2:-Infinity").matrix.tolist() == [[np.inf, -np.inf]]


def test_istella_writes_the_largest_float64_for_infinite_features() -> None:
    """Numbers between the ranges of float32 and float64 are still refused."""
    read = _read("1 qid:1 1:1.79769313486e+308 2:-1.79769313486e+308 3:1.7976931348623157e308").matrix
    assert read.tolist() == [[np.inf, -np.inf, np.inf]]
    for number in ("1.79e308", "1e309"):
        with pytest.raises(DatasetError, match=r"within float32's range of 3.4e38"):
            _read(f"1 qid:1 1:{number}")


def test_null_is_a_missing_feature() -> None:
    """LETOR 4.0 has a variant of its files with NULL."""
    assert np.isnan(_read("1 qid:1 1:NULL 2:null").matrix).all()
    halfway = "1.00000005960464477539062500000000001"  # makes Python's float read the row again
    read = _read(f"1 qid:1 1:NULL 2:{halfway} 3:1.79769313486e+308").matrix
    np.testing.assert_array_equal(read, np.array([[np.nan, 1.0, np.inf]], np.float32))
    with pytest.raises(DatasetError, match="1:-NULL"):
        _read("1 qid:1 1:-NULL")


def test_a_query_id_may_hold_a_number_sign() -> None:
    """Text after a # inside the query id is neither a comment nor lost."""
    dataset = _read("1 qid:a#1 1:5 3:6\n")
    assert (dataset.query_ids, dataset.matrix.tolist()) == (("a#1",), [[5, 0, 6]])


def test_pairs_in_comments_become_document_columns() -> None:
    """LETOR 4's `inc` and `prob`, with or without blanks around =; a document without a pair has no text."""
    dataset = _read(
        "2 qid:1 1:1 #docid = GX1 inc = 1 prob = 0.0246906\n"
        "1 qid:2 1:1 # GX2 judged by us prob=0.5 = 7 9lives = 3 inc =\n"
        "0 qid:1 1:1\n"
        "0 qid:1 1:1 # lang = de lang = é=1\n"
    )
    assert list(dataset.document_ids) == ["GX1", "2", "3", "GX2"]
    assert {name: list(column) for name, column in dataset.document_columns.items()} == {
        "inc": ["1", "", "", ""],
        "prob": ["0.0246906", "", "", "0.5"],
        "lang": ["", "", "é=1", ""],
    }
    assert _read("1 qid:1 1:2 # GX1 and more\n1 qid:1 1:2 #docid = GX2\n").document_columns == {}


@given(
    st.lists(st.text(st.sampled_from("ab1= \t=é"), max_size=24), min_size=1, max_size=6),
    st.booleans(),
)
def test_pairs_in_comments_are_found_as_by_a_regular_expression(comments: list[str], named: bool) -> None:
    """A key begins with a letter, a value is a word, the last one counts, and other text is ignored."""
    start = "#docid = D " if named else "# "
    text = "".join(f"1 qid:1 1:2 {start}{comment}\n" for comment in comments)
    expected: dict[str, list[str]] = {}
    for row, comment in enumerate(comments):
        rest = comment if named else re.sub(r"^[ \t]*[^ \t]+(?![^ \t])(?![ \t]*=)", "", comment)
        for key, value in re.findall(r"([^ \t=]*)[ \t]*=[ \t]*([^ \t]*)", rest):
            if value and re.match("[a-z]", key):
                expected.setdefault(key, [""] * len(comments))[row] = value
    found = _read(text).document_columns
    assert {name: list(column) for name, column in found.items()} == expected


def test_keys_that_come_late_become_columns() -> None:
    """A key that first appears after the first rows is found, too."""
    rows = [f"1 qid:{row // 10} 1:2 #docid = D{row} a = {row}" for row in range(3_000)]
    rows[2_500] += " late = yes"
    columns = _read("\n".join(rows)).document_columns
    assert list(columns["a"]) == [str(row) for row in range(3_000)]
    assert list(columns["late"]) == ["yes" if row == 2_500 else "" for row in range(3_000)]


def test_no_more_than_32_keys_become_columns() -> None:
    """The first 32 keys of the file become columns."""
    comment = " ".join(f"k{number} = {number}" for number in range(40))
    columns = _read(f"1 qid:1 1:2 #docid = X {comment}\n").document_columns
    assert {name: list(column) for name, column in columns.items()} == {
        f"k{number}": [str(number)] for number in range(32)
    }


def test_numbers_in_comments_make_no_features() -> None:
    """A colon in a comment does not change the width of the matrix."""
    assert _read("1 qid:1 1:5 # 99:1\n# 77:1\n").n_features == 1


def test_repeated_features_can_be_refused() -> None:
    """With `repeated_features="reject"` the second mention is the error."""
    with pytest.raises(DatasetError, match="each feature at most once in a row, but found '1:1'") as caught:
        _reading(b"0 qid:1 1:1 2:1\n0 qid:1 1:1 2:1 1:1\n", repeated_features="reject")
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (2, 17)


def test_scattered_queries_are_counted_or_refused() -> None:
    """The reading names scattered queries; with `error`, each is reported where its rows continue."""
    text = b"0 qid:a 1:1\n0 qid:b 1:1\n0 qid:a 1:1\n0 qid:b 1:1\n0 qid:a 1:1\n0 qid:c 1:1\n"
    reading = _reading(text)
    assert (reading.scattered_queries, reading.scattered_examples) == (2, ("a", "b"))
    with pytest.raises(DatasetError, match="rows of query 'a' to be contiguous") as caught:
        _reading(text, non_contiguous_queries="error")
    assert [(problem.line, problem.text) for problem in caught.value.problems] == [(3, "a"), (4, "b")]


@pytest.mark.parametrize("chunk", [1, 5, 13, 50])
def test_chunks_do_not_change_the_dataset(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """A query that runs over the border of chunks is one query, and nothing else changes either."""
    monkeypatch.setattr("core.data.rows.CHUNK_BYTES", chunk)
    text = "".join(f"{i % 3} qid:{i // 7} {1 + i % 5}:{i}.25 6:-{i}e-3 # d{i}\n" for i in range(60))
    dataset = _read(text)
    assert dataset.query_ids == tuple(str(i) for i in range(9))
    assert dataset.document_ids == [f"d{i}" for i in range(60)]
    assert dataset.labels.tolist() == [i % 3 for i in range(60)]
    assert [dataset.features[i, i % 5] for i in range(60)] == [i + 0.25 for i in range(60)]
    np.testing.assert_array_equal(
        dataset.features[:, 5], np.array([-i / 1000 for i in range(60)], np.float32)
    )


def test_features_take_the_names_given() -> None:
    """Names belong to feature ids; names of absent features, and names given twice, are refused."""
    names = _reading(b"1 qid:1 1:1 3:1\n", feature_names={"1": "bm25"}).dataset.feature_names
    assert names == ("bm25", "f2", "f3")
    for wrong in ({"4": "x"}, {"1": "f2"}):
        with pytest.raises(InvalidInput):
            _reading(b"1 qid:1 1:1 3:1\n", feature_names=wrong)


def test_progress_is_reported_and_may_stop_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is read twice: bytes rise to twice its size. An exception of the listener ends the reading."""
    monkeypatch.setattr("core.data.rows.CHUNK_BYTES", 100)
    text = np.frombuffer(_OK.encode() * 1000, np.uint8)
    seen: list[tuple[int, int]] = []
    read_letor(text, "x", on_progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert len(seen) > 10
    assert seen[-1] == (2 * text.size, 2 * text.size)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_letor(text, "x", on_progress=stop)


def test_the_matrix_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix beyond the limit is refused at the feature that makes it too wide."""
    text = np.frombuffer(b"0 qid:1 1:1\n0 qid:1 9:1 3:1\n", np.uint8)
    monkeypatch.setattr(options, "FREE_TABLE_BYTES", 200)
    assert read_letor(text, "x", limits=Limits(unpacked_ratio=1)).dataset.features.shape == (2, 9)
    monkeypatch.setattr(options, "FREE_TABLE_BYTES", 199)
    with pytest.raises(DatasetError, match=r"2 documents by 9 features take 200 bytes") as caught:
        read_letor(text, "x", limits=Limits(unpacked_ratio=1))
    problem = caught.value.problems[0]
    assert (problem.line, problem.column, problem.text) == (2, 9, "9:1")


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"\n \r\n# nothing\n", "found no document"),
        (b"\xef\xbb\xbf", "found no document"),
        (b"1 qid:1\n0 qid:1 # x\n", "no document has any"),
    ],
)
def test_text_without_documents_or_features_is_refused(content: bytes, detail: str) -> None:
    """A model could learn nothing from such text; the message describes a valid line."""
    with pytest.raises(DatasetError, match=detail):
        _reading(content)


@pytest.mark.long
@given(letor_datasets())
def test_written_text_reads_back_to_the_same_bits(dataset: RankingDataset) -> None:
    """Features (-0.0, subnormals, NaN), labels and ids survive LETOR text."""
    file = io.BytesIO()
    write_letor(dataset, file)
    assert_same(_read(file.getvalue()), dataset)


@pytest.mark.parametrize("blank", ["\xa0".encode(), b"\xa0", "\u2003".encode(), b"\x0b"])
def test_other_blanks_than_spaces_and_tabs_end_no_query_id(blank: bytes) -> None:
    """A no-break space, which an editor shows as a space, would make the first feature a part of the id."""
    with pytest.raises(DatasetError, match=r"line 2, column 7: expected a space or a tab after the query id"):
        _reading(b"1 qid:7 1:1 2:2\n0 qid:7%b1:1 2:2\n" % blank)
    dataset = RankingDataset.from_arrays([[1.0]], [0], [0, 1], query_ids=["a\xa0b"])
    with pytest.raises(InvalidInput, match="/query_ids/0: cannot be written as LETOR"):
        write_letor(dataset, io.BytesIO())


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "a\nb"])
def test_ids_that_letor_cannot_hold_are_refused(name: str) -> None:
    """An id with a blank would read back as another."""
    for ids in ({"query_ids": [name]}, {"document_ids": [name]}):
        dataset = RankingDataset.from_arrays([[1.0]], [0], [0, 1], **ids)  # type: ignore[arg-type] # mypy takes any keyword for every argument
        with pytest.raises(InvalidInput):
            write_letor(dataset, io.BytesIO())


def test_a_dataset_without_features_is_not_written() -> None:
    """A line of LETOR text needs a feature."""
    dataset = RankingDataset.from_arrays(np.empty((1, 0)), [0], [0, 1])
    with pytest.raises(InvalidInput, match="/features: cannot be written as LETOR"):
        write_letor(dataset, io.BytesIO())


@pytest.mark.parametrize(
    ("file", "queries", "documents", "features"),
    [
        ("lightgbm-rank/train.letor.txt", 201, 3005, 300),
        ("lightgbm-rank/test.letor.txt", 50, 768, 300),
        ("fastrank-trec-news/trec_news_2018.train", 45, 782, 5),
        ("fastrank-trec-news/trec_news_2018.test", 5, 41, 5),
        ("tfranking-libsvm/train.txt", 27, 119, 136),
    ],
)
def test_public_files_read_as_a_plain_parser_reads_them(
    shared_data: Path, file: str, queries: int, documents: int, features: int
) -> None:
    """Real files have the published sizes; each label and feature has the value that Python's float reads."""
    dataset = read_dataset(shared_data / file)
    assert (dataset.n_queries, dataset.n_documents, dataset.n_features) == (queries, documents, features)
    expected = np.zeros((documents, features), np.float32)
    labels = []
    for row, line in enumerate((shared_data / file).read_text().splitlines()):
        label, _, *pairs = line.partition("#")[0].split()
        labels.append(float(label))
        for pair in pairs:
            feature, _, value = pair.partition(":")
            expected[row, int(feature) - 1] = float(value)
    np.testing.assert_array_equal(dataset.features, expected, strict=True)
    assert dataset.labels.tolist() == labels


def test_docid_comments_become_document_ids(shared_data: Path) -> None:
    """The docid comments of LightGBM's example become the document ids."""
    dataset = read_dataset(shared_data / "lightgbm-rank/test.letor.txt")
    assert dataset.document_ids[:2] == ("test-1-0", "test-1-1")
