"""Schedules over HTTP: checked when they are made, changed, paused, run and deleted."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.store import Store
from core.store.repositories.schedules import RunStatus
from tests.app.conftest import TestClient, error_pointers

TRAINING = {"kind": "train", "model_name": "web", "dataset": "judged", "loss": {"name": "lambdarank"}}

STUDY = {
    "kind": "study",
    "name": "leaves",
    "model_name": "web",
    "dataset": "judged",
    "test": {"fraction": 0.4},
    "base": {"loss": {"name": "lambdarank"}},
    "search_space": {"/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 8}},
    "objective": {"validation": {"folds": 2}},
}
BEST = {"kind": "auto-train", "model_name": "web", "dataset": "judged"}


@pytest.fixture(autouse=True)
def dataset_id(ready_dataset: Callable[[], str]) -> str:
    """A ready dataset named `judged`."""
    return ready_dataset()


def body(**changed: Any) -> dict[str, Any]:
    """Return a request for a schedule."""
    return {"name": "nightly", "cron": "0 3 * * *", "job": TRAINING, **changed}


def create(client: TestClient, **changed: Any) -> dict[str, Any]:
    """Create a schedule and return it."""
    answer = client.post("/v1/schedules", json=body(**changed))
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/v1/schedules/{answer.json()['id']}"
    created: dict[str, Any] = answer.json()
    return created


def test_a_schedule_shows_its_next_due_times(client: TestClient) -> None:
    """The next three due times are in UTC; the cron expression applies in the schedule's time zone."""
    schedule = create(client, timezone="Asia/Tokyo")
    due = [datetime.fromisoformat(moment) for moment in schedule["next_runs"]]
    assert [(moment.hour, moment.minute) for moment in due] == [(18, 0)] * 3
    assert due[1] - due[0] == due[2] - due[1] == timedelta(days=1)
    assert datetime.fromisoformat(schedule["next_run_at"]) == due[0] > datetime.now(UTC)
    assert schedule["job"] == TRAINING
    assert schedule["last_run"] is None
    assert client.get(f"/v1/schedules/{schedule['id']}").json() == schedule
    assert client.get("/v1/schedules?prefix=night&enabled=true").json()["items"] == [schedule]


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"cron": "0 25 * * *"}, "/cron"),
        ({"timezone": "Mars/Olympus"}, "/timezone"),
        ({"job": {**TRAINING, "dataset": "unknown"}}, "/job/dataset"),
        ({"job": {**TRAINING, "validation": {"dataset": "judged"}}}, "/job/validation/dataset"),
        ({"job": {**TRAINING, "test_dataset": "unknown"}}, "/job/test_dataset"),
        ({"job": {**TRAINING, "dataset_id": "ds_1"}}, "/job/dataset_id"),
        ({"job": {**TRAINING, "metrics": ["ndgc@5"]}}, "/job/metrics/0"),
        ({"job": {**TRAINING, "hyperparameters": {"num_leaves": 1}}}, "/job/hyperparameters/num_leaves"),
        ({"job": {**TRAINING, "early_stopping": {"metric": "map", "rounds": 3}}}, "/job/early_stopping"),
        ({"job": {**BEST, "dataset": "unknown"}}, "/job/dataset"),
        ({"job": {**BEST, "test_dataset": "judged"}}, "/job/test_dataset"),
        ({"job": {**BEST, "metric": "ndgc@5"}}, "/job/metric"),
        ({"job": {**BEST, "loss": {"name": "lambdarank"}}}, "/job/loss"),
        ({"job": BEST, "promote": {"alias": "champion"}}, "/promote/alias"),
        ({"job": {**STUDY, "dataset": "unknown"}}, "/job/dataset"),
        ({"job": {**STUDY, "test": None}}, "/job/test"),
        ({"job": {**STUDY, "objective": {"metric": "ndgc@5"}}}, "/job/objective/metric"),
        ({"job": STUDY, "promote": {"alias": "champion"}}, "/promote"),
        ({"job": {"kind": "evaluate", "model": "web"}}, "/job/kind"),
        ({"promote": {"alias": "champion"}}, "/promote/alias"),
        ({"enabled": None}, "/enabled"),
    ],
)
def test_invalid_fields_are_refused_with_their_pointers(
    client: TestClient, changed: dict[str, Any], pointer: str
) -> None:
    """A job is checked as at submission, and the pointers of its errors are below `/job`."""
    assert pointer in error_pointers(client.post("/v1/schedules", json=body(**changed)))
    assert client.get("/v1/schedules").json()["items"] == []


@pytest.mark.both_stores
def test_nul_in_names_is_refused(client: TestClient) -> None:
    """PostgreSQL refuses NUL in text: an alias with NUL is invalid, and a model of a sum is not found."""
    assert error_pointers(client.post("/v1/schedules", json=body(promote={"alias": "a\x00b"}))) == [
        "/promote/alias"
    ]
    job = {name: value for name, value in TRAINING.items() if name != "loss"}
    members = {"kind": "sum", "models": ["a\x00b", "web@a\x00b"], "weights": [0.5, 0.5]}
    assert client.post("/v1/schedules", json=body(job={**job, "scorer": members})).status_code == 404


def test_an_alias_without_a_gate_is_refused_with_the_request_to_set_one(client: TestClient) -> None:
    """The error has the request that sets a gate; without one, new versions would reach users unchecked."""
    answer = client.post("/v1/schedules", json=body(promote={"alias": "champion"}))
    (error,) = answer.json()["errors"]
    assert "PUT /v1/models/web/aliases/champion/gate" in error["detail"]


def test_automatic_sizes_and_notes_are_stored_as_given(client: TestClient) -> None:
    """Automatic hyperparameters are not replaced by values, because each run chooses them for its dataset."""
    job = {**TRAINING, "hyperparameters": {"auto": True, "num_leaves": 7}, "notes": "As of May"}
    assert create(client, job=job)["job"] == job
    study = {**STUDY, "base": {"loss": {"name": "lambdarank"}, "hyperparameters": {"auto": True}}}
    assert create(client, job=study)["job"] == study


def test_a_schedule_is_paused_and_resumed(client: TestClient) -> None:
    """A paused schedule is never due; a change keeps the omitted fields."""
    schedule = create(client)
    url = f"/v1/schedules/{schedule['id']}"
    paused = client.patch(url, json={"enabled": False}).json()
    assert (paused["enabled"], paused["next_run_at"], paused["next_runs"]) == (False, None, [])
    assert paused["job"] == schedule["job"]
    moved = client.patch(url, json={"cron": "30 4 * * *", "name": "later"}).json()
    assert (moved["name"], moved["next_run_at"]) == ("later", None)
    resumed = client.patch(url, json={"enabled": True}).json()
    assert datetime.fromisoformat(resumed["next_run_at"]).minute == 30
    assert error_pointers(client.patch(url, json={"cron": None})) == ["/cron"]
    assert error_pointers(client.patch(url, json={"promote": {"alias": "champion"}})) == ["/promote/alias"]
    assert client.patch(url, json={"promote": None}).json()["promote"] is None


def test_a_change_of_the_name_keeps_the_due_time(client: TestClient, store: Store) -> None:
    """A due time in the past is kept, so the due run is not lost."""
    schedule = create(client)
    past = datetime(2026, 1, 5, 3, tzinfo=UTC)
    with store.begin() as tx:
        tx.schedules.locked(schedule["id"]).next_run_at = past
    changed = client.patch(f"/v1/schedules/{schedule['id']}", json={"name": "renamed"}).json()
    assert datetime.fromisoformat(changed["next_run_at"]) == past


def test_a_schedule_has_one_active_run_at_a_time(client: TestClient, store: Store) -> None:
    """A repeated request with the same key gets the first run; another one is 409 until the run has ended."""
    schedule = create(client)
    url = f"/v1/schedules/{schedule['id']}/run"
    first = client.post(url, headers={"Idempotency-Key": "a"})
    assert first.status_code == 202, first.text
    assert first.json()["status"] == "queued"
    assert client.post(url, headers={"Idempotency-Key": "a"}).json() == first.json()
    assert client.post(url).status_code == 409
    with store.begin() as tx:
        run = tx.schedules.active_run(schedule["id"])
        assert run is not None
        tx.schedules.finish(run, RunStatus.TRAINED, "Trained web:1.")
    assert client.post(url).status_code == 202
    runs = client.get(f"/v1/schedules/{schedule['id']}/runs").json()["items"]
    assert [run["status"] for run in runs] == ["queued", "trained"]
    last = client.get(f"/v1/schedules/{schedule['id']}").json()["last_run"]
    assert last["id"] == runs[0]["id"]


def test_a_deleted_schedule_is_gone_with_its_runs(client: TestClient) -> None:
    """Requests for the schedule and for its runs, and a second deletion, are answered by 404."""
    schedule = create(client)
    client.post(f"/v1/schedules/{schedule['id']}/run")
    assert client.delete(f"/v1/schedules/{schedule['id']}").status_code == 204
    for address in ("", "/runs"):
        assert client.get(f"/v1/schedules/{schedule['id']}{address}").status_code == 404
    assert client.delete(f"/v1/schedules/{schedule['id']}").status_code == 404


def test_a_schedule_has_the_key_of_its_last_change(client: TestClient, store: Store) -> None:
    """The key that changes a schedule replaces the key that created it."""
    with store.begin() as tx:
        (first, secret), (second, other) = (tx.api_keys.create(name, ["write"]) for name in "ab")
    client.headers["Authorization"] = f"Bearer {secret}"
    schedule = create(client)
    assert schedule["key_id"] == first.id
    client.headers["Authorization"] = f"Bearer {other}"
    assert (
        client.patch(f"/v1/schedules/{schedule['id']}", json={"enabled": True}).json()["key_id"] == second.id
    )


def test_a_key_of_a_project_sees_only_schedules_of_the_project(client: TestClient, store: Store) -> None:
    """Other schedules are not listed, and a request to run one is 404."""
    with store.begin() as tx:
        _, unbound = tx.api_keys.create("unbound", ["write"])
        _, bound = tx.api_keys.create("bound", ["write"], projects=["search"])
        dataset = tx.datasets.add("judged", {"kind": "upload"}, project="search")
        tx.datasets.mark_ready(dataset.id, statistics={"queries": 3, "documents": 9, "features": 3})
    client.headers["Authorization"] = f"Bearer {unbound}"
    other = create(client)
    client.headers["Authorization"] = f"Bearer {bound}"
    own = create(client)
    assert own["project"] == "search"
    assert [each["id"] for each in client.get("/v1/schedules").json()["items"]] == [own["id"]]
    assert client.post(f"/v1/schedules/{other['id']}/run").status_code == 404


def test_a_dataset_name_does_not_find_data_of_another_project(
    client: TestClient, store: Store, dataset_id: str
) -> None:
    """A schedule of a project needs a dataset of this project or without a project."""
    create(client, project="search")
    with store.begin() as tx:
        tx.projects.move_data(tx.datasets.get(dataset_id), "ads")
    refused = client.post("/v1/schedules", json=body(project="search"))
    assert error_pointers(refused) == ["/job/dataset"]
    assert "in the project search or without one" in refused.json()["detail"]
    create(client)


def test_a_name_of_another_project_is_refused_when_the_schedule_is_set(
    client: TestClient, store: Store
) -> None:
    """Otherwise each run would fail, since the name of a model belongs to one project."""
    with store.begin() as tx:
        _, unbound = tx.api_keys.create("unbound", ["write"])
        _, bound = tx.api_keys.create("bound", ["write"], projects=["search"])
        dataset = tx.datasets.add("judged", {"kind": "upload"}, project="search")
        tx.datasets.mark_ready(dataset.id, statistics={"queries": 3, "documents": 9, "features": 3})
    client.headers["Authorization"] = f"Bearer {unbound}"
    schedule = create(client, job={**TRAINING, "model_name": "other"}, project="search")
    with store.begin() as tx:
        tx.models.add(
            name="web",
            job_id=tx.jobs.add("train", {}).id,
            feature_names=["f1"],
            best_iteration=1,
            sha256="0" * 64,
            size_bytes=1,
        )
        tx.projects.move_name("web", "ads")
    refused = client.post("/v1/schedules", json=body(project="search"))
    assert error_pointers(refused) == ["/job/project"]
    assert error_pointers(client.patch(f"/v1/schedules/{schedule['id']}", json={"job": TRAINING})) == [
        "/job/project"
    ]
    client.headers["Authorization"] = f"Bearer {bound}"
    assert error_pointers(client.post("/v1/schedules", json=body())) == ["/job/model_name"]


@pytest.mark.parametrize("job", [TRAINING, STUDY, BEST])
def test_a_job_is_in_the_project_of_its_schedule(client: TestClient, job: dict[str, Any]) -> None:
    """The job of a request may name the project; another one than that of the schedule is refused."""
    schedule = create(client, job={**job, "project": "search"})
    assert schedule["project"] == "search"
    refused = client.post("/v1/schedules", json=body(job={**job, "project": "ads"}, project="search"))
    assert error_pointers(refused) == ["/job/project"]
    path = f"/v1/schedules/{schedule['id']}"
    assert error_pointers(client.patch(path, json={"job": {**job, "project": "ads"}})) == ["/job/project"]
    assert client.patch(path, json={"job": {**job, "project": "search"}}).status_code == 200


def test_due_times_are_shown_before_there_is_a_schedule(client: TestClient) -> None:
    """The times equal those of the schedule that is created later; an error points at the expression."""
    times = {"cron": "30 4 * * 1-5", "timezone": "Europe/Zurich"}
    shown = client.get("/v1/schedules/due-times", params=times).json()["items"]
    assert shown == create(client, **times)["next_runs"]
    assert error_pointers(client.get("/v1/schedules/due-times?cron=at+night")) == ["/cron"]


def test_due_times_take_the_longest_texts_of_a_schedule(client: TestClient) -> None:
    """A long expression has due times, and a long time zone gets the same error as in a schedule."""
    each_minute = {"cron": ",".join(map(str, range(60))) + " 3 * * *"}
    shown = client.get("/v1/schedules/due-times", params=each_minute).json()
    assert shown["items"] == create(client, **each_minute)["next_runs"]
    unknown = {"cron": "0 3 * * *", "timezone": "Z" * 100}
    refused = client.get("/v1/schedules/due-times", params=unknown)
    assert refused.json() == client.post("/v1/schedules", json=body(**unknown)).json()
