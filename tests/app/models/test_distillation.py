"""Distillation: training on the scores of a model, by a short request."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Model, Store
from tests.app.conftest import FEATURE_NAMES, TestClient

AddModel = Callable[..., Model]


def distillation_spec(client: TestClient, reference: str = "web", **body: Any) -> dict[str, Any]:
    """Return the specification of the training that a request queues."""
    answer = client.post(f"/v1/models/{reference}/distil", json=body)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['id']}"
    spec: dict[str, Any] = answer.json()["spec"]
    return spec


def test_defaults_are_those_of_the_teacher(client: TestClient, add_model: AddModel) -> None:
    """Dataset, features and metrics are the teacher's; by default, a fifth of the queries is test data."""
    teacher = add_model("web", metrics=["map"], label_map={"9": 0.0})
    spec = distillation_spec(client)
    assert (spec["kind"], spec["model_name"], spec["labels_from"]) == (
        "train",
        "web-distilled",
        "model:web:1",
    )
    assert (spec["dataset_id"], spec["features"]["use"]) == (teacher.dataset_id, FEATURE_NAMES)
    assert (spec["test"], spec["validation"], spec["test_dataset_id"]) == ({"fraction": 0.2}, None, None)
    assert (spec["metrics"], spec["label_map"], spec["loss"]["name"]) == (["map"], {"9": 0.0}, "mse")
    assert spec["hyperparameters"]["num_leaves"] == 15
    add_model("best", metric="mrr", contract=None, test_dataset_id=None)  # as automatic training stores it
    assert distillation_spec(client, "best")["metrics"] == ["mrr"]


def test_the_test_data_are_new_to_the_teacher(
    client: TestClient, add_model: AddModel, ready_dataset: Callable[[], str]
) -> None:
    """They are the held-out data of the teacher, unless the request names test or other training data."""
    first, second = ready_dataset(), ready_dataset()
    add_model("web", first, test={"fraction": 0.5}, seed=7)
    assert {"test": {"fraction": 0.5}, "seed": 7}.items() <= distillation_spec(client).items()
    assert distillation_spec(client, dataset_id=second)["test"] == {"fraction": 0.2}
    assert distillation_spec(client, test_dataset_id=second)["test_dataset_id"] == second
    add_model("shop", first, test_dataset_id=second)
    assert distillation_spec(client, "shop")["test_dataset_id"] == second
    assert distillation_spec(client, "shop", dataset_id=second)["test"] == {"fraction": 0.2}


def test_a_request_may_choose(client: TestClient, add_model: AddModel) -> None:
    """A request may choose the name, size, features, priority and tags."""
    add_model("web")
    chosen: dict[str, Any] = {
        "model_name": "small",
        "leaves": 63,
        "iterations": 200,
        "features": {"leave_out": ["bm25"]},
    }
    spec = distillation_spec(client, **chosen, priority="low", tags={"for": "solr"})
    assert (spec["model_name"], spec["features"]["leave_out"], spec["priority"]) == ("small", ["bm25"], "low")
    assert {"num_leaves": 63, "num_iterations": 200}.items() <= spec["hyperparameters"].items()
    assert spec["tags"] == {"for": "solr"}


def test_a_new_model_is_in_the_project_of_its_teacher(
    client: TestClient, add_model: AddModel, ready_dataset: Callable[[], str], store: Store
) -> None:
    """The project of the request comes first, then that of the teacher, then that of the dataset."""
    dataset_id = ready_dataset()
    add_model("web", dataset_id)
    add_model("shop", dataset_id)
    with store.begin() as tx:
        tx.projects.move_data(tx.datasets.get(dataset_id), "data")
        tx.projects.move_name("web", "search")
        tx.projects.move_name("shop", None)
    requests: list[tuple[str, dict[str, Any]]] = [
        ("web", {}),
        ("web", {"model_name": "small", "project": "solr"}),
        ("shop", {}),
    ]
    jobs = [client.post(f"/v1/models/{teacher}/distil", json=body).json() for teacher, body in requests]
    assert [job["project"] for job in jobs] == ["search", "solr", "data"]


def test_an_imported_model_needs_a_dataset(client: TestClient, store: Store) -> None:
    """An imported model has no dataset, so the error points at `dataset_id`."""
    with store.begin() as tx:
        job = tx.jobs.add("import-model", {"model_name": "web"})
        tx.models.add(
            name="web", job_id=job.id, feature_names=["a"], best_iteration=1, sha256="0" * 64, size_bytes=1
        )
    answer = client.post("/v1/models/web/distil", json={})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/dataset_id")


def test_an_imported_feature_of_a_long_name_is_refused(client: TestClient, add_model: AddModel) -> None:
    """The name is longer than a training accepts; the request may choose other features."""
    add_model("web", feature_names=["bm25", "x" * 2_000, "age"])
    answer = client.post("/v1/models/web/distil", json={})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/features/use/1")
    assert client.post("/v1/models/web/distil", json={"features": {"use": ["bm25"]}}).status_code == 202


@pytest.mark.parametrize(("field", "value"), [("leaves", 1), ("metrics", ["magic"]), ("loss", "mse")])
def test_an_invalid_field_is_named(client: TestClient, add_model: AddModel, field: str, value: Any) -> None:
    """The error points at the field of the request."""
    add_model("web")
    answer = client.post("/v1/models/web/distil", json={field: value})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(f"/{field}")
