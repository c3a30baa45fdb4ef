"""Untrusted JSON: deep nesting, many containers, and numbers out of range."""

import itertools
import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app import ApiSettings
from app.http.bodies import parse_json
from app.http.problems import MAX_PROBLEMS
from app.http.services import registered
from app.scoring.services import ScoringServices
from core.store import Model
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded  # no test depends on the store

MEBIBYTE = 2**20
HUGE = 10**400


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings with the default limits of body sizes."""
    defaults = ApiSettings(data_dir=settings.data_dir)
    update = {name: getattr(defaults, name) for name in ("max_json_bytes", "max_rank_bytes")}
    return settings.model_copy(update=update | {"max_rank_queries": 3, "max_rank_documents": 20})


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_deep_nesting_is_refused_before_it_is_built(opening: str) -> None:
    """16 MiB of opening brackets are refused with less than 1 MiB of memory."""
    bomb = (opening * (16 * MEBIBYTE))[: 16 * MEBIBYTE].encode()
    tracemalloc.start()
    with pytest.raises(json.JSONDecodeError, match=r"recursion limit|arrays and objects"):
        parse_json(bomb)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < MEBIBYTE


def test_many_containers_are_refused_before_they_are_built() -> None:
    """Five million empty arrays would be 450 MB."""
    bomb = b"[" + b"[]," * (5 * MEBIBYTE) + b"1]"
    tracemalloc.start()
    with pytest.raises(json.JSONDecodeError, match="more than 100000 arrays and objects"):
        parse_json(bomb)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < MEBIBYTE


@pytest.mark.parametrize("number", [b"1" * 5_000, b"1" * MEBIBYTE, b"-" + b"9" * 5_000])
def test_endless_digits_are_refused(number: bytes) -> None:
    """Converting a million digits to a number takes minutes."""
    with pytest.raises(json.JSONDecodeError, match="out of range"):
        parse_json(number)


def test_the_last_of_duplicate_members_counts() -> None:
    """Python's parser does the same, and the OpenAPI document describes it."""
    assert parse_json(b'{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize("content", [b"[" * 500, b'{"kind":' * 500, b"[]," * 300_000])
@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/datasets/synthetic", "/v1/models/web/rank"])
def test_bombs_in_a_body_are_refused(client: TestClient, path: str, content: bytes) -> None:
    """The answer is 422 on every endpoint that reads JSON."""
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("not valid JSON")


@pytest.mark.parametrize("field", ["columns", "feature_names"])
@pytest.mark.parametrize("bomb", ["[" * 200_000, '{"a":' * 40_000, "1" * 5_000, "NaN"])
def test_bombs_in_the_fields_of_an_upload_are_refused(client: TestClient, field: str, bomb: str) -> None:
    """JSON in a text field is parsed as strictly as a body."""
    answer = client.post("/v1/datasets", files={"file": ("a", b"1 qid:1 1:1\n")}, data={field: bomb})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [f"/{field}"]


TRAIN: dict[str, Any] = {
    "kind": "train",
    "model_name": "web",
    "dataset_id": "ds_1",
    "loss": {"name": "ndcg-loss2++"},
}
EVALUATE: dict[str, Any] = {"kind": "evaluate", "model": "web", "dataset_id": "ds_1"}
COMPARE: dict[str, Any] = {
    "kind": "compare",
    "dataset_id": "ds_1",
    "systems": [{"model": "a"}, {"model": "b"}],
}
SYNTHETIC: dict[str, Any] = {"queries": 3}
RANK: dict[str, Any] = {"queries": [{"id": "q", "documents": [{"id": "d", "features": {}}]}]}
_SCHEMAS = {
    "/v1/jobs TrainRequest": ("/v1/jobs", TRAIN),
    "/v1/jobs EvaluateRequest": ("/v1/jobs", EVALUATE),
    "/v1/jobs CompareRequest": ("/v1/jobs", COMPARE),
    "/v1/datasets/synthetic SyntheticDatasetRequest": ("/v1/datasets/synthetic", SYNTHETIC),
    "/v1/models/web/rank RankRequest": ("/v1/models/web/rank", RANK),
}


def _number_fields(
    schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0
) -> Iterator[tuple[str, ...]]:
    """Yield the path of every member of an object that may be a number."""
    for name, member in schema.get("properties", {}).items():
        for choice in (member, *member.get("anyOf", []), *member.get("oneOf", [])):
            if choice.get("type") in ("integer", "number"):
                yield (name,)
            if "$ref" in choice and depth < 3:
                below = schemas[choice["$ref"].rpartition("/")[2]]
                for path in _number_fields(below, schemas, depth + 1):
                    yield (name, *path)


def _with(payload: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    head, *rest = path
    below = _with(payload.get(head, {}), tuple(rest), value) if rest else value
    return payload | {head: below}


@pytest.mark.long
@pytest.mark.parametrize("case", _SCHEMAS)
def test_numbers_beyond_every_bound_in_a_body_are_refused(
    refusing_client: TestClient, openapi_document: dict[str, Any], case: str
) -> None:
    """A number out of range in any numeric member is an error of the caller, and never a 500."""
    path, payload = _SCHEMAS[case]
    schemas = openapi_document["components"]["schemas"]
    fields = set(_number_fields(schemas[case.rpartition(" ")[2]], schemas))
    assert fields
    for field, number in itertools.product(fields, (str(HUGE), f"-{HUGE}", "1e999", "1e400")):
        body = json.dumps(_with(payload, field, "NUMBER")).replace('"NUMBER"', number)
        answer = refusing_client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422, (field, number, answer.text)
    for field in fields:  # 404: the value is valid, but the dataset does not exist
        answer = refusing_client.post(path, json=_with(payload, field, 2**63))
        assert answer.status_code in (404, 422), (field, answer.text)


@pytest.mark.long
@pytest.mark.parametrize("number", [str(HUGE), "1" * 5_000, "1e999", str(2**63), "-1"])
@pytest.mark.parametrize(
    "path",
    [
        "/v1/jobs?limit=",
        "/v1/models?limit=",
        "/v1/datasets/ds_1/queries?limit=",
        "/v1/datasets/ds_1/queries/q?offset=",
        "/v1/jobs/job_1/history?after=",
    ],
)
def test_numbers_beyond_every_bound_in_a_query_parameter_are_refused(
    refusing_client: TestClient, path: str, number: str
) -> None:
    """The answer is 422, as for a number in a body."""
    assert refusing_client.get(path + number).status_code == 422


@pytest.mark.long
def test_a_body_that_is_wrong_everywhere_gets_a_short_answer(client: TestClient) -> None:
    """50,000 mistakes are counted, and the first `MAX_PROBLEMS` are listed."""
    answer = client.post("/v1/jobs", json=TRAIN | {f"x{n}": 1 for n in range(50_000)})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == MAX_PROBLEMS
    assert answer.json()["detail"].startswith("50000 problems; the first is")
    assert len(answer.content) < 20_000


def _rank(documents: list[int], features: Any) -> dict[str, Any]:
    return {
        "queries": [
            {"id": f"q{q}", "documents": [{"id": str(d), "features": features} for d in range(n)]}
            for q, n in enumerate(documents)
        ]
    }


@pytest.mark.parametrize(
    ("documents", "detail"),
    [
        ([1, 1, 1, 1], "/queries: at most 3 queries are scored in one request"),
        ([7, 7, 7], "/queries: at most 20 documents are scored in one request"),
    ],
)
def test_too_many_candidates_are_refused(
    client: TestClient, add_model: Callable[[str], Model], documents: list[int], detail: str
) -> None:
    """Settings limit the number of queries and the number of documents over all queries."""
    add_model("web")
    answer = client.post("/v1/models/web/rank", json=_rank(documents, {}))
    assert (answer.status_code, answer.json()["detail"]) == (422, detail)
    assert client.post("/v1/models/web/rank", json=_rank([7, 7, 6], {})).status_code == 200


def test_invalid_candidates_count_towards_the_limit(client: TestClient) -> None:
    """A million invalid documents are refused by their number, not one by one."""
    answer = client.post("/v1/models/web/rank", json={"queries": [{"id": "q", "documents": [1] * 10**6}]})
    assert answer.json()["detail"] == "/queries: at most 20 documents are scored in one request"


@pytest.mark.long
def test_few_wrong_features_are_listed(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """A list of the wrong length is one mistake; of unknown names, the first 50 are listed."""
    add_model("web")
    for features, listed in ((["x"] * 300_000, 1), ({f"g{n}": "x" for n in range(100_000)}, 50)):
        answer = client.post("/v1/models/web/rank", json=_rank([1], features))
        assert answer.status_code == 422
        assert len(answer.json()["errors"]) == listed


def test_values_of_all_documents_are_bounded(
    client: TestClient, add_model: Callable[[str], Model], application: Any
) -> None:
    """The number of documents times the model's features is limited, even if few values are sent."""
    add_model("web")  # the model has 3 features
    services = registered(application, ScoringServices)
    object.__setattr__(services, "settings", services.settings.model_copy(update={"max_rank_cells": 30}))
    assert client.post("/v1/models/web/rank", json=_rank([10], {})).status_code == 200
    refused = client.post("/v1/models/web/rank", json=_rank([11], {}))
    assert refused.status_code == 422
    assert "11 documents with the 3 features of this model are 33 values" in refused.json()["detail"]
