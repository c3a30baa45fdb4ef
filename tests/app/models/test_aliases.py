"""Aliases over HTTP: moves, rollbacks and gates."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Model, Store
from tests.app.conftest import TestClient

AddModel = Callable[[str], Model]
CHAMPION = "/v1/models/web/aliases/champion"
GATE: dict[str, Any] = {"metric": "ndcg@10", "require": "better", "max_slice_drop": 0.02}


@pytest.fixture
def web(add_model: AddModel) -> list[Model]:
    """Three versions of `web`."""
    return [add_model("web") for _ in range(3)]


def put(client: TestClient, version: int) -> Any:
    """Point the alias at a version."""
    return client.put(CHAMPION, json={"version": version})


@pytest.fixture
def gate_dataset_id(client: TestClient, web: list[Model], ready_dataset: Callable[[], str]) -> str:
    """Point the alias at version 1 and set a gate; return the dataset of the gate."""
    put(client, 1)
    dataset_id = ready_dataset()
    response = client.put(f"{CHAMPION}/gate", json={**GATE, "dataset_id": dataset_id})
    assert response.status_code == 200, response.text
    return dataset_id


def test_aliases_are_listed_shown_and_removed(client: TestClient, web: list[Model]) -> None:
    """Each alias has the version that it points at."""
    put(client, 2)
    client.put("/v1/models/web/aliases/baseline", json={"version": 1})
    items = client.get("/v1/models/web/aliases").json()["items"]
    assert [(item["alias"], item["version"]) for item in items] == [("baseline", 1), ("champion", 2)]
    assert not any(item["gated"] for item in items)
    assert client.get(CHAMPION).json() == items[1]
    assert items[1]["model_id"] == web[1].id
    assert client.delete(CHAMPION).status_code == 204
    for response in (client.get(CHAMPION), client.delete(CHAMPION), client.get("/v1/models/web@champion")):
        assert response.status_code == 404
    assert client.get("/v1/models/none/aliases").status_code == 404
    assert client.get("/v1/models/web:1/aliases").status_code == 404


def test_the_history_is_paged_newest_first(client: TestClient, web: list[Model]) -> None:
    """A removed alias keeps its history; an unknown model has none."""
    for version in (1, 2, 3):
        put(client, version)
    client.delete(CHAMPION)
    first = client.get(f"{CHAMPION}/history?limit=3").json()
    rest = client.get(f"{CHAMPION}/history", params={"cursor": first["next_cursor"]}).json()
    assert [(item["kind"], item["from_version"], item["to_version"]) for item in first["items"]] == [
        ("removed", 3, None),
        ("moved", 2, 3),
        ("moved", 1, 2),
    ]
    assert [item["to_version"] for item in rest["items"]] == [1]
    assert client.get("/v1/models/none/aliases/champion/history").status_code == 404
    assert client.get(f"{CHAMPION}/history?cursor=x").status_code == 422


def test_a_rollback_returns_the_new_version(client: TestClient, web: list[Model]) -> None:
    """Each rollback goes one version further back, until there is none; references follow immediately."""
    for version in (1, 2, 3):
        put(client, version)
    versions = [client.post(f"{CHAMPION}/rollback").json()["version"] for _ in range(2)]
    assert versions == [2, 1]
    assert client.get("/v1/models/web@champion").json()["id"] == web[0].id
    refused = client.post(f"{CHAMPION}/rollback")
    assert refused.status_code == 409
    assert "no previous version" in refused.json()["detail"]
    assert client.post("/v1/models/web/aliases/none/rollback").status_code == 404


def test_a_rollback_that_is_sent_again_goes_back_no_further(client: TestClient, web: list[Model]) -> None:
    """A client that got no answer may repeat the request with the same key."""
    for version in (1, 2, 3):
        put(client, version)
    answers = [
        client.post(f"{CHAMPION}/rollback", headers={"Idempotency-Key": "undo"}).json() for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert client.get(CHAMPION).json()["version"] == answers[0]["version"] == 2


def test_a_gated_alias_is_moved_by_a_job(client: TestClient, web: list[Model], gate_dataset_id: str) -> None:
    """The job has both versions and the rule of the gate; the alias is unchanged until the job has run."""
    response = put(client, 2)
    assert response.status_code == 202, response.text
    job = response.json()
    assert response.headers["location"] == f"/v1/jobs/{job['id']}"
    spec = job["spec"]
    assert (job["kind"], spec["alias"], spec["dataset_id"]) == ("promote", "champion", gate_dataset_id)
    assert spec["systems"] == [
        {"model_id": model.id, "system": f"web:{version}"} for version, model in enumerate(web[:2], 1)
    ]
    assert spec["rule"] == {**GATE, "p": 0.05, "min_slice_queries": 30}
    assert client.get(CHAMPION).json()["version"] == 1
    assert client.get("/v1/jobs?kind=promote").json()["items"][0]["id"] == job["id"]
    assert client.delete(f"/v1/datasets/{gate_dataset_id}").status_code == 409


@pytest.mark.parametrize("with_baselines", [False, True])
def test_a_job_names_the_baselines_only_where_its_gate_asks_for_them(
    client: TestClient, gate_dataset_id: str, store: Store, with_baselines: bool
) -> None:
    """Workers and API of the previous release refuse the key, but accept other gates."""
    rule = {**GATE, "dataset_id": gate_dataset_id, "better_than_baselines": with_baselines}
    assert client.put(f"{CHAMPION}/gate", json=rule).json()["better_than_baselines"] is with_baselines
    assert ("better_than_baselines" in put(client, 2).json()["spec"]["rule"]) is with_baselines
    with store.read() as tx:
        assert ("better_than_baselines" in tx.aliases.gate("web", "champion").rule) is with_baselines


def test_gates_without_a_version_are_listed(
    client: TestClient, web: list[Model], gate_dataset_id: str
) -> None:
    """The gate of an alias that was removed, or has no version yet, is listed beside the aliases."""
    assert "gates_without_version" not in client.get("/v1/models/web/aliases").json()
    client.put("/v1/models/web/aliases/next/gate", json={**GATE, "dataset_id": gate_dataset_id})
    client.delete(CHAMPION)
    assert client.get("/v1/models/web/aliases").json() == {
        "items": [],
        "gates_without_version": ["champion", "next"],
    }


def test_some_moves_of_a_gated_alias_need_no_job(
    client: TestClient, web: list[Model], gate_dataset_id: str
) -> None:
    """The current version, an alias without a target, a rollback and a removed gate need no job."""
    assert put(client, 1).status_code == 200
    client.delete(CHAMPION)
    assert put(client, 2).status_code == 200
    assert client.delete(f"{CHAMPION}/gate").status_code == 204
    assert put(client, 3).status_code == 200
    client.put(f"{CHAMPION}/gate", json={**GATE, "dataset_id": gate_dataset_id})
    assert client.post(f"{CHAMPION}/rollback").json()["version"] == 2


def test_a_gate_converts_names_of_ir_measures(client: TestClient, gate_dataset_id: str) -> None:
    """The gate stores the name of the metric in Rankery."""
    gate = {**GATE, "metric": "nDCG@5", "dataset_id": gate_dataset_id}
    assert client.put(f"{CHAMPION}/gate", json=gate).json()["metric"] == "ndcg@5"


def test_a_gate_is_shown_with_its_defaults(client: TestClient, gate_dataset_id: str) -> None:
    """A gate shows its rule and the preset of its contract; its dataset cannot be deleted before the gate."""
    gate = client.get(f"{CHAMPION}/gate").json()
    assert {name: gate[name] for name in GATE} == GATE
    assert (gate["p"], gate["min_slice_queries"], gate["contract"]["preset"]) == (0.05, 30, "default")
    refused = client.delete(f"/v1/datasets/{gate_dataset_id}")
    assert refused.status_code == 409
    assert "gate web@champion compares versions on it" in refused.json()["detail"]
    client.delete(f"{CHAMPION}/gate")
    for response in (client.get(f"{CHAMPION}/gate"), client.delete(f"{CHAMPION}/gate")):
        assert response.status_code == 404
    assert client.delete(f"/v1/datasets/{gate_dataset_id}").status_code == 204


@pytest.mark.parametrize(
    ("changed", "status", "pointer"),
    [
        ({"metric": "ndgc@10"}, 422, "/metric"),
        ({"metric": "gm-map"}, 422, "/metric"),
        ({"metric": None}, 422, "/metric"),
        ({"p": 0.0}, 422, "/p"),
        ({"p": 1.5}, 422, "/p"),
        ({"require": "best"}, 422, "/require"),
        ({"max_slice_drop": -0.1}, 422, "/max_slice_drop"),
        ({"min_slice_queries": 0}, 422, "/min_slice_queries"),
        ({"permutations": 10}, 422, "/permutations"),
        ({"contract": {"max_label": 0}}, 422, "/contract/max_label"),
        ({"label_map": {"good": 1}}, 422, "/label_map/good"),
        ({"slices": True}, 422, "/slices"),
        ({"dataset_id": "ds_gone"}, 404, None),
    ],
)
def test_a_bad_gate_is_refused(
    client: TestClient,
    web: list[Model],
    ready_dataset: Callable[[], str],
    changed: dict[str, Any],
    status: int,
    pointer: str | None,
) -> None:
    """The payload is checked when the gate is set, not when it is used."""
    response = client.put(f"{CHAMPION}/gate", json={**GATE, "dataset_id": ready_dataset(), **changed})
    assert response.status_code == status, response.text
    assert [error["pointer"] for error in response.json().get("errors", [])] == ([pointer] if pointer else [])


def test_a_gate_needs_data_that_a_model_can_score(
    client: TestClient, store: Store, web: list[Model], ready_dataset: Callable[[], str]
) -> None:
    """Judgments without features, a dataset that is not ready and an unknown model name are refused."""
    with store.begin() as tx:
        pending, bare = tx.datasets.add("d", {}).id, tx.datasets.add("d", {}).id
        tx.datasets.mark_ready(bare, statistics={"features": 0})
    answers = [
        client.put(f"{CHAMPION}/gate", json={**GATE, "dataset_id": dataset_id})
        for dataset_id in (pending, bare)
    ]
    assert [answer.status_code for answer in answers] == [409, 422]
    gate = {**GATE, "dataset_id": ready_dataset()}
    assert client.put("/v1/models/none/aliases/champion/gate", json=gate).status_code == 404
    assert client.put("/v1/models/web/aliases/Champion!/gate", json=gate).status_code == 422
