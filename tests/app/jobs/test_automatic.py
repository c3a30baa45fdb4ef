"""Hyperparameters chosen by the size of the training dataset, and trainings repeated with other seeds."""

from typing import Any

import pytest

from core.training import Hyperparameters
from core.training.automatic import DatasetSize, hyperparameters_by_size
from tests.app.conftest import TestClient


def _size(client: TestClient, dataset_id: str) -> DatasetSize:
    counts = client.get(f"/v1/datasets/{dataset_id}").json()["statistics"]
    return DatasetSize(counts["queries"], counts["documents"], counts["features"])


def _spec(client: TestClient, request: dict[str, Any]) -> dict[str, Any]:
    response = client.post("/v1/jobs", json=request)
    assert response.status_code == 202, response.text
    spec: dict[str, Any] = response.json()["spec"]
    return spec


@pytest.mark.parametrize("hyperparameters", ["auto", {"auto": True}])
def test_sizes_are_chosen_for_the_dataset(
    client: TestClient, train_request: dict[str, Any], hyperparameters: Any
) -> None:
    """The specification has the values of the rule and the counts that decided them."""
    spec = _spec(client, train_request | {"hyperparameters": hyperparameters})
    size = _size(client, train_request["dataset_id"])
    assert spec["hyperparameters"].items() >= hyperparameters_by_size(size).items()
    assert spec["automatic"]["chosen"] == hyperparameters_by_size(size)
    assert (spec["automatic"]["queries"], spec["automatic"]["features"]) == (size.queries, size.features)


def test_explicit_values_override_the_choice(client: TestClient, train_request: dict[str, Any]) -> None:
    """A value that equals LightGBM's default is explicit as well."""
    hyperparameters = {"auto": True, "num_leaves": Hyperparameters().num_leaves, "lambda_l2": 1.0}
    spec = _spec(client, train_request | {"hyperparameters": hyperparameters})
    assert (spec["hyperparameters"]["num_leaves"], spec["hyperparameters"]["lambda_l2"]) == (31, 1.0)
    assert "num_leaves" not in spec["automatic"]["chosen"]


def test_left_out_features_do_not_count(client: TestClient, train_request: dict[str, Any]) -> None:
    """The rule counts only features that the model may use."""
    features = {"use": ["f1"]}
    spec = _spec(client, train_request | {"hyperparameters": "auto", "features": features})
    assert spec["automatic"]["features"] == 1


def test_hyperparameters_are_chosen_only_on_request(
    client: TestClient, train_request: dict[str, Any]
) -> None:
    """The default values are LightGBM's."""
    spec = _spec(client, train_request)
    assert "automatic" not in spec
    assert spec["hyperparameters"]["num_leaves"] == Hyperparameters().num_leaves


def test_another_word_is_refused(client: TestClient, train_request: dict[str, Any]) -> None:
    """Only "auto" may replace an object."""
    refused = client.post("/v1/jobs", json=train_request | {"hyperparameters": "small"})
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/hyperparameters"]


def test_repeats_differ_by_their_seed(client: TestClient, train_request: dict[str, Any]) -> None:
    """Repeats are bootstrap samples with consecutive seeds, numbered by a tag, in one grid."""
    body = {"jobs": [train_request | {"seed": 7}], "repeats": {"count": 3}}
    jobs = client.post("/v1/jobs/batch", json=body).json()["jobs"]
    specs = [job["spec"] for job in jobs]
    assert [(spec["seed"], spec["loss"]["seed"], spec["bootstrap"]) for spec in specs] == [
        (7, 7, True),
        (8, 8, True),
        (9, 9, True),
    ]
    assert [spec["tags"]["repeat"] for spec in specs] == ["1", "2", "3"]
    assert len({spec["tags"]["grid"] for spec in specs}) == 1


def test_repeats_are_refused_if_each_seed_gives_the_same_model(
    client: TestClient, train_request: dict[str, Any]
) -> None:
    """Repeats are refused if every seed gives the same model; a query fraction below 1 is enough."""
    body = {"jobs": [train_request], "repeats": {"count": 2, "by": "seed"}}
    refused = client.post("/v1/jobs/batch", json=body)
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/jobs/0/seed"]
    body["jobs"] = [train_request | {"hyperparameters": {"query_fraction": 0.9}}]
    assert client.post("/v1/jobs/batch", json=body).status_code == 202


def test_a_batch_that_cannot_be_repeated_is_refused(
    client: TestClient, train_request: dict[str, Any]
) -> None:
    """Other kinds, too many jobs and seeds out of range are refused, and nothing is queued."""
    ranking = {"kind": "rank", "model": "web", "dataset_id": train_request["dataset_id"]}
    jobs = [ranking, train_request | {"seed": 2**31 - 1}]
    refused = client.post("/v1/jobs/batch", json={"jobs": jobs, "repeats": {"count": 200}})
    pointers = [error["pointer"] for error in refused.json()["errors"]]
    assert pointers == ["/jobs/0/kind", "/repeats/count", "/jobs/1/seed"]
    assert client.get("/v1/jobs").json()["items"] == []
