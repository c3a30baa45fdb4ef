"""Frames of candidates, and frames of scores."""

import json
import warnings
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from core.data.tables.cells import category_texts
from rankery.client import Client
from rankery.client.frames.candidates import as_queries, prepare_candidates, split_into_requests
from rankery.client.frames.incoming import as_stream, as_table, table_of_columns
from rankery.client.frames.runs import (
    run_of_mapping,
    run_of_scores,
    run_of_table,
    scores_of_rows,
    scores_table,
)
from rankery.errors import DataUnusable, DataWarning, RankeryApiError

FRAME = pandas.DataFrame(
    {"query": ["a", "b", "a"], "document": ["x", "y", "z"], "bm25": [1.0, 2.0, 3.0], "age": [4.0, 5.0, 6.0]}
)
FEATURES = ["bm25", "age"]


def test_rows_are_gathered_and_scores_are_in_their_order() -> None:
    """The request has whole queries, and the scores have the order of the given rows."""
    candidates = prepare_candidates(FRAME, FEATURES, None, "web:1", allow_absent_features=False)
    assert candidates.table.column("query_id").to_pylist() == ["a", "a", "b"]
    assert candidates.table.column("document_id").to_pylist() == ["x", "z", "y"]
    answer = pa.table({"row": [1, 0, 2], "rank": [1, 2, 1]})
    assert candidates.with_frame_rows(answer, "rank").column("row").to_pylist() == [2, 0, 1]
    by_row = candidates.with_frame_rows(answer, "rows")
    assert (by_row.column("row").to_pylist(), by_row.column("rank").to_pylist()) == ([0, 1, 2], [2, 1, 1])


def test_ids_are_returned_as_they_were_given() -> None:
    """Booleans are sent as numbers, since the service refuses columns of booleans."""
    frame = FRAME.assign(query=[True, False, True], document=[1, 2, 3])
    candidates = prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False)
    with pa.ipc.open_stream(as_stream(candidates.table)) as reader:
        sent = reader.read_all()
    answer = sent.select(["query_id", "document_id"]).append_column("row", pa.array([0, 1, 2]))
    found = candidates.with_frame_rows(answer, "rows").to_pydict()
    assert [(type(query), query) for query in found["query_id"]] == [
        (bool, True),
        (bool, False),
        (bool, True),
    ]
    assert found["document_id"] == [1, 2, 3]


def test_a_refusal_names_the_row_of_the_frame() -> None:
    """The service counts the rows of a request, which are sorted by query and may be a part of the frame."""
    candidates = prepare_candidates(FRAME, FEATURES, None, "web:1", allow_absent_features=False)

    def refused(detail: str, first: int) -> str:
        problem = {"detail": f"/age: {detail}", "errors": [{"pointer": "/age", "detail": detail}]}
        return str(candidates.with_row_of_frame_in_message(RankeryApiError(422, problem), first))

    assert refused("row 1: is in this query twice", 0) == "/age: row 2: is in this query twice"
    assert refused("row 1: has a value", 1) == "/age: row 1: has a value"
    assert refused("must be a column of numbers", 0) == "/age: must be a column of numbers"


def test_whole_floats_are_ids() -> None:
    """Pandas has floats where rows with a missing id were removed; a fraction is no id."""
    frame = FRAME.assign(query=[2.0, 1.0, 2.0], document=[4006381333931.0, 8.0, 9.0])
    candidates = prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False)
    assert candidates.table.column("query_id").to_pylist() == [2, 2, 1]
    assert candidates.table.column("document_id").to_pylist() == [4006381333931, 9, 8]
    with pytest.raises(DataUnusable, match=r"row 1, column 'document': expected an id, .* but found 0\.5"):
        prepare_candidates(
            frame.assign(document=[1.0, 0.5, 2.0]), FEATURES, None, "web:1", allow_absent_features=False
        )


def test_a_refused_candidate_of_an_interleaving_is_named() -> None:
    """Requests have the rows of a frame by query; the pointer is of one request only."""
    pointer = "/queries/0/documents/1/features/age"

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(
                200, json={"id": "mdl_1", "name": "web", "version": 1, "feature_names": FEATURES}
            )
        return httpx.Response(422, json={"errors": [{"pointer": pointer, "detail": "is beyond the range"}]})

    expected = "document 'z' of query 'a', feature 'age': is beyond the range"
    with (
        Client("http://rankery.test", transport=httpx.MockTransport(answer)) as client,
        pytest.raises(RankeryApiError, match=expected),
    ):
        client.rank("web", FRAME, interleaving="itl_1")


@pytest.mark.parametrize("value", [1.5, "red", None, np.float32(1.5)])
def test_a_dictionary_of_single_values_is_refused_with_the_remedy(value: object) -> None:
    """A text is not a column of its characters."""
    with pytest.raises(
        DataUnusable, match=r"a list for each feature, but 'age' is .*; for one document, write \["
    ):
        table_of_columns({"bm25": [1.0], "age": value})


def test_several_usual_columns_of_a_role_are_refused() -> None:
    """Without a query all rows would be one list; a column of lists may be a feature of the model."""
    frame = FRAME.assign(qid=1)
    with pytest.raises(DataUnusable, match="query, qid could each be the query; name one in columns="):
        prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False)
    prepare_candidates(
        frame, FEATURES, {"query": "qid", "ignore": "query"}, "web:1", allow_absent_features=False
    )
    embedded = FRAME.assign(query_id=FRAME["query"], query=[[1.0]] * 3)
    candidates = prepare_candidates(
        embedded, [*FEATURES, "query.0"], None, "web:1", allow_absent_features=False
    )
    assert candidates.table.column_names == ["query_id", "document_id", "query", *FEATURES]


def test_a_text_of_the_query_beside_its_id_is_no_id() -> None:
    """Uploads read such a frame, so that candidates and scores of it are read, too."""
    frame = FRAME.assign(query_id=[7, 8, 7], query="red shoes", score=1.0)
    with pytest.warns(DataWarning, match=r"left out the columns \['query', 'score'\]"):
        candidates = prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False)
    assert candidates.table.column("query_id").to_pylist() == [7, 7, 8]
    assert scores_table(frame).column("query").to_pylist() == ["7", "8", "7"]


def test_other_columns_are_left_out_with_one_warning() -> None:
    """Undeclared columns raise one warning, and ignored columns raise none."""
    frame = FRAME.assign(label=1, market="de")
    with pytest.warns(DataWarning, match=r"left out the columns \['label', 'market'\]") as warned:
        candidates = prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False)
    assert len(warned) == 1
    assert candidates.table.column_names == ["query_id", "document_id", *FEATURES]
    prepare_candidates(frame, FEATURES, {"ignore": ["label", "market"]}, "web:1", allow_absent_features=False)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (FRAME.rename(columns={"bm25": "bm_25"}), r"lacks 1 of the 2 .*: 'bm25'.*did you mean 'bm_25'"),
        (FRAME.assign(age=["1", "old", "2"]), r"row 1, column 'age': expected a number.*'old'.*categor"),
        (FRAME.assign(query=["a", None, "b"]), r"row 1, column 'query': the id is missing"),
        (FRAME.assign(query=[UUID(int=1)] * 3), r"column 'query': ids are texts or .*, not .*uuid"),
        (FRAME[["query", "document"]], r"lacks 2 of the 2 features"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(frame: pandas.DataFrame, sentence: str) -> None:
    """The error has row and column."""
    with pytest.raises(DataUnusable, match=sentence):
        prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False)


def test_categories_may_be_texts_among_numbers() -> None:
    """Sizes such as 36, 38 and XL are categories of a declared type, not numbers with a mistake."""
    for frame in (
        FRAME.assign(age=pandas.Categorical(["36", "38", "XL"])),
        polars.from_pandas(FRAME).with_columns(
            age=polars.Series(["36", "38", "XL"], dtype=polars.Categorical)
        ),
    ):
        candidates = prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False)
        assert set(candidates.table.column("age").to_pylist()) == {"36", "38", "XL"}


def test_dates_are_sent_as_categories_of_a_dataset() -> None:
    """The service reads dates of an uploaded frame as these texts."""
    days = pandas.to_datetime(["2024-01-01", "2024-01-02", None]).tz_localize("UTC")
    for kind, expected in (
        (days.date, ["2024-01-01", "2024-01-02", None]),
        (pandas.Categorical(days), ["2024-01-01 00:00:00.000000Z", "2024-01-02 00:00:00.000000Z", None]),
    ):
        frame = FRAME.drop(columns="query").assign(age=kind)
        table = prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False).table
        assert table.column("age").to_pylist() == expected
        read, _ = category_texts(as_table(frame).column("age").combine_chunks())
        assert read.to_pylist() == [text or "" for text in expected]


def test_long_whole_numbers_of_a_categorical_type_are_sent_as_texts() -> None:
    """Requests in JSON would round them; shorter ones stay numbers, for models with a numeric feature."""
    for ids, expected in (([2**60, 7, 2**60], [str(2**60), str(2**60), "7"]), ([8, 7, 8], [8, 8, 7])):
        frame = FRAME.assign(age=pandas.Categorical(ids))
        table = prepare_candidates(frame, FEATURES, None, "web:1", allow_absent_features=False).table
        assert table.column("age").to_pylist() == expected


@pytest.mark.parametrize("empty", [[None] * 3, pandas.array([None] * 3, dtype="Int64")])
def test_a_feature_without_any_value_is_missing(empty: object) -> None:
    """A column of None alone has no type and is sent as missing, since the service refuses it untyped."""
    candidates = prepare_candidates(
        FRAME.assign(age=empty), FEATURES, None, "web:1", allow_absent_features=False
    )
    column = candidates.table.column("age")
    assert column.null_count == 3
    assert pa.types.is_floating(column.type) or pa.types.is_integer(column.type)


def test_booleans_are_numbers_in_json() -> None:
    """Requests in JSON for explanations and interleaved lists have the numbers of requests in Arrow."""
    table = pa.table({"query_id": ["a"], "document_id": ["x"], "new": [True], "emb": [[False, True]]})
    assert json.dumps(as_queries(table)[0]["documents"][0]["features"]) == '{"new": 1, "emb": [0, 1]}'


def test_a_long_frame_is_cut_between_queries() -> None:
    """Parts have a maximum number of rows, and a longer query stays whole."""
    table = pa.table({"query_id": ["a", "a", "b", "c", "c", "c", "d"], "bm25": [0.0] * 7})
    assert split_into_requests(table, 3, 2**20) == [(0, 3), (3, 6), (6, 7)]
    assert split_into_requests(table, 2, 2**20) == [(0, 2), (2, 3), (3, 6), (6, 7)]
    assert split_into_requests(table, 7, 2**20) == [(0, 7)]


def test_rows_that_are_only_scored_are_cut_anywhere() -> None:
    """Scores depend on no other document, so a part ends within a query, too."""
    table = pa.table({"query_id": ["a"] * 7, "bm25": [0.0] * 7})
    for scored in (table, table.drop_columns("query_id")):
        assert split_into_requests(scored, 3, 2**20, keep_queries=False) == [(0, 3), (3, 6), (6, 7)]
        assert split_into_requests(scored, 7, 2**20, keep_queries=False) == [(0, 7)]
    assert split_into_requests(table[:0], 3, 2**20, keep_queries=False) == [(0, 0)]


def test_scores_become_runs() -> None:
    """Frames and dictionaries become runs; rows without a score are omitted, and blanks are encoded."""
    frame = FRAME.assign(query=["red shoes", "b", "red shoes"], score=[0.5, float("nan"), 1.5])
    expected = "red%20shoes Q0 x 1 0.5 rankery\nred%20shoes Q0 z 1 1.5 rankery\n"
    assert "".join(run_of_table(scores_table(frame))) == expected
    assert "".join(run_of_mapping({"red shoes": {"x": 0.5, "z": 1.5}, "b": {"y": float("nan")}})) == expected


def test_ids_that_a_run_does_not_distinguish_are_refused() -> None:
    """Their rows would be one query or document of the run."""
    frame = FRAME.assign(query=["red shoes", "b", "red%20shoes"], score=1.0)
    with pytest.raises(DataUnusable, match="has 'red%20shoes' for both 'red shoes' and 'red%20shoes'"):
        list(run_of_table(scores_table(frame)))
    for run in ({"a b": {"x": 1.0}, "a%20b": {"x": 1.0}}, {"q": {"a b": 1.0, "a%20b": 2.0}}):
        with pytest.raises(DataUnusable, match="has 'a%20b' for both"):
            list(run_of_mapping(run))
    assert list(run_of_mapping({"q": {"a%20b": 1.0}, "r": {"a b": 1.0}}))


def test_a_run_without_scores_is_refused() -> None:
    """The message names the run, not the file that would be sent."""
    empty: list[Any] = [{}, {"a": {}}, {"a": {"x": float("nan")}}]
    for run in empty:
        with pytest.raises(DataUnusable, match="the run has no score"):
            list(run_of_mapping(run))
    for frame in (FRAME[:0], FRAME):
        with pytest.raises(DataUnusable, match="the run has no score"):
            list(run_of_table(scores_table(frame.assign(query="a", score=float("nan")))))


@pytest.mark.parametrize("kind", [bool, np.int8, np.float32, np.longdouble])
def test_an_array_of_any_type_of_numbers_becomes_a_run(kind: type) -> None:
    """The run has floating-point numbers, since its format has no booleans."""
    scores: Any = np.array([1, 0], kind)
    expected = "a Q0 x 1 1.0 rankery\na Q0 y 1 0.0 rankery\n"
    assert "".join(run_of_scores(scores, ["a", "a"], ["x", "y"])) == expected


def test_scores_without_documents_are_matched_within_queries() -> None:
    """Scores are matched by order within each query; another number of rows is refused."""
    run = scores_table(pandas.DataFrame({"query": ["b", "a", "a"], "score": [3.0, 1.0, 2.0]}))
    assert scores_of_rows(run, ["a", "a", "b"]).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(DataUnusable, match="query 'a' has 2 scores, but 1 documents"):
        scores_of_rows(run, ["a", "b"])


def test_a_repeated_name_is_refused() -> None:
    """A name is that of one column only."""
    with pytest.raises(DataUnusable, match=r"^two columns are named 'age'$"):
        prepare_candidates(
            pa.table([[1.0], [2.0], [3.0]], names=["bm25", "age", "age"]),
            FEATURES,
            None,
            "web:1",
            allow_absent_features=False,
        )


def test_a_column_that_may_have_the_documents_is_named() -> None:
    """Scores are matched by order if no column is the document; a column of texts raises a warning."""
    frame = pandas.DataFrame({"query": ["a", "a"], "sku": ["x", "y"], "score": [1.0, 2.0], "bm25": 0.0})
    with pytest.warns(DataWarning, match=r"by their order within each query; .* column 'sku' .* 'document'"):
        run = scores_table(frame)
    assert run.column_names == ["score", "query"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "document" in scores_table(frame, {"document": "sku"}).column_names
        scores_table(frame.rename(columns={"sku": "docno"}))
        assert scores_table(frame.assign(doc_id=["x", "y"], url="u"))["document"].to_pylist() == ["x", "y"]
        scores_table(frame.drop(columns="sku"))


@pytest.mark.parametrize(("name", "role"), [("docid", "document"), ("qid", "query")])
def test_ids_of_a_run_are_not_guessed(name: str, role: str) -> None:
    """A frame of PyTerrier has numbers and ids of documents, and ids and texts of queries."""
    frame = FRAME.assign(score=1.0, **{name: [7, 8, 9]})
    with pytest.raises(DataUnusable, match=f"{role}, {name} could each be the {role}; name one"):
        scores_table(frame)
    assert scores_table(frame, {role: name})[role].to_pylist() == ["7", "8", "9"]


@pytest.mark.parametrize(
    ("frame", "columns", "sentence"),
    [
        (
            FRAME.assign(score=1.0, prediction=2.0),
            None,
            "score, prediction could each be the score; name one",
        ),
        (FRAME.assign(score=1.0), {"scores": "bm25"}, "columns has no 'scores'; did you mean 'score'"),
    ],
)
def test_scores_are_not_guessed(frame: pandas.DataFrame, columns: Any, sentence: str) -> None:
    """An ambiguous score column is refused, since another system's scores could be evaluated."""
    with pytest.raises(DataUnusable, match=sentence):
        scores_table(frame, columns)
    assert scores_table(frame, {"score": "bm25"})["score"].to_pylist() == [1.0, 2.0, 3.0]


def test_a_document_twice_in_a_query_is_named_by_its_row() -> None:
    """A row without a score is not retrieved, and may repeat another."""
    frame = pandas.DataFrame({"query": "a", "document": ["x", "y", "x"], "score": [1.0, 2.0, np.nan]})
    assert scores_table(frame).num_rows == 3
    with pytest.raises(DataUnusable, match=r"^row 2: document 'x' is in query 'a' twice"):
        scores_table(frame.assign(score=3.0))


def test_scores_with_ids_in_the_index_are_refused_with_advice() -> None:
    """The index of pandas is not read."""
    with pytest.raises(
        DataUnusable, match=r"no column for the query.*frame.reset_index\(\) makes it a column"
    ):
        scores_table(FRAME.assign(score=1.0).set_index("query"))
