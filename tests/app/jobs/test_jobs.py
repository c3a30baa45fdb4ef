"""Submitting, following and cancelling jobs."""

from collections.abc import Callable
from typing import Any

import pytest

from app.studies.requests import StudyBaseRequest
from core.losses import LOSSES
from core.parameters import parameters_of
from core.store import Model, Store
from core.training import Hyperparameters, training_spec
from tests.app.conftest import TestClient
from tests.core.scorers.networks import random_network


def _submit(client: TestClient, request: dict[str, Any]) -> dict[str, Any]:
    response = client.post("/v1/jobs", json=request)
    assert response.status_code == 202, response.text
    job: dict[str, Any] = response.json()
    assert response.headers["location"] == f"/v1/jobs/{job['id']}"
    return job


def test_a_training_is_queued_with_its_defaults_spelled_out(
    client: TestClient, train_request: dict[str, Any]
) -> None:
    """The stored specification is complete, so that later defaults do not change the job."""
    job = _submit(client, train_request)
    assert (job["kind"], job["status"], job["attempt"]) == ("train", "queued", 0)
    assert job["spec"]["loss"] == {"name": "lambdarank"} | {
        parameter.name: parameter.default for parameter in parameters_of(LOSSES["lambdarank"])
    } | {"seed": 42}
    assert job["spec"]["metric_interval"] == 1
    assert job["spec"]["hyperparameters"]["num_leaves"] == Hyperparameters().num_leaves
    assert (job["spec"]["metrics"], job["spec"]["seed"]) == (["ndcg@5", "ndcg@10"], 42)
    assert client.get(f"/v1/jobs/{job['id']}").json() == job | {"attempts": []}


@pytest.mark.parametrize(("given", "expected"), [({}, 7), ({"seed": None}, 7), ({"seed": 0}, 0)])
def test_the_seed_of_a_job_is_that_of_its_loss(
    client: TestClient,
    train_request: dict[str, Any],
    add_model: Callable[..., Model],
    given: dict[str, Any],
    expected: int,
) -> None:
    """A seed of the loss takes precedence; the stored specification has both seeds."""
    loss = {"name": "xe-ndcg", **given}
    requests: list[dict[str, Any]] = [
        train_request | {"loss": loss, "seed": 7},
        {
            "kind": "evaluate",
            "model": add_model("web").reference,
            "dataset_id": train_request["dataset_id"],
            "diagnostics": {"loss": loss},
            "seed": 7,
        },
    ]
    training, evaluation = (_submit(client, request)["spec"] for request in requests)
    assert (training["loss"], training["seed"]) == ({"name": "xe-ndcg", "seed": expected}, 7)
    assert evaluation["diagnostics"]["loss"] == {"name": "xe-ndcg", "seed": expected}


@pytest.mark.long
@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_can_be_submitted(client: TestClient, train_request: dict[str, Any], name: str) -> None:
    """The request schema is derived from the registry, and core accepts each valid request."""
    job = _submit(client, train_request | {"loss": {"name": name}})
    assert type(training_spec(job["spec"]).loss) is LOSSES[name]


@pytest.mark.parametrize("name", ["listmle", "w-listmle"])
def test_the_order_of_ties_is_stored(client: TestClient, train_request: dict[str, Any], name: str) -> None:
    """A new job stores `random`; jobs without `ties` were stored when ties had the input order."""
    assert _submit(client, train_request | {"loss": {"name": name}})["spec"]["loss"]["ties"] == "random"
    job = _submit(client, train_request | {"loss": {"name": name, "ties": "input"}})
    assert job["spec"]["loss"]["ties"] == "input"


@pytest.mark.parametrize(
    ("loss", "refused"),
    [
        ({"name": "lambdarank", "persistence": 0.5}, {"persistence": "target is rbp"}),
        (
            {"name": "lambdarank", "target": "map", "discount": "reciprocal", "gain": "linear"},
            {"discount": "target is ndcg", "gain": "target is ndcg or err or rbp"},
        ),
        ({"name": "lambdarank", "target": "mrr", "max_label": 2}, {"max_label": "target is err or rbp"}),
        (
            {"name": "ranknet", "noise": 2.0, "samples": 3},
            dict.fromkeys(("noise", "samples"), "assignment is soft"),
        ),
        ({"name": "arp-loss2", "assignment": "soft"}, {"assignment": "truncation_level is set"}),
        ({"name": "lambdarank", "target": "rbp", "persistence": 0.5, "max_label": 2}, {}),
        ({"name": "lambdarank", "assignment": "soft", "noise": 2.0, "samples": 3}, {}),
        ({"name": "lambdarank", "persistence": 0.8, "noise": 1.0, "seed": 7}, {}),
        ({"name": "listmle", "ties": "input", "seed": 7}, {}),
    ],
    ids=str,
)
def test_hyperparameters_without_effect_are_refused(
    client: TestClient, train_request: dict[str, Any], loss: dict[str, Any], refused: dict[str, str]
) -> None:
    """A value other than the default is refused if it has no effect, except for a seed."""
    response = client.post("/v1/jobs", json=train_request | {"loss": loss})
    assert response.status_code == (422 if refused else 202), response.text
    if refused:
        reasons = {error["pointer"]: error["detail"] for error in response.json()["errors"]}
        assert reasons == {
            f"/loss/{name}": f"has no effect unless {condition}; leave it out"
            for name, condition in refused.items()
        }


def test_hyperparameters_without_effect_are_refused_in_diagnostics(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """The error points at the hyperparameter of the diagnosed loss."""
    model = add_model("web")
    loss = {"name": "lambdarank", "persistence": 0.5}
    request = {"kind": "evaluate", "model": "web", "dataset_id": model.dataset_id}
    response = client.post("/v1/jobs", json=request | {"diagnostics": {"loss": loss}})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == ["/diagnostics/loss/persistence"]


def test_a_categorical_feature_may_have_the_longest_name(
    client: TestClient, train_request: dict[str, Any]
) -> None:
    """Lists of features have one limit for names, in trainings and in studies."""
    named = {"categorical_feature": ["f" * 1_024]}
    assert _submit(client, train_request | named)["spec"]["categorical_feature"] == ["f" * 1_024]
    base = {"loss": {"name": "lambdarank"}, **named}
    assert StudyBaseRequest.model_validate(base).categorical_feature == ["f" * 1_024]


def test_the_metric_of_early_stopping_is_measured(client: TestClient, train_request: dict[str, Any]) -> None:
    """A metric named only by early stopping is added to the metrics."""
    job = _submit(
        client,
        train_request
        | {
            "validation": {"fraction": 0.2},
            "metrics": ["map"],
            "early_stopping": {"metric": "ndcg@5", "rounds": 3},
        },
    )
    assert job["spec"]["metrics"] == ["map", "ndcg@5"]


def test_ir_measures_names_are_stored_as_ours(client: TestClient, train_request: dict[str, Any]) -> None:
    """Names are translated wherever a job names a metric; two names of one metric are a duplicate."""
    named = {
        "validation": {"fraction": 0.2},
        "metrics": ["nDCG@10", "RR"],
        "early_stopping": {"metric": "AP@100", "rounds": 3},
    }
    spec = _submit(client, train_request | named)["spec"]
    assert spec["metrics"] == ["ndcg@10", "mrr", "map@100"]
    assert spec["early_stopping"]["metric"] == "map@100"
    twice = client.post("/v1/jobs", json=train_request | {"metrics": ["nDCG@10", "ndcg@10"]}).json()
    assert [error["detail"] for error in twice["errors"]] == ["'ndcg@10' is listed twice"]
    wrong = client.post("/v1/jobs", json=train_request | {"metrics": ["nDGC@10"]}).json()
    assert [error["pointer"] for error in wrong["errors"]] == ["/metrics/0"]
    assert "did you mean ndcg@10?" in wrong["errors"][0]["detail"]


def test_a_job_holds_all_its_datasets(
    client: TestClient, train_request: dict[str, Any], ready_dataset: Callable[[], str]
) -> None:
    """Training, validation and test data cannot be deleted while the job waits."""
    request = train_request | {
        "validation": {"dataset_id": ready_dataset()},
        "test_dataset_id": ready_dataset(),
    }
    _submit(client, request)
    named = [request["dataset_id"], request["validation"]["dataset_id"], request["test_dataset_id"]]
    assert [client.delete(f"/v1/datasets/{dataset_id}").status_code for dataset_id in named] == [409] * 3


@pytest.mark.parametrize(
    "where",
    [{"dataset_id": "ds_none"}, {"test_dataset_id": "ds_none"}, {"validation": {"dataset_id": "ds_none"}}],
    ids=["train", "test", "validation"],
)
def test_an_unknown_dataset_is_named(
    client: TestClient, train_request: dict[str, Any], where: dict[str, Any]
) -> None:
    """The answer is 404, and its detail has the id, whichever field names the dataset."""
    response = client.post("/v1/jobs", json=train_request | where)
    assert response.status_code == 404
    assert response.json()["detail"] == "there is no dataset 'ds_none'"


def test_a_pending_dataset_is_refused(client: TestClient, train_request: dict[str, Any]) -> None:
    """409 names the dataset that is not ready."""
    pending = client.post("/v1/datasets/synthetic", json={"queries": 1}).json()["id"]
    response = client.post("/v1/jobs", json=train_request | {"validation": {"dataset_id": pending}})
    assert response.status_code == 409
    assert pending in response.json()["detail"]


@pytest.mark.parametrize("kind", ["evaluate", "rank"])
@pytest.mark.parametrize("reference", ["web", "web:1", "web@champion", "{id}"])
def test_a_model_reference_is_resolved_at_submission(
    client: TestClient, add_model: Callable[[str], Model], kind: str, reference: str
) -> None:
    """The specification keeps the reference and the id of the model at submission."""
    model = add_model("web")
    client.put("/v1/models/web/aliases/champion", json={"version": 1})
    reference = reference.format(id=model.id)
    job = _submit(client, {"kind": kind, "model": reference, "dataset_id": model.dataset_id})
    assert (job["spec"]["model"], job["spec"]["model_id"]) == (reference, model.id)


@pytest.mark.parametrize("reference", ["none", "web:2", "web@none", "mdl_none", "web:x", "@", ":"])
def test_an_unknown_model_is_named(
    client: TestClient, add_model: Callable[[str], Model], reference: str
) -> None:
    """A reference to no model is 404, in a body and in a path."""
    model = add_model("web")
    response = client.post(
        "/v1/jobs", json={"kind": "rank", "model": reference, "dataset_id": model.dataset_id}
    )
    assert response.status_code == 404
    assert response.json()["detail"] == f"there is no model {reference!r}"
    assert client.get(f"/v1/models/{reference}").status_code == 404


def test_the_initial_model_is_resolved_at_submission(
    client: TestClient,
    train_request: dict[str, Any],
    add_model: Callable[[str], Model],
    add_network: Callable[..., Model],
) -> None:
    """A name refers to the latest version at submission; a sum is refused, an unknown version is 404."""
    add_model("base")
    created = client.post("/v1/jobs", json=train_request | {"init_model": "base"}).json()
    add_model("base")
    assert created["spec"]["init_model"] == "base:1"
    add_network("both", random_network(3), {"kind": "sum"})
    refused = client.post("/v1/jobs", json=train_request | {"init_model": "both"})
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/init_model"]
    missing = client.post("/v1/jobs", json=train_request | {"init_model": "base:9"})
    assert (missing.status_code, missing.json()["detail"]) == (404, "there is no model 'base:9'")


def test_a_teacher_is_resolved_at_submission(
    client: TestClient, train_request: dict[str, Any], add_model: Callable[[str], Model]
) -> None:
    """A name refers to the latest version at submission; validation by folds is refused."""
    add_model("base")
    created = client.post("/v1/jobs", json=train_request | {"labels_from": "model:base"}).json()
    add_model("base")
    assert created["spec"]["labels_from"] == "model:base:1"
    missing = client.post("/v1/jobs", json=train_request | {"labels_from": "model:base:9"})
    assert (missing.status_code, missing.json()["detail"]) == (404, "there is no model 'base:9'")
    for changed, pointer in (
        ({"validation": {"folds": 2}, "test_dataset_id": None}, "/validation"),
        ({"clicks": {}}, "/clicks"),
    ):
        refused = client.post("/v1/jobs", json=train_request | {"labels_from": "model:base"} | changed)
        assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"features": {"use": ["bm25", "bm52"]}}, "/features/use"),
        ({"features": {"leave_out": ["bm25", "age"]}}, "/features/leave_out"),
        ({"hyperparameters": {"monotone_constraints": {"bm52": 1}}}, "/hyperparameters/monotone_constraints"),
        (
            {"features": {"use": ["age"]}, "hyperparameters": {"interaction_constraints": [["bm25"]]}},
            "/hyperparameters/interaction_constraints",
        ),
    ],
)
def test_features_that_the_dataset_lacks_are_refused(
    client: TestClient, store: Store, train_request: dict[str, Any], changed: dict[str, Any], pointer: str
) -> None:
    """Names must be features of the training dataset; constraints may only name features that are used."""
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "synthetic", "queries": 3, "seed": 0})
        counts = {"queries": 3, "documents": 9, "features": 2}
        tx.datasets.mark_ready(dataset.id, statistics=counts, feature_names=["bm25", "age"])
    request = train_request | {"dataset_id": dataset.id}
    refused = client.post("/v1/jobs", json=request | changed)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)
    known = {"features": {"use": ["bm25"]}, "hyperparameters": {"monotone_constraints": {"bm25": 1}}}
    assert client.post("/v1/jobs", json=request | known).status_code == 202


def test_a_sum_names_versions_and_no_loss(
    client: TestClient,
    train_request: dict[str, Any],
    add_model: Callable[[str], Model],
    add_network: Callable[..., Model],
) -> None:
    """References are resolved at submission; only the weights of a sum are trained."""
    add_model("base")
    add_model("base")
    request = {
        name: value for name, value in train_request.items() if name not in {"loss", "hyperparameters"}
    }
    request |= {"scorer": {"kind": "sum", "models": ["base:1", "base"]}, "validation": {"fraction": 0.5}}
    created = client.post("/v1/jobs", json=request)
    assert created.status_code == 202, created.text
    spec = created.json()["spec"]
    assert spec["scorer"] == {
        "kind": "sum",
        "models": ["base:1", "base:2"],
        "weights": None,
        "shrinkage": "cross-validated",
    }
    assert (spec["loss"], spec["hyperparameters"]) == (None, {})
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"loss": {"name": "mse"}}, "/loss"),
        ({"hyperparameters": {"num_leaves": 4}}, "/hyperparameters/num_leaves"),
        ({"bootstrap": True}, "/bootstrap"),
        ({"labels_from": "model:base"}, "/labels_from"),
        ({"clicks": {"correction": "additive"}}, "/clicks"),
        ({"validation": None}, "/validation"),
        ({"validation": {"folds": 2}}, "/validation"),
        ({"scorer": {"kind": "sum", "models": ["base"], "weights": [1, 2]}}, "/scorer/weights"),
        ({"scorer": {"kind": "sum", "models": []}}, "/scorer/models"),
    ]
    for changed, pointer in refusals:
        refused = client.post("/v1/jobs", json=request | changed)
        assert [error["pointer"] for error in refused.json()["errors"]] == [pointer], changed
    missing = client.post("/v1/jobs", json=request | {"scorer": {"kind": "sum", "models": ["base:9"]}})
    assert missing.status_code == 404
    add_network("both", random_network(3), {"kind": "sum"})
    nested = client.post("/v1/jobs", json=request | {"scorer": {"kind": "sum", "models": ["base", "both"]}})
    assert [error["pointer"] for error in nested.json()["errors"]] == ["/scorer/models/1"]
    no_loss = client.post("/v1/jobs", json={**train_request, "loss": None})
    assert [error["pointer"] for error in no_loss.json()["errors"]] == ["/loss"]


def test_members_of_a_sum_have_the_same_categorical_features(
    client: TestClient,
    store: Store,
    train_request: dict[str, Any],
    add_model: Callable[..., Model],
) -> None:
    """The request is refused, not the job.

    Datasets of earlier releases do not list their categories. A training may declare others.
    """
    add_model("earlier")
    categorical = {"first": ["bm25"], "second": [], "third": ["bm25"], "declared": []}
    for name, names in categorical.items():
        with store.begin() as tx:
            dataset = tx.datasets.add(name, {"kind": "synthetic", "queries": 3, "seed": 0})
            tx.datasets.mark_ready(dataset.id, statistics={"categorical_features": names})
        model = add_model(name, dataset.id)
    with store.begin() as tx:
        tx.models.get(model.id).lineage = {"spec": {"categorical_feature": ["bm25"]}}
    request = {
        name: value for name, value in train_request.items() if name not in {"loss", "hyperparameters"}
    }

    def submit(*models: str) -> Any:
        scorer = {"kind": "sum", "models": models}
        return client.post("/v1/jobs", json=request | {"scorer": scorer, "validation": {"fraction": 0.5}})

    refused = submit("first", "earlier", "second")
    (error,) = refused.json()["errors"]
    assert error["pointer"] == "/scorer/models/2"
    assert error["detail"] == "second:1 has numbers in the feature 'bm25', but first:1 has categories"
    assert submit("first", "earlier", "third", "declared").status_code == 202


def test_jobs_are_listed_by_status_and_kind(client: TestClient, train_request: dict[str, Any]) -> None:
    """Filters, sorting and text search combine; wrong values are refused."""
    train = _submit(client, train_request)["id"]
    client.post("/v1/datasets/synthetic", json={"queries": 1})
    cancelled = _submit(client, train_request)["id"]
    client.post(f"/v1/jobs/{cancelled}/cancel")

    def ids_matching(query: str) -> list[str]:
        return [job["id"] for job in client.get(f"/v1/jobs?{query}").json()["items"]]

    assert ids_matching("kind=train") == [cancelled, train]
    assert ids_matching("kind=train&status=queued") == [train]
    assert ids_matching("status=running") == []
    assert len(ids_matching("")) == 3
    assert ids_matching(f"dataset={train_request['dataset_id']}&sort=oldest") == [train, cancelled]
    assert ids_matching("text=WEB&status=queued") == [train]
    assert ids_matching(f"object={train_request['dataset_id']}") == [cancelled, train]
    assert ids_matching("object=clk_none") == []
    assert ids_matching("text=%25") == []
    for wrong in ("sort=best", "text=", "text=a%00b", "cursor=nothing"):
        assert client.get(f"/v1/jobs?{wrong}").status_code == 422


def test_jobs_of_a_later_release_are_left_out(
    client: TestClient, store: Store, train_request: dict[str, Any]
) -> None:
    """During an upgrade, an API lists the jobs of the kinds that it knows; one of another kind is 404."""
    known = _submit(client, train_request)["id"]
    with store.begin() as tx:
        later = tx.jobs.add("evaluate", {})
        later.kind = "later"
    assert [job["id"] for job in client.get("/v1/jobs").json()["items"]] == [known]
    assert client.get(f"/v1/jobs/{later.id}").status_code == 404
    refused = client.post(f"/v1/jobs/{later.id}/cancel")
    assert refused.status_code == 404
    assert "this release cannot show its kind 'later'; `POST /v1/jobs/cancel`" in refused.json()["detail"]
    cancelled = client.post("/v1/jobs/cancel", json={"ids": [later.id]}).json()["items"]
    assert [one["outcome"] for one in cancelled] == ["cancelled"]


def test_a_queued_job_is_cancelled_immediately(client: TestClient, train_request: dict[str, Any]) -> None:
    """202 has the new state of the job; cancelling it again is 409."""
    job_id = _submit(client, train_request)["id"]
    response = client.post(f"/v1/jobs/{job_id}/cancel")
    assert (response.status_code, response.json()["status"]) == (202, "cancelled")
    assert client.post(f"/v1/jobs/{job_id}/cancel").status_code == 409
    assert client.post("/v1/jobs/job_none/cancel").status_code == 404


def test_a_running_job_is_asked_to_stop(
    client: TestClient, store: Store, train_request: dict[str, Any]
) -> None:
    """The job keeps running until its worker notices the request."""
    job_id = _submit(client, train_request)["id"]
    with store.begin() as tx:
        tx.jobs.claim(job_id, "w1", 15)
    job = client.post(f"/v1/jobs/{job_id}/cancel").json()
    assert (job["status"], job["cancel_requested"]) == ("running", True)


def test_progress_and_metrics_are_shown(
    client: TestClient, store: Store, train_request: dict[str, Any]
) -> None:
    """The answer has the values that the worker recorded last."""
    job_id = _submit(client, train_request)["id"]
    progress = {"phase": "training", "iteration": 3, "total": 10, "eta_seconds": 1.5}
    metrics = {"train": {"ndcg@5": 0.5}}
    with store.begin() as tx:
        job = tx.jobs.claim(job_id, "w1", 15)
        assert job is not None
        tx.jobs.record(job_id, job.token, progress=progress, metrics=metrics)
    shown = client.get(f"/v1/jobs/{job_id}").json()
    assert (shown["progress"], shown["metrics"], shown["attempt"]) == (progress, metrics, 1)


def test_each_curve_of_the_history_is_a_list(
    client: TestClient, store: Store, train_request: dict[str, Any]
) -> None:
    """All curves and times have the length of `iterations`; missing measurements are null."""
    job_id = _submit(client, train_request)["id"]
    values: list[tuple[int, dict[str, Any]]] = [
        (1, {"train": {"map": 0.1}, "validation": {"map": 0.2}}),
        (2, {"train": {"map": 0.3}, "validation": {"map": None}}),
        (3, {"train": {"map": 0.4}}),
    ]
    with store.begin() as tx:
        job = tx.jobs.claim(job_id, "w1", 15)
        assert job is not None
        times = {2: {"objective": 8.5, "tree": 90.0}, 3: {"tree": 91.0}}
        tx.jobs.record(job_id, job.token, iterations=values, milliseconds=times)
    assert client.get(f"/v1/jobs/{job_id}/history").json() == {
        "job_id": job_id,
        "best_iteration": None,
        "iterations": [1, 2, 3],
        "curves": {"train": {"map": [0.1, 0.3, 0.4]}, "validation": {"map": [0.2, None, None]}},
        "milliseconds": {"objective": [None, 8.5, None], "tree": [None, 90.0, 91.0]},
    }
    later = client.get(f"/v1/jobs/{job_id}/history?after=2").json()
    assert (later["iterations"], later["curves"]) == ([3], {"train": {"map": [0.4]}})
    assert client.get("/v1/jobs/job_none/history").status_code == 404


def test_history_names_the_best_iteration_once_there_is_a_model(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """The best iteration is read from the model in the job's result."""
    model = add_model("web")
    with store.begin() as tx:
        job = tx.jobs.claim(model.job_id, "w1", 15)
        assert job is not None
        tx.jobs.succeed(job.id, job.token, {"model_id": model.id})
    assert client.get(f"/v1/jobs/{model.job_id}/history").json()["best_iteration"] == 2
