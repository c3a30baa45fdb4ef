"""TREC's qrels and runs: read, joined and written."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, read_dataset
from core.data.reading import JudgedFile, read_file
from core.data.trec import Run, join_run, read_run, refuse_equal_spellings, write_qrels, write_run
from core.errors import DatasetError, InvalidInput
from core.evaluation import measure
from core.metrics import conventions
from tests.core.data.strategies import is_normalised

QRELS = b"q2 0 a 2\nq2\t0  b -1\r\nq1 0 c 0\n\nq2 0 d 1\n"
RUN = b"q1 Q0 c 2 0.5 me\nq9 Q0 c 1 0.5 me\nq1 Q0 x 1 1e-3 me\nq2 Q0 b 9 7 me\n"


def _file(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_qrels_are_a_dataset_without_features(tmp_path: Path) -> None:
    """Queries have the order of their first lines, with all their documents; any white space separates."""
    for content, requested in ((QRELS, "auto"), (gzip.compress(QRELS), "trec-qrels")):
        dataset = read_dataset(_file(tmp_path, content), requested)
        assert dataset.query_ids == ("q2", "q1")
        assert list(dataset.document_ids) == ["a", "b", "d", "c"]
        assert dataset.labels.tolist() == [2, -1, 1, 0]
        assert dataset.query_boundaries.tolist() == [0, 3, 4]
        assert dataset.features.shape == (4, 0)


@pytest.mark.parametrize("query", ["<q>", "#7", "{1}", "[", "qid:1", "PAR"])
def test_a_query_may_be_called_anything(tmp_path: Path, query: str) -> None:
    """Qrels are recognised by their four words, before markup, comments or LETOR."""
    dataset = read_dataset(_file(tmp_path, f"{query} 0 #d 1\n".encode()))
    assert (dataset.query_ids, list(dataset.document_ids)) == ((query,), ["#d"])


@pytest.mark.parametrize("requested", ["auto", "trec-qrels"])
def test_comments_of_qrels_are_left_out(tmp_path: Path, requested: str) -> None:
    """Comments may be anywhere and hold four words; an error has the number of its line."""
    content = b"# pooled in 2026\n#note\nq2 0 a 2\n \t# q1 0 z 1\n#7 0 b 1\n# q\nq1 1 c 0\n#"
    dataset = read_dataset(_file(tmp_path, content), requested)
    assert dataset.query_ids == ("q2", "#7", "q1")
    assert list(dataset.document_ids) == ["a", "b", "c"]
    assert dataset.labels.tolist() == [2, 1, 0]
    with pytest.raises(DatasetError, match="line 4, column 1: expected 4 words"):
        read_dataset(_file(tmp_path, b"# made\nq1 0 c 0\n# by us\nq1 0 d\n"), "trec-qrels")
    with pytest.raises(DatasetError, match="only comments"):
        read_dataset(_file(tmp_path, b"# made\n\n"), "trec-qrels")


def test_words_after_the_tag_of_a_run_are_left_out(tmp_path: Path) -> None:
    """A tag may be followed by remarks, as in trec_eval."""
    words = [b"", b" of Monday", b" k1=0.9 b=0.4 rm3"]
    lines = [b"q1 Q0 d%d 1 %d.5 me%s\n" % (index, index, more) for index, more in enumerate(words)]
    run = read_run(_file(tmp_path, b"".join(lines)))
    assert list(run.document_ids) == ["d0", "d1", "d2"]
    assert run.scores.tolist() == [0.5, 1.5, 2.5]


def test_scattered_queries_of_qrels_are_counted_and_named(tmp_path: Path) -> None:
    """A query whose lines are contiguous is not counted, although it is the first of the file."""
    content = b"q1 0 a 1\nq2 0 a 1\nq3 0 a 1\nq2 0 b 0\nq3 0 b 0\nq2 0 c 0\n"
    reading = read_file(JudgedFile(_file(tmp_path, content), "file"))
    assert (reading.scattered_queries, reading.scattered_examples) == (2, ("q2", "q3"))


def test_a_table_of_four_columns_is_not_read_as_qrels(tmp_path: Path) -> None:
    """The first line names the columns, although all other lines could be judgments."""
    dataset = read_dataset(_file(tmp_path, b"qid\tx\tdocid\tlabel\n1\t0\t7\t2\n1\t1\t8\t0\n"))
    assert dataset.feature_names == ("x",)
    assert dataset.labels.tolist() == [2, 0]


def test_a_run_is_read_with_its_scores(tmp_path: Path) -> None:
    """Documents are gathered by query in the order of their lines; the ranks are not kept."""
    run = read_run(_file(tmp_path, RUN))
    assert run.query_ids == ("q1", "q9", "q2")
    assert list(run.document_ids) == ["c", "x", "c", "b"]
    assert run.scores.tolist() == [0.5, 0.001, 0.5, 7.0]
    assert run.query_boundaries.tolist() == [0, 2, 3, 4]


def test_judged_and_retrieved_documents_are_joined(tmp_path: Path) -> None:
    """Judged documents are first; unjudged ones have no label, and those not retrieved have no score."""
    joined = join_run(read_dataset(_file(tmp_path, QRELS)), read_run(_file(tmp_path, RUN, "run")))
    assert joined.query_ids == ("q2", "q1")
    assert list(joined.document_ids) == ["a", "b", "d", "c", "x"]
    np.testing.assert_array_equal(joined.labels, [2, -1, 1, 0, np.nan])
    np.testing.assert_array_equal(joined.scores, [np.nan, 7, np.nan, 0.5, 0.001])
    assert joined.query_boundaries.tolist() == [0, 3, 5]
    assert (joined.unknown_queries, joined.queries_without_results) == (1, 0)


def test_a_join_needs_a_common_query_and_unique_document_ids() -> None:
    """Each refusal points at what to change."""
    dataset = RankingDataset.from_arrays(
        np.empty((2, 0)), [1, 0], [0, 2], query_ids=["q"], document_ids=["a", "a"]
    )
    run = Run.from_columns(["q"], ["a"], [1.0])
    with pytest.raises(InvalidInput, match="/dataset_id"):
        join_run(dataset, run)
    with pytest.raises(InvalidInput, match=r"/ranking_id: .*the ranking has 'p', the dataset 'q'"):
        join_run(dataset, Run.from_columns(["p"], ["a"], [1.0]))


def test_a_run_without_a_judged_document_is_refused_with_both_spellings(tmp_path: Path) -> None:
    """Every metric would be 0, as if the run ranked badly."""
    dataset = read_dataset(_file(tmp_path, b"q 0 4006381333931 1\nq 0 7 0\nr 0 8 1\n"))
    run = Run.from_columns(["q", "q", "r"], ["4.006e+12", "07", "08"], [3.0, 2.0, 1.0])
    with pytest.raises(InvalidInput, match="0 of 3 retrieved documents are judged") as caught:
        join_run(dataset, run)
    assert "the ranking has '4.006e+12', '07', and the dataset has '4006381333931', '7'" in str(caught.value)
    assert join_run(dataset, Run.from_columns(["q", "r"], ["7", "8.0"], [2.0, 1.0])).unknown_queries == 0


def test_ids_with_blanks_are_joined(tmp_path: Path) -> None:
    """Run files encode the blanks of ids, as in `red%20shoes`; stored rankings keep them."""
    lines = "red%20shoes Q0 sku%209 1 2.5 me\nred%20shoes Q0 sku-1 2 1.5 me\n"
    table = "query_id,document_id,label,bm25\nred shoes,sku-1,0,1\nred shoes,sku 9,1,2\n"
    dataset = read_dataset(_file(tmp_path, table.encode()))
    stored = Run.from_columns(["red shoes"] * 2, ["sku 9", "sku-1"], [2.5, 1.5])
    for run in (read_run(_file(tmp_path, lines.encode(), "run")), stored):
        joined = join_run(dataset, run)
        assert joined.scores.tolist() == [1.5, 2.5]
        assert list(joined.document_ids) == ["sku-1", "sku 9"]
        assert joined.unknown_queries == 0


def test_equal_ids_are_joined_before_encoded_ones(tmp_path: Path) -> None:
    """A dataset may have both `red shoes` and `red%20shoes`, as logs of searches do."""
    table = "query_id,document_id,label,bm25\nred shoes,a b,1,1\nred shoes,a%20b,0,2\nred%20shoes,a%20b,1,3\n"
    dataset = read_dataset(_file(tmp_path, table.encode()))
    queries, documents = ["red%20shoes", "red shoes", "red shoes"], ["a%20b", "a%20b", "a b"]
    joined = join_run(dataset, Run.from_columns(queries, documents, [3.0, 2.0, 1.0]))
    assert joined.scores.tolist() == [1, 2, 3]
    assert list(joined.document_ids) == ["a b", "a%20b", "a%20b"]
    encoded = join_run(dataset, Run.from_columns(["red%20shoes"], ["a b"], [3.0]))
    np.testing.assert_array_equal(encoded.scores, [np.nan, np.nan, 3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"q Q0 d 1 0.5\n", "line 1, column 1: expected 6 words (qid Q0 docno rank score tag)"),
        (b"q Q0 d 1 0.5 me\nq Q0 e 2 nan me\n", "line 2, column 10: expected a score, a finite number"),
        (b"q Q0 d 1 x me\n", "line 1, column 10: expected a score, a finite number, but found 'x'"),
        (
            b"q Q0 d 1 2 me\np Q0 d 1 2 me\n\nq Q0 d 2 1 me\n",
            "line 4, column 6: expected each document once per query (first on line 1), but found 'd'",
        ),
        (b"\n \n", "expected lines of qid, Q0, docno, rank, score, tag, but found only blank lines"),
        (b"PK\x03\x04\x14\0", "expected a TREC run, but found a ZIP archive"),
        (
            b"red shoes Q0 d1 1 9.1 me\n",
            "line 1, column 1: expected a query id without blanks; write %20 in place of each blank,"
            " but found 'red shoes'",
        ),
        (b"", "the file is empty"),
    ],
)
def test_a_malformed_run_is_refused_with_line_and_column(
    tmp_path: Path, content: bytes, message: str
) -> None:
    """The error has the line, the column and the value expected there."""
    with pytest.raises(DatasetError) as caught:
        read_run(_file(tmp_path, content), "my.run")
    assert str(caught.value).startswith("file my.run")
    assert message in str(caught.value)


def test_at_most_a_hundred_mistakes_are_listed(tmp_path: Path) -> None:
    """The error has a flag for further mistakes."""
    with pytest.raises(DatasetError) as caught:
        read_run(_file(tmp_path, b"q Q0 d\n" * 150))
    assert (len(caught.value.problems), caught.value.more) == (100, True)


def test_published_judgments_measure_as_in_trec_eval(shared_data: Path, tmp_path: Path) -> None:
    """Each query agrees for TREC News 2018 and a run with ties, unjudged documents and fewer queries."""
    path = shared_data / "fastrank-trec-news" / "newsir18-entity.qrel"
    judged: dict[str, dict[str, int]] = {}
    for query, _, document, relevance in map(str.split, path.read_text().splitlines()):
        judged.setdefault(query, {})[document] = int(relevance)
    dataset = read_dataset(path)
    assert dataset.query_ids == tuple(judged)
    assert dataset.labels.tolist() == [label for labels in judged.values() for label in labels.values()]

    random = np.random.default_rng(7)
    retrieved: dict[str, dict[str, float]] = {"unknown": {"d": 1.0}}
    for query in list(judged)[2:]:
        candidates = [*judged[query], *(f"unjudged{number}" for number in range(8))]
        kept = random.permutation(candidates)[: max(1, len(candidates) * 2 // 3)].tolist()
        retrieved[query] = {document: float(random.integers(0, 6)) for document in kept}
    lines = [
        f"{query} Q0 {document} 0 {score} me\n"
        for query, scores in retrieved.items()
        for document, score in scores.items()
    ]
    random.shuffle(lines)
    joined = join_run(dataset, read_run(_file(tmp_path, "".join(lines).encode())))
    assert (joined.unknown_queries, joined.queries_without_results) == (1, 2)
    names = {"map": "map", "mrr": "recip_rank", "ndcg": "ndcg", "ndcg@10": "ndcg_cut_10", "bpref": "bpref"}
    names |= {"precision@10": "P_10", "recall@100": "recall_100"}
    found = measure(joined.scores, joined, list(names), conventions("trec_eval"))
    theirs = pytrec_eval.RelevanceEvaluator(judged, pytrec_eval.supported_measures).evaluate(retrieved)
    for ours, name in names.items():
        expected = [theirs.get(query, {}).get(name, 0.0) for query in dataset.query_ids]
        np.testing.assert_allclose(found[ours], expected, atol=1e-9, err_msg=ours)


# A line that begins with the word # is a comment.
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=6).filter(
    lambda word: word != "#" and is_normalised(word)
)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=10, unique=True)


@pytest.mark.long
@given(pairs=PAIRS, data=st.data())
def test_written_qrels_and_runs_read_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Any ids without blanks and whole labels are kept; a run keeps the order of equal scores."""
    folder = tmp_path_factory.mktemp("trec")
    pairs = sorted(pairs)
    queries, documents = (list(column) for column in zip(*pairs, strict=True))
    labels = data.draw(st.lists(st.integers(-2, 30), min_size=len(pairs), max_size=len(pairs)))
    batch = pa.RecordBatch.from_pydict(
        {"query_id": queries, "document_id": documents, "label": pa.array(labels, pa.float32())}
    )
    path = _file(folder, "".join(write_qrels([batch])).encode(), "q")
    read = read_dataset(path, "trec-qrels")
    assert sorted(zip(_query_id_of_each_document(read), read.document_ids, strict=True)) == pairs
    assert dict(
        zip(zip(_query_id_of_each_document(read), read.document_ids, strict=True), read.labels, strict=True)
    ) == dict(zip(pairs, labels, strict=True))
    scores = data.draw(st.lists(st.sampled_from([1.0, 0.5, -3.25]), min_size=len(pairs), max_size=len(pairs)))
    ranked = sorted(
        zip(queries, [-score for score in scores], documents, strict=True), key=lambda row: row[:2]
    )
    ranked_batch = pa.RecordBatch.from_pydict(
        {
            "query_id": [row[0] for row in ranked],
            "document_id": [row[2] for row in ranked],
            "rank": list(range(1, len(ranked) + 1)),
            "score": [-row[1] for row in ranked],
        }
    )
    run = read_run(_file(folder, "".join(write_run([ranked_batch], "me")).encode(), "r"))
    assert list(run.document_ids) == [row[2] for row in ranked]
    for start, stop in zip(run.query_boundaries[:-1], run.query_boundaries[1:], strict=True):
        assert (np.diff(run.scores[start:stop]) < 0).all()


def test_scores_beyond_float32_keep_their_order(tmp_path: Path) -> None:
    """Every written score is finite as float32, as trec_eval reads it, and falls strictly."""
    limit = float(np.finfo(np.float32).max)
    scores = [1e300, limit, limit, 0.0, -limit, -limit, -limit, -1e300]
    batch = pa.RecordBatch.from_pydict(
        {"query_id": ["q"] * 8, "document_id": list("abcdefgh"), "rank": list(range(1, 9)), "score": scores}
    )
    run = read_run(_file(tmp_path, "".join(write_run([batch], "me")).encode(), "r"))
    written = run.scores.astype(np.float32)
    assert np.isfinite(written).all()
    assert (np.diff(written.astype(np.float64)) < 0).all()


def _query_id_of_each_document(dataset: RankingDataset) -> list[str]:
    return np.repeat(np.array(dataset.query_ids, object), np.diff(dataset.query_boundaries)).tolist()


def test_blanks_in_ids_are_encoded_and_missing_labels_left_out() -> None:
    """A blank would shift the columns; qrels cannot express a missing label."""
    batch = pa.RecordBatch.from_pydict(
        {
            "query_id": ["q 1", "q 1"],
            "document_id": ["a\tb", "c"],
            "label": pa.array([1.0, float("nan")], pa.float32()),
        }
    )
    assert "".join(write_qrels([batch])) == "q%201 0 a%09b 1\n"


def _batch(query: str, *documents: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"query_id": [query] * len(documents), "document_id": list(documents)})


def test_ids_with_one_spelling_are_refused_within_a_query() -> None:
    """A query may continue in the next batch; another query may have a document of the same spelling."""
    refuse_equal_spellings([_batch("a b", "x y", "z", "x%25"), _batch("b", "x%20y"), _batch("c", "x y")])
    with pytest.raises(InvalidInput, match="'x%20y' for both 'x y' and 'x%20y'; download Parquet instead"):
        refuse_equal_spellings([_batch("a", "z", "x y"), _batch("a", "x%20y")])
    with pytest.raises(InvalidInput, match="'a%20b' for both 'a b' and 'a%20b'"):
        refuse_equal_spellings([_batch("a b", "x"), _batch("b", "x"), _batch("a%20b", "y")])
