"""Keys bound to projects: objects of other projects are absent for them."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from app.auth.scopes import rule_of
from app.http.caller import ADMIN
from app.http.services import Services, registered
from core.store import Model, Store
from core.store.visibility import limited_to
from tests.app.auth.foreign_project import PROJECT, SECRET_NAME, Objects, fill
from tests.app.conftest import TestClient

MINE = "mine"
_METHODS = {"get", "post", "put", "patch", "delete"}
Operation = tuple[str, str]

RANKING = {"queries": [{"id": "q", "documents": [{"id": "d", "features": [1.0]}]}]}
INFERENCE = {"inputs": [{"name": "input", "datatype": "FP32", "shape": [1, 1], "data": [1.0]}]}
# Bodies of operations that name an object in their path; `{}` is a body without required fields.
BODIES: dict[Operation, Any] = {
    ("post", "/v1/models/{ref}/rank"): RANKING,
    ("patch", "/v1/datasets/{dataset_id}"): {"name": "mine"},
    ("patch", "/v1/click-logs/{log_id}"): {"name": "mine"},
    ("patch", "/v1/jobs/{job_id}"): {"name": "mine"},
    ("patch", "/v1/models/{ref}"): {"title": "mine"},
    ("patch", "/v1/studies/{study_id}"): {"trials": 9},
    ("patch", "/v1/schedules/{schedule_id}"): {"enabled": False},
    ("post", "/v1/studies/{study_id}/trials"): {"parameters": {"/hyperparameters/num_leaves": 7}},
    ("post", "/v1/studies/{study_id}/clone"): {},
    ("post", "/v1/datasets/{dataset_id}/read-again"): {"ignore": ["price"]},
    ("put", "/v1/models/{name}/aliases/{alias}"): {"version": 1},
    ("put", "/v1/models/{name}/aliases/{alias}/gate"): {"dataset_id": "ds_mine", "metric": "ndcg@10"},
    ("post", "/v1/models/{ref}/export"): {"format": "lightgbm"},
    ("post", "/v1/models/{ref}/export/archive"): {"format": "lightgbm"},
    ("post", "/v1/models/{ref}/export/parity"): {"format": "lightgbm"},
    ("post", "/v1/models/{ref}/distil"): {},
    ("post", "/v1/interleavings/{interleaving_id}/lists"): {
        "query": {"id": "q"},
        "rankings": {"a": ["d"], "b": ["d"]},
    },
    ("post", "/v1/interleavings/{interleaving_id}/events"): {
        "events": [{"ranking_id": "lst_1", "document_id": "d"}]
    },
}
QUERY_STRINGS = {
    "/v1/models/{ref}/export": "format=lightgbm",
    "/v1/models/{ref}/export/archive": "format=lightgbm",
    "/v1/models/{ref}/export/parity": "format=lightgbm",
    "/v1/comparisons/{comparison_id}/rankings": "query_id=q1",
}
# Paths whose parameters name no object of a project.
PATHS_WITHOUT_PROJECT = {
    "/v1/papers/{name}": "the same for all projects",
    "/v1/uploads/{upload_id}": "belongs to a key, not to a project",
}
# Paths of lists, with their query strings. For a bound key, each list must equal that of an empty service.
LISTS = {
    "/v1/datasets": "",
    "/v1/click-logs": "",
    "/v1/jobs": "",
    "/v1/jobs/histories": "job={job_id}",
    "/v1/studies": "",
    "/v1/schedules": "",
    "/v1/models": "",
    "/v1/model-names": "",
    "/v1/evaluations": "",
    "/v1/evaluations/metrics": "evaluation={evaluation_id}",
    "/v1/comparisons": "",
    "/v1/trainings": "job={job_id}",
    "/v1/rankings": "",
    "/v1/drift-reports": "",
    "/v1/interleavings": "",
    "/v1/experiments": "",
    "/v1/trash": "",
    "/v1/events": "",
    "/v1/search": f"text={SECRET_NAME}",
    "/v1/aliases": "alias=champion",
    "/v1/workers": "",
}
# Requests that name objects in their body, and the status of the answer, which does not mention the object.
BY_BODY: dict[str, tuple[Any, int]] = {
    "/v1/jobs": ({"kind": "rank", "model": "{ref}", "dataset_id": "{dataset_id}"}, 404),
    "/v1/interleavings": ({"name": "mine", "models": ["{ref}", "{ref}"]}, 404),
    "/v1/click-logs/served": ({"model": "{ref}"}, 404),
    "/v1/click-logs/interleaved": ({"interleaving_id": "{interleaving_id}"}, 404),
    "/v1/served-rankings/events": ({"events": [{"ranking_id": "srv_1", "document_id": "d"}]}, 200),
    "/v1/jobs/batch": (
        {"jobs": [{"kind": "evaluate", "ranking_id": "{ranking_id}", "dataset_id": "{dataset_id}"}]},
        404,
    ),
    "/v1/jobs/cancel": ({"ids": ["{job_id}"]}, 200),
    "/v1/models/tags": ({"ids": ["{ref}"], "tags": {"a": "b"}}, 404),
    "/v1/datasets/delete": ({"ids": ["{dataset_id}"]}, 200),
    "/v1/studies": (
        {
            "name": "mine",
            "model_name": "mine",
            "dataset_id": "{dataset_id}",
            "test": {"fraction": 0.4},
            "base": {"loss": {"name": "lambdarank"}},
            "search_space": {"/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64}},
        },
        404,
    ),
    "/v1/experiments": (
        {
            "paper": "lambda-ex-2023",
            "dataset_ids": {"train": "{dataset_id}", "validation": "{dataset_id}", "test": "{dataset_id}"},
        },
        404,
    ),
    "/v1/schedules": (
        {
            "name": "mine",
            "cron": "0 3 * * *",
            "job": {
                "kind": "train",
                "model_name": "mine",
                "dataset": SECRET_NAME,
                "loss": {"name": "ranknet"},
            },
        },
        422,
    ),
    "/v1/jobs/delete": ({"ids": ["{job_id}"], "dry_run": False}, 200),
    "/v1/models/delete": ({"ids": ["{ref}"], "dry_run": False}, 200),
    "/v1/experiments/delete": ({"ids": ["{experiment_id}"], "dry_run": False}, 200),
    "/v1/studies/delete": ({"ids": ["{study_id}"], "dry_run": False}, 200),
    "/v1/jobs/labels": ({"ids": ["{job_id}"], "tags": {"a": "b"}, "dry_run": False}, 200),
    "/v1/models/labels": ({"ids": ["{ref}"], "tags": {"a": "b"}, "dry_run": False}, 200),
    "/v1/evaluations/delete": ({"ids": ["{evaluation_id}"], "dry_run": False}, 200),
    "/v1/comparisons/delete": ({"ids": ["{comparison_id}"], "dry_run": False}, 200),
    "/v1/rankings/delete": ({"ids": ["{ranking_id}"], "dry_run": False}, 200),
    "/v1/inspections/delete": ({"ids": ["{inspection_id}"], "dry_run": False}, 200),
    "/v1/trash/restore": ({"ids": ["{job_id}"]}, 200),
    "/v1/trash/empty": ({"all": True}, 200),
}
# Other operations, each with the reason that it needs no test here.
OTHERS: dict[Operation, str] = {
    ("get", "/v2"): "names the server",
    ("get", "/v2/health/live"): "health",
    ("get", "/v2/health/ready"): "health",
    ("get", "/healthz"): "health",
    ("get", "/readyz"): "health",
    ("post", "/v1/datasets"): "names no object; see the tests of projects",
    ("post", "/v1/click-logs"): "names no object; see the tests of projects",
    ("post", "/v1/datasets/synthetic"): "names no object",
    ("post", "/v1/datasets/folders"): "names no object",
    ("get", "/v1/datasets/folders"): "folders of the data roots, which all projects share",
    ("post", "/v1/models"): "refers only to a model name; see the tests of projects",
    ("post", "/v1/rankings"): "see the test of uploads",
    ("options", "/v1/uploads"): "belongs to a key, not to a project",
    ("get", "/v1/uploads"): "belongs to a key, not to a project",
    ("post", "/v1/uploads"): "belongs to a key, not to a project",
    ("get", "/v1/papers"): "the same for all projects",
    ("get", "/v1/losses"): "the same for all projects",
    ("get", "/v1/schedules/due-times"): "depends on the expression alone",
    ("get", "/v1/scorers"): "the same for all projects",
    ("get", "/v1/metrics"): "the same for all projects",
    ("get", "/v1/job-schemas"): "the same for all projects",
    ("get", "/v1/export-formats"): "the same for all projects",
    ("get", "/v1/counts"): "has a separate test",
    ("get", "/v1/projects"): "has a separate test",
}
# Refused for bound keys, like the operations that need the scope admin, which no bound key has.
REFUSED = {("get", "/metrics"), ("get", "/v1/storage")}


@dataclass(frozen=True)
class Filled:
    """An application with one object of every kind in another project, and headers with two keys."""

    client: TestClient
    store: Store
    foreign: Objects
    bound: dict[str, str]
    unbound: dict[str, str]


@pytest.fixture(scope="module")
def filled(refusing_client: TestClient) -> Filled:
    """An application for all tests whose requests change nothing."""
    store = registered(refusing_client.app, Services).store  # type: ignore[arg-type]
    return Filled(refusing_client, store, fill(store), _bound_key(store), _unbound_key(store))


@pytest.fixture
def foreign(store: Store) -> Objects:
    """One object of every kind in another project."""
    return fill(store)


@pytest.fixture
def bound(store: Store) -> dict[str, str]:
    """Authorization header of a key bound to the project `mine`, with the scopes read, write and score."""
    return _bound_key(store)


@pytest.fixture
def unbound(store: Store) -> dict[str, str]:
    """Authorization header of an administrator's key."""
    return _unbound_key(store)


def _bound_key(store: Store) -> dict[str, str]:
    with store.begin() as tx:
        _, secret = tx.api_keys.create("mine", ["read", "write", "score"], projects=[MINE])
    return {"Authorization": f"Bearer {secret}"}


def _unbound_key(store: Store) -> dict[str, str]:
    with store.begin() as tx:
        _, secret = tx.api_keys.create("all", ["admin"])
    return {"Authorization": f"Bearer {secret}"}


def test_every_operation_is_in_a_table(openapi_document: dict[str, Any]) -> None:
    """A new route is either tested with objects of another project or listed in a table here."""
    missing = [
        (method, path)
        for method, path in _operations(openapi_document)
        if "{" not in path
        and (method, path) not in OTHERS
        and not _is_refused(method, path)
        and not (method == "get" and path in LISTS)
        and not (method == "post" and path in BY_BODY)
    ]
    assert not missing, "add each route to a table of tests/app/auth/test_bound_keys.py"


@pytest.mark.long
def test_foreign_objects_are_not_found(
    openapi_document: dict[str, Any],
    client: TestClient,
    foreign: Objects,
    bound: dict[str, str],
    unbound: dict[str, str],
) -> None:
    """A request that names a foreign object gets the same 404 as one with an unknown id."""
    operations = [
        (method, path)
        for method, path in _operations(openapi_document)
        if "{" in path and path not in PATHS_WITHOUT_PROJECT and not _is_refused(method, path)
    ]
    assert len(operations) > 60
    unknown = _unknown_ids(foreign)
    for method, path in operations:
        answer = _request(client, method, path, foreign, bound)
        assert answer.status_code == 404, (method, path, answer.status_code, answer.text)
        unknown_answer = _request(client, method, path, unknown, bound)
        assert unknown_answer.status_code == 404, (method, path, unknown_answer.text)
        assert _without_ids(answer.text, foreign) == _without_ids(unknown_answer.text, unknown), (
            method,
            path,
        )
    # The requests are valid: a key without a bound finds the objects.
    for method, path in operations:
        if method == "get" and path in _READABLE:
            readable = _request(client, method, path, foreign, unbound)
            assert readable.status_code == 200, (path, readable.text)


# Paths whose objects can be shown without an artifact.
_READABLE = {
    "/v1/datasets/{dataset_id}",
    "/v1/click-logs/{log_id}",
    "/v1/jobs/{job_id}",
    "/v1/jobs/{job_id}/history",
    "/v1/models/{ref}",
    "/v1/models/{name}/aliases",
    "/v1/models/{name}/aliases/{alias}",
    "/v1/models/{name}/aliases/{alias}/history",
    "/v1/models/{name}/aliases/{alias}/gate",
    "/v1/models/{ref}/inspections",
    "/v1/evaluations/{evaluation_id}",
    "/v1/studies/{study_id}",
    "/v1/studies/{study_id}/trials",
    "/v1/experiments/{experiment_id}/trainings",
    "/v1/schedules/{schedule_id}/runs",
}


def test_references_to_foreign_models_are_not_found(
    client: TestClient, foreign: Objects, bound: dict[str, str]
) -> None:
    """References by name, version, alias and id are 404 in both scoring protocols and with explanations."""
    for reference in (SECRET_NAME, f"{SECRET_NAME}:1", f"{SECRET_NAME}@champion", foreign["ref"]):
        assert client.get(f"/v1/models/{reference}", headers=bound).status_code == 404
        for body in (RANKING, {**RANKING, "explain": True}):
            answer = client.post(f"/v1/models/{reference}/rank", json=body, headers=bound)
            assert answer.status_code == 404, reference
        answer = client.post(f"/v2/models/{reference}/infer", json=INFERENCE, headers=bound)
        assert answer.status_code == 404, reference


_TRAINING = {"kind": "train", "model_name": "mine", "loss": {"name": "lambdarank"}}
_SUM = {"kind": "train", "model_name": "mine", "validation": {"fraction": 0.5}}
# Requests that refer to a model by its name, `{model}`, and use a dataset of the key's project.
REFERENCES: dict[str, tuple[str, Any]] = {
    "evaluate": ("/v1/jobs", {"kind": "evaluate", "model": "{model}"}),
    "rank": ("/v1/jobs", {"kind": "rank", "model": "{model}"}),
    "inspect": ("/v1/jobs", {"kind": "inspect", "model": "{model}"}),
    "drift": ("/v1/jobs", {"kind": "drift", "model": "{model}"}),
    "compare": ("/v1/jobs", {"kind": "compare", "systems": [{"model": "{model}"}, {"model": "other"}]}),
    "init_model": ("/v1/jobs", {**_TRAINING, "init_model": "{model}"}),
    "labels_from": ("/v1/jobs", {**_TRAINING, "labels_from": "model:{model}"}),
    "sum": ("/v1/jobs", {**_SUM, "scorer": {"kind": "sum", "models": ["{model}"]}}),
    "batch": (
        "/v1/jobs/batch",
        {"jobs": [{"kind": "rank", "model": "{model}", "dataset_id": "{dataset_id}"}]},
    ),
    "schedule": (
        "/v1/schedules",
        {"name": "daily", "cron": "0 3 * * *", "job": {"kind": "drift", "model": "{model}"}},
    ),
}


@pytest.mark.parametrize("kind", REFERENCES)
def test_a_foreign_name_is_refused_like_an_unknown_name(
    client: TestClient, store: Store, foreign: Objects, bound: dict[str, str], kind: str
) -> None:
    """The answer does not reveal that another project has a model of that name."""
    with limited_to((MINE,)), store.begin() as tx:
        dataset = tx.datasets.add("mine", {"kind": "upload", "format": "auto", "options": {}})
        statistics = {"queries": 3, "documents": 9, "features": 1}
        tx.datasets.mark_ready(dataset.id, statistics=statistics, feature_names=["bm25"])
    path, template = REFERENCES[kind]
    if template.get("kind", "drift") != "drift":
        template = {**template, "dataset_id": dataset.id}
    answers = []
    for name in (SECRET_NAME, "absent-name"):
        for reference in (name, f"{name}:1", f"{name}@champion"):
            body = json.dumps(template).replace("{model}", reference).replace("{dataset_id}", dataset.id)
            answer = client.post(path, content=body, headers={**bound, "Content-Type": "application/json"})
            answers.append((answer.status_code, answer.text.replace(name, "NAME")))
    assert answers[:3] == answers[3:]
    assert {status for status, _ in answers} <= {404, 422}, answers


def test_a_model_that_others_score_stays_hidden(
    client: TestClient,
    add_model: Callable[..., Model],
    store: Store,
    bound: dict[str, str],
    unbound: dict[str, str],
) -> None:
    """A model in memory stays hidden from keys of other projects, before and after it changes its project."""
    with limited_to((PROJECT,)):
        add_model(SECRET_NAME)
    with store.begin() as tx:
        _, secret = tx.api_keys.create("theirs", ["write", "score"], projects=[PROJECT, "third"])
    theirs = {"Authorization": f"Bearer {secret}"}
    ranking = {"queries": [{"id": "q", "documents": [{"id": "d", "features": [1.0, 0.0, 0.0]}]}]}
    path = f"/v1/models/{SECRET_NAME}/rank"
    for headers, status in ((unbound, 200), (bound, 404), (theirs, 200), (bound, 404)):
        assert client.post(path, json=ranking, headers=headers).status_code == status
        explained = client.post(path, json={**ranking, "explain": True}, headers=headers)
        assert explained.status_code == status
    assert client.get(f"/v2/models/{SECRET_NAME}", headers=bound).status_code == 404
    moved = client.patch(f"/v1/models/{SECRET_NAME}", json={"project": MINE}, headers=unbound)
    assert moved.json()["project"] == MINE
    assert client.post(path, json=ranking, headers=bound).status_code == 200
    assert client.post(path, json=ranking, headers=theirs).status_code == 404


@pytest.mark.slow
def test_an_export_is_not_compared_on_foreign_documents(
    client: TestClient, add_model: Callable[..., Model], foreign: Objects, bound: dict[str, str]
) -> None:
    """The exporting process finds only the datasets that the key of the request may see."""
    with limited_to((MINE,)):
        model = add_model("web")
    query = f"format=c&dataset_id={foreign['dataset_id']}"
    answer = client.get(f"/v1/models/{model.id}/export/parity?{query}", headers=bound)
    assert answer.status_code == 404, answer.text
    unknown = client.get(f"/v1/models/{model.id}/export/parity?format=c&dataset_id=ds_none", headers=bound)
    assert unknown.status_code == 404


@pytest.mark.parametrize("path", LISTS)
def test_lists_have_no_foreign_objects(filled: Filled, path: str) -> None:
    """A response cached for an administrator is not sent to a bound key."""
    path_with_query = f"{path}?{LISTS[path].format(**filled.foreign)}"
    # Record the first use of each key, so that later requests change nothing.
    for headers in (filled.bound, filled.unbound):
        filled.client.get("/v1/papers", headers=headers)
    seen = filled.client.get(path_with_query, headers=filled.unbound)
    assert seen.status_code == 200, seen.text
    answer = filled.client.get(path_with_query, headers=filled.bound)
    assert answer.status_code == 200, answer.text
    assert not answer.json().get("items")
    assert SECRET_NAME not in answer.text
    if path not in _EMPTY_FOR_ALL:
        assert seen.json()["items"]


# Lists that are empty for an administrator as well.
_EMPTY_FOR_ALL = {"/v1/trash", "/v1/events", "/v1/workers", "/v1/trainings"}


@pytest.mark.parametrize("path", BY_BODY)
def test_bodies_cannot_name_foreign_objects(filled: Filled, path: str) -> None:
    """The request creates nothing and changes no object."""
    template, status = BY_BODY[path]
    body = json.loads(_with_ids(json.dumps(template), filled.foreign))
    before = _recorded_state(filled.client, filled.foreign, filled.store)
    answer = filled.client.post(path, json=body, headers=filled.bound)
    assert answer.status_code == status, answer.text
    assert _recorded_state(filled.client, filled.foreign, filled.store) == before
    if status == 200:
        assert SECRET_NAME not in answer.text


def test_uploads_cannot_name_foreign_objects(
    client: TestClient, foreign: Objects, bound: dict[str, str]
) -> None:
    """A run needs a dataset of the key's projects; the name of another project's model is not available."""
    run = {"file": ("run.txt", b"q1 Q0 d1 1 1.0 bm25\n")}
    answer = client.post("/v1/rankings", data={"dataset_id": foreign["dataset_id"]}, files=run, headers=bound)
    assert answer.status_code == 404, answer.text
    model = {"file": ("model.txt", b"tree\n")}
    answer = client.post("/v1/models", data={"name": SECRET_NAME}, files=model, headers=bound)
    assert answer.json()["errors"] == [
        {"pointer": "/name", "detail": f"{SECRET_NAME} is not available; choose another name"}
    ]


def test_operations_about_all_projects_are_refused(
    openapi_document: dict[str, Any], client: TestClient, bound: dict[str, str], unbound: dict[str, str]
) -> None:
    """Metrics, storage, settings, keys and the audit cover all projects; a bound key gets 403."""
    refused = [each for each in _operations(openapi_document) if _is_refused(*each)]
    assert ("get", "/v1/audit") in refused
    for method, path in refused:
        assert client.request(method, path, headers=bound).status_code == 403, (method, path)
    for _, path in REFUSED:
        assert client.get(path, headers=unbound).status_code == 200, path


def test_counts_cover_only_the_projects_of_the_key(
    client: TestClient, foreign: Objects, bound: dict[str, str], unbound: dict[str, str]
) -> None:
    """All counts are zero, also after an administrator's request; only the bound project is listed."""
    assert client.get("/v1/counts", headers=unbound).json()["models"] == 2
    counts = client.get("/v1/counts", headers=bound).json()
    assert {counts[name] for name in ("models", "datasets", "evaluations", "comparisons", "rankings")} == {0}
    assert set(counts["jobs"].values()) == set(counts["waiting"].values()) == {0}
    assert client.get(f"/v1/counts?project={PROJECT}", headers=bound).json()["models"] == 0
    projects = client.get("/v1/projects", headers=bound).json()
    assert (projects["bound"], projects["unassigned"]) == (True, None)
    assert [project["name"] for project in projects["items"]] == [MINE]


def test_a_session_is_bound_to_the_projects_of_its_key(
    client: TestClient, store: Store, foreign: Objects
) -> None:
    """The session of a bound key finds no more than the key itself."""
    with store.begin() as tx:
        key, _ = tx.api_keys.create("mine", ["read"], projects=[MINE])
        token = tx.api_keys.begin_session(key.id, timedelta(hours=1))
    client.cookies.set("rankery_session", token)
    assert client.get(f"/v1/jobs/{foreign['job_id']}").status_code == 404
    assert client.get("/v1/jobs").json()["items"] == []


def _operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method in methods:
            if method in _METHODS | {"options"}:
                yield method, path
    yield "get", "/metrics"


def _is_refused(method: str, path: str) -> bool:
    rule = rule_of(path)
    return (method, path) in REFUSED or (rule is not None and rule.scope(method.upper()) == ADMIN)


def _request(client: TestClient, method: str, path: str, objects: Objects, headers: dict[str, str]) -> Any:
    path_with_query = re.sub(r"\{(\w+)\}", lambda parameter: objects[parameter[1]], path)
    if path in QUERY_STRINGS and method == "get":
        path_with_query += f"?{QUERY_STRINGS[path]}"
    body = INFERENCE if path.endswith("/infer") else BODIES.get((method, path))
    content = None if method == "get" or body is None else json.dumps(body)
    typed = {"Content-Type": "application/json"} if content is not None else {}
    return client.request(method, path_with_query, content=content, headers={**headers, **typed})


def _unknown_ids(objects: Objects) -> Objects:
    """Return path parameters of the same form whose objects do not exist."""
    other = {each: value[:-4] + "0000" for each, value in objects.items() if "_" in value}
    return {**objects, **other, "name": "nowhere"}


def _without_ids(text: str, objects: Objects) -> str:
    """Return an answer without the path parameters of the request and without the request id."""
    for value in sorted(objects.values(), key=len, reverse=True):
        if len(value) > 2:
            text = text.replace(value, "…")
    return re.sub(r'"request_id":"[^"]*"', "", text)


def _with_ids(text: str, objects: Objects) -> str:
    return re.sub(r"\{(\w+)\}", lambda parameter: objects.get(parameter[1], parameter[0]), text)


def _recorded_state(client: TestClient, foreign: Objects, store: Store) -> Any:
    """Return the recorded state of all projects."""
    with store.read() as tx:
        counts, jobs = tx.statistics.object_counts(), tx.statistics.jobs()
        model = tx.models.get(foreign["ref"])
        return counts, jobs, tx.jobs.get(foreign["job_id"]).status, model.tags, model.project
