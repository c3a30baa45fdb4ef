"""The fast path of a scoring request against the slow one."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.http.bodies import parse_json
from app.scoring.json_candidates import JsonCandidates
from app.scoring.json_reader import fast_candidates
from app.scoring.schemas import RankRequest
from app.scoring.served_models import FEATURES_MEMBER, ServedModel
from app.scoring.slow_json import slow_candidates
from app.settings import ApiSettings
from core.errors import InvalidInput
from core.json_values import FeatureReader
from core.scorers import TreeModel
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree
from core.store import Model
from tests.app.conftest import TestClient
from tests.examples import examples

NAMES = ("bm25", "page rank", "age/days")
MODEL = ServedModel(
    "mdl_1",
    "web",
    1,
    NAMES,
    TreeModel(ModelText(("a", "b", "c"), (Tree.leaf(1.0),))),
    FeatureReader(FEATURES_MEMBER, NAMES),
    0.0,
)
JSON = {"Content-Type": "application/json"}
SETTINGS = ApiSettings(max_rank_documents=20, max_rank_queries=5)
VALUES = st.none() | st.floats(-1e30, 1e30) | st.integers(-9, 9)
IDS = st.text(max_size=4) | st.sampled_from(["a", "b"])
FEATURES = st.dictionaries(st.sampled_from(NAMES), VALUES) | st.lists(VALUES, min_size=3, max_size=3)
DOCUMENTS = st.lists(st.fixed_dictionaries({"id": IDS, "features": FEATURES}), max_size=4)
QUERIES = st.lists(st.fixed_dictionaries({"id": IDS, "documents": DOCUMENTS}), max_size=3)
ODD = st.sampled_from([None, 0, 7, "x", True, [], {}, [1], 1e39, -1, {"id": "a"}, [0.5, None, 2]])


@pytest.mark.long
@settings(max_examples=examples(300))
@given(st.data())
def test_both_paths_read_the_same(data: st.DataObject) -> None:
    """Requests are valid, or have some members replaced, added or removed."""
    request: Any = data.draw(
        st.fixed_dictionaries(
            {"queries": QUERIES}, optional={"top_k": st.integers(1, 5) | st.none(), "explain": st.booleans()}
        )
    )
    for _ in range(data.draw(st.integers(0, 2))):
        _spoil(data, request)
    content = json.dumps(request, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "surrogatepass")
    try:
        fast = fast_candidates(content, MODEL, SETTINGS)
    except InvalidInput:  # too many
        return
    if fast is None:
        return
    _assert_equal(fast, slow_candidates(RankRequest.model_validate(parse_json(content)), NAMES))


def test_an_ordinary_request_is_read_on_the_fast_path() -> None:
    """Otherwise the comparison above might compare nothing."""
    documents = [{"id": "d1", "features": {"bm25": 12.5}}, {"id": "d2", "features": [1, None, -0.5]}]
    content = json.dumps({"queries": [{"id": "q", "documents": documents}], "top_k": 3}).encode()
    fast = fast_candidates(content, MODEL, SETTINGS)
    assert fast is not None
    _assert_equal(fast, slow_candidates(RankRequest.model_validate(parse_json(content)), NAMES))
    assert fast.features.dtype == np.float32


def test_the_last_of_repeated_members_counts(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """The fast path leaves repeated members to the slow path, which keeps the last."""
    add_model("web")
    repeated = _body('"features":[1,1,1],"features":[0,2,2]', '"features":[0.5,3,3]')
    assert fast_candidates(repeated, MODEL, SETTINGS) is None
    answers = [
        client.post("/v1/models/web/rank", content=content, headers=JSON).json()
        for content in (repeated, _body('"features":[0,2,2]', '"features":[0.5,3,3]'))
    ]
    assert answers[0] == answers[1]
    assert [document["id"] for document in answers[0]["queries"][0]["ranking"]] == ["1", "0"]


def _body(*documents: str) -> bytes:
    """Return a request whose documents are given as the text after their ids."""
    listed = ",".join(f'{{"id":"{number}",{members}}}' for number, members in enumerate(documents))
    return f'{{"queries":[{{"id":"q","documents":[{listed}]}}]}}'.encode()


ESCAPED = '"\\u0066eatures"'
ELSEWHERE = (
    b'{"queries":[{"id":"q","documents":[{"id":"a","features":[1,1,1]}],"documents":[{"id":"b",%s:0}]}]}'
)


@pytest.mark.parametrize("value", ["0", "1", "7", "-1", "0.0", "true", "null", '"x"', "{}", "[3,3,3]", "[]"])
def test_an_escaped_name_has_the_meaning_of_the_plain_name(
    client: TestClient, add_model: Callable[[str], Model], value: str
) -> None:
    """For any value, both have the same status and scores, and never another document's features."""
    add_model("web")
    answers = [
        client.post("/v1/models/web/rank", content=content, headers=JSON)
        for content in (_body('"features":[1,1,1]', f"{name}:{value}") for name in (ESCAPED, '"features"'))
    ]
    assert answers[0].status_code == (200 if value in ("{}", "[3,3,3]") else 422)
    assert answers[0].json() == answers[1].json()


@pytest.mark.parametrize(
    "content",
    [
        _body('"features":[1,1,1]', f"{ESCAPED}:0"),
        _body('"features":[1,1,1]', f"{ESCAPED}:null"),
        _body('"features":[1,1,1],"features":[2,2,2]', f"{ESCAPED}:null"),
        _body('"features":[1,1,1]', f'"features":[2,2,2],{ESCAPED}:0'),
        _body('"features":[1,1,1]2'),
        _body('"features":[1,1,1]null'),
        _body('"features":[1,1,1]', '"features":null'),
        ELSEWHERE % ESCAPED.encode(),
        ELSEWHERE % b'"features"',
    ],
)
def test_texts_of_a_client_are_never_taken_for_parsed_features(content: bytes) -> None:
    """Numbers, nulls and repeated members in place of features are left to the slow path."""
    assert fast_candidates(content, MODEL, SETTINGS) is None


def test_too_many_queries_are_refused() -> None:
    """Queries are refused by their number, before scoring."""
    content = json.dumps({"queries": [{"id": "q", "documents": [{"id": "d", "features": {}}]}] * 6}).encode()
    with pytest.raises(InvalidInput, match="at most 5 queries"):
        fast_candidates(content, MODEL, SETTINGS)


@pytest.mark.parametrize(("documents", "max_documents"), [(21, None), (3, 2)])
def test_too_many_documents_are_not_read_on_the_fast_path(documents: int, max_documents: int | None) -> None:
    """Larger requests are left to the slow path, which counts documents, or to a thread."""
    rows = [{"id": str(number), "features": {}} for number in range(documents)]
    content = json.dumps({"queries": [{"id": "q", "documents": rows}]}).encode()
    assert fast_candidates(content, MODEL, SETTINGS, max_documents) is None


def _spoil(data: st.DataObject, value: Any) -> None:
    """Replace, add or remove a member somewhere."""
    while value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        if not isinstance(value[key], dict | list):
            break
        value = value[key]
    if isinstance(value, dict):
        name = data.draw(st.sampled_from([*sorted(value), "id", "features", "other"]))
        if data.draw(st.booleans()):
            value.pop(name, None)
        else:
            value[name] = deepcopy(data.draw(ODD))
    else:
        value.append(deepcopy(data.draw(ODD)))


def _assert_equal(fast: JsonCandidates, slow: JsonCandidates) -> None:
    np.testing.assert_array_equal(fast.features, slow.features)
    for name in ("query_ids", "document_ids", "top_k", "explain"):
        assert getattr(fast, name) == getattr(slow, name)
