"""Candidates as dictionaries."""

import json
from typing import Any

import numpy as np
import pytest

from rankery.client.documents import batches, scoring_queries, with_locations
from rankery.client.views.results import Query
from rankery.errors import DataUnusable, RankeryApiError, WrongType


def test_documents_become_queries() -> None:
    """Queries are unchanged; documents become one query, or several by their query ids, in order."""
    whole = {"id": "q", "documents": [{"id": "d", "features": {"bm25": np.float32(1.5), "age": None}}]}
    expected = [{"id": "q", "documents": [{"id": "d", "features": {"bm25": 1.5, "age": None}}]}]
    assert scoring_queries(whole) == scoring_queries([whole]) == expected
    rows = [{"query": "b", "id": 7, "bm25": 1}, {"query": "a", "bm25": 2}, {"query": "b", "bm25": True}]
    assert scoring_queries(rows) == [
        {
            "id": "b",
            "documents": [{"id": "7", "features": {"bm25": 1}}, {"id": "2", "features": {"bm25": 1}}],
        },
        {"id": "a", "documents": [{"id": "1", "features": {"bm25": 2}}]},
    ]


def test_a_query_of_a_dataset_has_the_texts_of_categories() -> None:
    """Frames and cards have texts, as codes of a dataset may be other categories of a model."""
    rows = [("d1", [0.5, 1]), ("d2", [None, None]), ("d3", ["Infinity", 0])]
    documents = [
        {"document_id": name, "label": 1, "columns": {}, "features": features} for name, features in rows
    ]
    query = Query.model_validate(
        {
            "query_id": "q",
            "columns": {},
            "total": 3,
            "offset": 0,
            "feature_names": ["bm25", "shop"],
            "documents": documents,
            "categories": {"shop": {"0": "7", "1": "1001"}},
        }
    )
    assert query.to_arrow().select(["bm25", "shop"]).to_pydict() == {
        "bm25": [0.5, None, float("inf")],
        "shop": ["1001", None, "7"],
    }
    (table,) = query.card().tables
    assert table.columns == ["document", "#label", "#bm25", "shop"]
    assert [list(row) for row in table.rows] == [
        ["d1", "1", "0.5", "1001"],
        ["d2", "1", "", ""],
        ["d3", "1", "inf", "7"],
    ]


def nested(depth: int) -> Any:
    """Return a number within as many lists."""
    value: Any = 1.0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        ({"age": float("nan")}, r"document 'd' of query 'q', feature 'age': the value is nan; leave it out"),
        ({"age": float("inf")}, r"feature 'age': the value is inf; give a finite number"),
        ({"emb": [1.0, float("nan")]}, r"feature 'emb', value 1: the value is nan"),
        ({"age": object()}, r"feature 'age': expected a number, a text or None, not an object"),
        ({"emb": nested(600)}, r"feature 'emb', value 0: expected a number, a text or None, not a list of 1"),
        (nested(600), r"document 'd' of query 'q', value 0: expected a number, a text or None, not a list"),
    ],
)
def test_a_value_that_cannot_be_sent_is_named(features: Any, sentence: str) -> None:
    """JSON has no NaN, and features no lists of lists: the error names the document and the feature."""
    with pytest.raises(DataUnusable, match=sentence):
        scoring_queries([{"id": "q", "documents": [{"id": "d", "features": features}]}])


@pytest.mark.parametrize(
    ("candidates", "sentence"),
    [
        (3, r"expected here, not 3 \(int\)"),
        ("web", r"not 'web' \(str\)"),
        ([1.0], r"not a list with 1.0 \(float\)"),
        ([{"documents": []}, {}], "item 1 has no documents"),
        ({"id": "q", "documents": [{"id": "d"}]}, "document 0 of query 'q' must be"),
    ],
)
def test_a_wrong_type_is_a_type_error(candidates: Any, sentence: str) -> None:
    """The error has the accepted and the given type, and is a TypeError."""
    with pytest.raises(WrongType, match=sentence) as raised:
        scoring_queries(candidates)
    assert isinstance(raised.value, TypeError)


def test_a_batch_is_limited_by_its_size_in_json() -> None:
    """A batch ends at the limit of documents, bytes or queries, and a larger query is alone."""
    sizes = [1, 1, 3, 1, 5, 1]
    document = {"id": "d", "features": {"a_feature_with_a_long_name": 0.12345678901234567}}
    queries = [{"id": f"q{index}", "documents": [document] * size} for index, size in enumerate(sizes)]

    def split(documents: int, n_bytes: int, max_queries: int) -> list[list[int]]:
        split_queries = batches(queries, documents, n_bytes, max_queries)
        return [[len(query["documents"]) for query in batch] for batch in split_queries]

    assert split(12, 2**20, 6) == [sizes]
    assert split(4, 2**20, 6) == [[1, 1], [3, 1], [5], [1]]
    assert split(12, 2**20, 4) == [[1, 1, 3, 1], [5, 1]]
    bytes_of_three = len(json.dumps(queries[2]))
    assert split(12, bytes_of_three, 6) == [[1, 1], [3], [1], [5], [1]]


def test_a_refusal_names_the_document() -> None:
    """The error has names instead of pointers, and refusals of other fields are unchanged."""
    queries = scoring_queries({"id": "q", "documents": [{"id": "d", "features": {"bm_25": 1.0, "a/b": "x"}}]})
    pointer = "/queries/0/documents/0/features/"
    errors = [
        {"pointer": f"{pointer}bm_25", "detail": "not a feature of this model"},
        {"pointer": f"{pointer}a~1b", "detail": "must be a number"},
    ]
    error = with_locations(RankeryApiError(422, {"errors": errors}), queries, ["bm25", "a/b"])
    assert str(error) == (
        "document 'd' of query 'q', feature 'bm_25': not a feature of this model; did you mean 'bm25'?;"
        " document 'd' of query 'q', feature 'a/b': must be a number, not 'x'"
    )
    of_text = {"pointer": "/queries/0/documents/0/features/a~1b", "detail": "must be a number; it is numeric"}
    error = with_locations(RankeryApiError(422, {"errors": [of_text]}), queries, ["a/b"])
    assert str(error) == "document 'd' of query 'q', feature 'a/b': must be a number, not 'x'; it is numeric"
    other = RankeryApiError(422, {"errors": [{"pointer": "/top_k", "detail": "too many"}]})
    assert with_locations(other, queries, []) is other


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("emb", "has 2 values; the block has 3 features"),
        ("emb.0", "is also given by 'emb'"),
        ("bm25", "is beyond the range of float32"),
    ],
)
def test_only_an_unknown_name_has_a_suggestion_and_only_a_wrong_value_is_repeated(
    name: str, detail: str
) -> None:
    """An embedding column is no feature of the model, and a name that is given twice is no wrong value."""
    features = {"emb": [0.1, 0.2], "emb.0": 1.0, "bm25": 1e39}
    queries = [{"id": "q", "documents": [{"id": "d", "features": features}]}]
    errors = [{"pointer": f"/queries/0/documents/0/features/{name}", "detail": detail}]
    error = with_locations(RankeryApiError(422, {"errors": errors}), queries, ["bm25", "emb.0", "emb.1"])
    assert str(error) == f"document 'd' of query 'q', feature {name!r}: {detail}"
