"""Refused payloads: status, message and pointer."""

from typing import Any

import pytest

from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded

TRAIN: dict[str, Any] = {
    "kind": "train",
    "model_name": "web",
    "dataset_id": "ds_1",
    "loss": {"name": "lambdarank"},
}
AUTO_TRAIN: dict[str, Any] = {"kind": "auto-train", "model_name": "web", "dataset_id": "ds_1"}
EVALUATE: dict[str, Any] = {"kind": "evaluate", "model": "web", "dataset_id": "ds_1"}

# payload, pointers of its mistakes
BAD_JOBS: dict[str, tuple[Any, list[str]]] = {
    "not an object": ([], [""]),
    "null": (None, [""]),
    "no kind": ({}, ["/kind"]),
    "kind unknown": ({"kind": "fly"}, ["/kind"]),
    "kind of another type": ({"kind": 3}, ["/kind"]),
    "kind that users cannot submit": ({"kind": "ingest", "dataset_id": "ds_1"}, ["/kind"]),
    "all required missing": ({"kind": "train"}, ["/model_name", "/loss", "/dataset_id"]),
    "unknown field": (TRAIN | {"epochs": 3}, ["/epochs"]),
    "unknown field named like a tag": (TRAIN | {"train": 3}, ["/train"]),
    "unknown field with characters that pointers escape": (TRAIN | {"a/b~c": 3}, ["/a~1b~0c"]),
    "loss null": (TRAIN | {"loss": None}, ["/loss"]),
    "loss as a name": (TRAIN | {"loss": "lambdarank"}, ["/loss"]),
    "loss without a name": (TRAIN | {"loss": {"sigma": 1.0}}, ["/loss/name"]),
    "loss unknown": (TRAIN | {"loss": {"name": "hinge"}}, ["/loss/name"]),
    "hyperparameter of another loss": (TRAIN | {"loss": {"name": "lambdarank", "mu": 5.0}}, ["/loss/mu"]),
    "loss below its bound": (TRAIN | {"loss": {"name": "lambdarank", "sigma": 0.0}}, ["/loss/sigma"]),
    "loss parameter as text": (TRAIN | {"loss": {"name": "lambdarank", "sigma": "1"}}, ["/loss/sigma"]),
    "loss parameter as a boolean": (TRAIN | {"loss": {"name": "lambdarank", "sigma": True}}, ["/loss/sigma"]),
    "loss parameter not whole": (
        TRAIN | {"loss": {"name": "lambdarank", "truncation_level": 2.5}},
        ["/loss/truncation_level"],
    ),
    "pair selection without a truncation level": (
        TRAIN | {"loss": {"name": "lambdarank", "pair_selection": "static"}},
        ["/loss/pair_selection"],
    ),
    "gains that fall below zero": (
        TRAIN | {"loss": {"name": "lambdarank", "gain": [0.0, -1.0]}},
        ["/loss/gain"],
    ),
    "interval zero": (TRAIN | {"metric_interval": 0}, ["/metric_interval"]),
    "hyperparameters out of bounds and unknown": (
        TRAIN | {"hyperparameters": {"num_leaves": 1, "boosting": "rf"}},
        ["/hyperparameters/num_leaves", "/hyperparameters/boosting"],
    ),
    "hyperparameters as an array": (TRAIN | {"hyperparameters": []}, ["/hyperparameters"]),
    "integer without end": (
        TRAIN | {"hyperparameters": {"num_leaves": 10**400}},
        ["/hyperparameters/num_leaves"],
    ),
    "number without end": (
        TRAIN | {"hyperparameters": {"learning_rate": 10**400}},
        ["/hyperparameters/learning_rate"],
    ),
    "constraints out of bounds": (
        TRAIN | {"hyperparameters": {"monotone_constraints": {"bm25": 2}, "interaction_constraints": [[]]}},
        ["/hyperparameters/monotone_constraints/bm25", "/hyperparameters/interaction_constraints/0"],
    ),
    "features chosen in no way": (TRAIN | {"features": {}}, ["/features"]),
    "features chosen in both ways": (TRAIN | {"features": {"use": ["a"], "leave_out": ["b"]}}, ["/features"]),
    "metric unknown": (TRAIN | {"metrics": ["ndcg@5", "ndgc@5"]}, ["/metrics/1"]),
    "cutoff zero": (TRAIN | {"metrics": ["ndcg@0"]}, ["/metrics/0"]),
    "metric of another type": (TRAIN | {"metrics": [5]}, ["/metrics/0"]),
    "metric twice": (TRAIN | {"metrics": ["map", "ndcg@5", "map"]}, ["/metrics/2"]),
    "no metrics": (TRAIN | {"metrics": []}, ["/metrics"]),
    "metrics as text": (TRAIN | {"metrics": "map"}, ["/metrics"]),
    "early stopping without validation": (
        TRAIN | {"early_stopping": {"metric": "ndcg@5", "rounds": 5}},
        ["/early_stopping"],
    ),
    "early stopping on an unknown metric": (
        TRAIN | {"validation": {"fraction": 0.2}, "early_stopping": {"metric": "loss", "rounds": 5}},
        ["/early_stopping/metric"],
    ),
    "early stopping after no rounds": (
        TRAIN | {"validation": {"fraction": 0.2}, "early_stopping": {"metric": "map", "rounds": 0}},
        ["/early_stopping/rounds"],
    ),
    "fold without folds": (TRAIN | {"validation": {"fold": 1}}, ["/validation/folds"]),
    "folds without fold": (TRAIN | {"test": {"folds": 5}}, ["/test/fold"]),
    "one fold": (TRAIN | {"validation": {"folds": 1, "fold": 1}}, ["/validation/folds"]),
    "a fold beyond the last": (TRAIN | {"test": {"folds": 3, "fold": 4}}, ["/test/fold"]),
    "column without values": (TRAIN | {"test": {"column": "split"}}, ["/test/values"]),
    "column with no value": (TRAIN | {"test": {"column": "split", "values": []}}, ["/test/values"]),
    "test as a dataset": (TRAIN | {"test": {"dataset_id": "ds_2"}}, ["/test"]),
    "two tests": (TRAIN | {"test": {"fraction": 0.1}, "test_dataset_id": "ds_2"}, ["/test"]),
    "label map from text": (TRAIN | {"label_map": {"good": 1}}, ["/label_map/good"]),
    "label map to below zero": (TRAIN | {"label_map": {"-1": -2}}, ["/label_map/-1"]),
    "label map to text": (TRAIN | {"label_map": {"1": "2"}}, ["/label_map/1"]),
    "validation empty": (TRAIN | {"validation": {}}, ["/validation"]),
    "validation as a number": (TRAIN | {"validation": 0.2}, ["/validation"]),
    "validation on everything": (TRAIN | {"validation": {"fraction": 1.0}}, ["/validation/fraction"]),
    "validation on nothing": (TRAIN | {"validation": {"fraction": 0}}, ["/validation/fraction"]),
    "validation in two ways": (
        TRAIN | {"validation": {"fraction": 0.2, "dataset_id": "ds_2"}},
        ["/validation/fraction"],
    ),
    "validation on the training data": (
        TRAIN | {"validation": {"dataset_id": "ds_1"}},
        ["/validation/dataset_id"],
    ),
    "test on the training data": (TRAIN | {"test_dataset_id": "ds_1"}, ["/test_dataset_id"]),
    "model name with a blank": (TRAIN | {"model_name": "my web"}, ["/model_name"]),
    "model name with a colon": (TRAIN | {"model_name": "web:3"}, ["/model_name"]),
    "model name like an id": (TRAIN | {"model_name": "mdl_1"}, ["/model_name"]),
    "model name too long": (TRAIN | {"model_name": "w" * 101}, ["/model_name"]),
    "model name with a line end": (TRAIN | {"model_name": "web\n"}, ["/model_name"]),
    "id with NUL": (TRAIN | {"dataset_id": "ds_\x00"}, ["/dataset_id"]),
    "seed negative": (TRAIN | {"seed": -1}, ["/seed"]),
    "seed too large": (TRAIN | {"seed": 2**31}, ["/seed"]),
    "mistakes in several places": (
        TRAIN | {"metrics": ["x"], "test_dataset_id": "ds_1"},
        ["/test_dataset_id", "/metrics/0"],
    ),
    "the best model without data": ({"kind": "auto-train", "model_name": "web"}, ["/dataset_id"]),
    "the best model by a loss": (AUTO_TRAIN | {"loss": {"name": "lambdarank"}}, ["/loss"]),
    "the best model by an unknown metric": (AUTO_TRAIN | {"metric": "ndgc@5"}, ["/metric"]),
    "the best model in no time": (AUTO_TRAIN | {"budget_seconds": 9}, ["/budget_seconds"]),
    "the best model in two days": (AUTO_TRAIN | {"budget_seconds": 172_800}, ["/budget_seconds"]),
    "the best model of unknown candidates": (
        AUTO_TRAIN | {"candidates": ["linear by ranknet", "forest"]},
        ["/candidates/1"],
    ),
    "the best model of no candidates": (AUTO_TRAIN | {"candidates": []}, ["/candidates"]),
    "the best model by another preference": (AUTO_TRAIN | {"prefer": "fast"}, ["/prefer"]),
    "the best model, mistaken in several places": (
        AUTO_TRAIN | {"metric": "x", "label_map": {"1": -1}, "test_dataset_id": "ds_1"},
        ["/metric", "/label_map/1", "/test_dataset_id"],
    ),
    "evaluate without a model": ({"kind": "evaluate", "dataset_id": "ds_1"}, ["/model"]),
    "evaluate with an unknown metric": (EVALUATE | {"metrics": ["accuracy"]}, ["/metrics/0"]),
    "rank with metrics": (
        {"kind": "rank", "model": "web", "dataset_id": "ds_1", "metrics": []},
        ["/metrics"],
    ),
}

BAD_JSON: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "a JSON body is required"),
    "not JSON": (b"kind=train", "not valid JSON"),
    "cut short": (b'{"kind": "train"', "not valid JSON"),
    "something behind it": (b"{} {}", "not valid JSON"),
    "NaN": (b'{"kind": "train", "seed": NaN}', "not valid JSON"),
    "Infinity": (b'{"kind": "train", "seed": Infinity}', "not valid JSON"),
    "minus Infinity": (b'{"kind": "train", "seed": -Infinity}', "not valid JSON"),
    "not UTF-8": (b'{"kind": "\xff"}', "not valid JSON"),
    "half a surrogate pair": (b'{"kind": "\\ud800"}', "not valid JSON"),
    "nested without end": (b"[" * 10_000, "not valid JSON"),
    "digits without end": (b'{"seed": ' + b"9" * 6000 + b"}", "not valid JSON"),
}


@pytest.fixture
def client(refusing_client: TestClient) -> TestClient:
    """A client whose requests are refused."""
    return refusing_client


def _post(client: TestClient, content: bytes, content_type: str = "application/json") -> Any:
    return client.post("/v1/jobs", content=content, headers={"Content-Type": content_type})


@pytest.mark.parametrize("case", BAD_JOBS)
def test_each_mistake_in_a_job_has_a_pointer(client: TestClient, case: str) -> None:
    """422 lists a JSON pointer into the payload for each mistake, without the validator's own tags."""
    payload, pointers = BAD_JOBS[case]
    response = client.post("/v1/jobs", json=payload)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert (problem["type"], problem["status"]) == ("/problems/invalid-input", 422)
    assert [error["pointer"] for error in problem["errors"]] == pointers
    assert all(error["detail"] for error in problem["errors"])


@pytest.mark.parametrize(
    ("part", "detail"),
    [
        ({"hyperparameters": {"n_estimators": 300}}, "unknown field; did you mean num_iterations?"),
        ({"hyperparameters": {"num_leavs": 3}}, "unknown field; did you mean num_leaves?"),
        ({"hyperparameters": {"objective": "lambdarank"}}, "unknown field; set loss of the job instead"),
        ({"hyperparameters": {"zzz": 3}}, "unknown field"),
        ({"n_estimators": 300}, "unknown field; set hyperparameters.num_iterations"),
        ({"loss": {"name": "lambdarank", "truncation": 30}}, "unknown field; did you mean truncation_level?"),
        ({"loss": {"name": "lambdarank", "sigmoid": 2.0}}, "unknown field; did you mean sigma?"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(client: TestClient, part: dict[str, Any], detail: str) -> None:
    """A misspelled hyperparameter, or an alias of LightGBM, is answered with the right name."""
    response = client.post("/v1/jobs", json=TRAIN | part)
    assert [error["detail"] for error in response.json()["errors"]] == [detail]


def test_a_wrong_loss_gets_a_suggestion(client: TestClient) -> None:
    """The names of all losses and the most similar one are listed."""
    response = client.post("/v1/jobs", json=TRAIN | {"loss": {"name": "lambdrank"}})
    (error,) = response.json()["errors"]
    assert error["pointer"] == "/loss/name"
    assert error["detail"].startswith("must be one of 'mse', ")
    assert error["detail"].endswith("; did you mean lambdarank?")


def test_a_misplaced_name_hides_no_other_mistake(client: TestClient) -> None:
    """Each mistake keeps its pointer and its description."""
    part = {"num_leaves": 7, "zzz": 1, "hyperparameters": {"num_leavs": 3}, "label_map": 1}
    errors = client.post("/v1/jobs", json=TRAIN | part).json()["errors"]
    assert {error["pointer"]: error["detail"] for error in errors} == {
        "/label_map": "must be a JSON object",
        "/hyperparameters/num_leavs": "unknown field; did you mean num_leaves?",
        "/num_leaves": "unknown field; set hyperparameters.num_leaves",
        "/zzz": "unknown field",
    }


@pytest.mark.parametrize(
    ("name", "value", "example"),
    [
        ("monotone_constraints", [1, 0], '{"bm25": 1}'),
        ("monotone_constraints", "1,0", '{"bm25": 1}'),
        ("feature_contri", [0.5, 1], '{"bm25": 0.5}'),
        ("interaction_constraints", [[0, 1]], '[["bm25", "age"], ["clicks"]]'),
        ("interaction_constraints", "[0,1]", '[["bm25", "age"], ["clicks"]]'),
    ],
)
def test_values_by_column_get_an_example_by_name(
    client: TestClient, name: str, value: object, example: str
) -> None:
    """LightGBM takes constraints by column; the error has an example by feature name."""
    response = client.post("/v1/jobs", json=TRAIN | {"hyperparameters": {name: value}})
    details = [error["detail"] for error in response.json()["errors"]]
    assert {detail.partition(", such as ")[2] for detail in details} == {example}


@pytest.mark.parametrize("case", BAD_JSON)
def test_a_body_that_is_not_json_is_refused(client: TestClient, case: str) -> None:
    """Any body that is not valid JSON is a 422 with a description, never a 500."""
    content, detail = BAD_JSON[case]
    response = _post(client, content)
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == ""
    assert error["detail"].startswith(detail)


def test_a_byte_order_mark_is_skipped(client: TestClient) -> None:
    """PowerShell and editors of Windows save JSON files with a mark, which RFC 8259 lets parsers ignore."""
    response = _post(client, b'\xef\xbb\xbf{"kind": "train"}')
    assert response.json()["errors"][0]["pointer"] == "/model_name"


def test_a_number_beyond_float64_is_refused_with_a_pointer(client: TestClient) -> None:
    """1e999 is valid JSON, but overflows to infinity."""
    content = b'{"kind":"train","model_name":"w","dataset_id":"d","loss":{"name":"lambdarank","sigma":1e999}}'
    (error,) = _post(client, content).json()["errors"]
    assert error == {"pointer": "/loss/sigma", "detail": "must be a finite number"}


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_json_needs_its_media_type(client: TestClient, content_type: str) -> None:
    """A body of another media type is a 415."""
    response = _post(client, b"{}", content_type)
    assert response.status_code == 415
    assert response.json()["type"] == "/problems/unsupported-media-type"


def test_json_may_name_its_charset(client: TestClient) -> None:
    """Parameters of the media type do not matter."""
    assert _post(client, b"{}", "Application/JSON; charset=utf-8").status_code == 422


def test_a_large_body_is_refused(client: TestClient) -> None:
    """JSON over the limit is a 413, with a Content-Length and without."""
    body = b'{"kind": "' + b"x" * 20_000 + b'"}'
    declared = _post(client, body)
    streamed = client.post(
        "/v1/jobs", content=iter([body[:9000], body[9000:]]), headers={"Content-Type": "application/json"}
    )
    for response in (declared, streamed):
        assert response.status_code == 413
        assert response.json()["type"] == "/problems/too-large"
        assert "20000 bytes" in response.json()["detail"]


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/v1/jobs?limit=0", "/limit"),
        ("/v1/jobs?limit=201", "/limit"),
        ("/v1/jobs?limit=ten", "/limit"),
        ("/v1/jobs?status=done", "/status"),
        ("/v1/jobs?kind=fly", "/kind"),
        ("/v1/jobs?cursor=abc", "/cursor"),
        ("/v1/jobs?cursor=%00", "/cursor"),
        ("/v1/datasets?cursor=job_1m7xvcy1myp7hwgfv4br", "/cursor"),
        ("/v1/models?name=%00", "/name"),
        ("/v1/jobs/job_1/history?after=-1", "/after"),
        ("/v1/rankings/rnk_1?format=xml", "/format"),
    ],
)
def test_the_error_of_a_bad_parameter_has_its_name(client: TestClient, path: str, pointer: str) -> None:
    """Query parameters are checked like members of a body."""
    response = client.get(path)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


@pytest.mark.long
@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({}, "/queries"),
        ({"queries": 0}, "/queries"),
        ({"queries": 200_001}, "/queries"),
        ({"queries": 1.5}, "/queries"),
        ({"queries": 1, "seed": -1}, "/seed"),
        ({"queries": 1, "seed": 2**63}, "/seed"),
        ({"queries": 1, "polynomial_seed": "a"}, "/polynomial_seed"),
        ({"queries": 1, "name": ""}, "/name"),
        ({"queries": 1, "name": "a\x00b"}, "/name"),
        ({"queries": 0, "name": "queries"}, "/queries"),
        ({"queries": 10_000, "documents_per_query": 3_000}, "/queries"),
        ({"queries": 100_000, "documents_per_query": 200, "features": 500}, "/queries"),
        ({"queries": 1, "documents_per_query": 100_001}, "/documents_per_query"),
        ({"queries": 1, "features": 501}, "/features"),
        ({"queries": 1, "noise": -0.5}, "/noise"),
        ({"queries": 1, "gains": [0, 3, 7, 15]}, "/gains"),
        ({"queries": 1, "gains": [0, 3, 3, 15, 31]}, "/gains"),
        ({"queries": 1, "relevant_per_query": 2}, "/relevant_per_query"),
        (
            {"queries": 1, "generator": "sparse", "documents_per_query": 5, "relevant_per_query": 6},
            "/relevant_per_query",
        ),
    ],
)
def test_a_bad_synthetic_dataset_is_refused(
    client: TestClient, payload: dict[str, Any], pointer: str
) -> None:
    """Sizes and seeds are checked before a job is created."""
    response = client.post("/v1/datasets/synthetic", json=payload)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert client.get("/v1/jobs").json()["items"] == []
