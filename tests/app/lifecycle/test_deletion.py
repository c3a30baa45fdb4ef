"""Deletion over HTTP: single objects, many by a filter, and the answers."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.store import Model, Store
from core.store.lifecycle.deletion import CHUNK
from tests.app.auth.conftest import Bearer
from tests.app.conftest import TestClient

AddModel = Callable[..., Model]


@pytest.fixture
def end_jobs(store: Store) -> Callable[[], None]:
    """Function that lets all queued jobs succeed."""

    def end() -> None:
        with store.begin() as tx:
            for job in tx.jobs.page(None, 200, status="queued").items:
                claimed = tx.jobs.claim(job.id, "w", 15)
                assert claimed is not None
                model_ids = [model.id for model in tx.models.page(None, 200).items if model.job_id == job.id]
                tx.jobs.succeed(job.id, claimed.token, {"model_id": model_ids[0]} if model_ids else {})

    return end


@pytest.fixture
def add_ended(add_model: AddModel, end_jobs: Callable[[], None]) -> AddModel:
    """Function that records a version of a model whose job has succeeded."""

    def add(name: str = "web", **options: Any) -> Model:
        model = add_model(name, **options)
        end_jobs()
        return model

    return add


def bulk_delete(client: TestClient, path: str, **body: Any) -> dict[str, Any]:
    """Send a request to delete several objects, and return its answer."""
    answer = client.post(f"/v1/{path}/delete", json=body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_a_deleted_model_scores_no_more(client: TestClient, add_ended: AddModel) -> None:
    """The model is immediately absent from lists, references and scoring; its job is still shown."""
    model = add_ended()
    path, document = f"/v1/models/{model.id}", {"features": dict.fromkeys(model.feature_names, 0.5)}
    body = {"queries": [{"id": "q", "documents": [{"id": "d", **document}]}]}
    for reference in ("web", "web:1", model.id):
        assert client.post(f"/v1/models/{reference}/rank", json=body).status_code == 200
    answer = client.delete(path)
    assert answer.status_code == 200, answer.text
    assert answer.json()["deleted"] == {"models": 1}
    assert answer.json()["size_bytes"] == model.size_bytes
    purge_at = datetime.fromisoformat(answer.json()["purge_at"])
    assert timedelta(days=6.9) < purge_at - datetime.now(UTC) < timedelta(days=7)
    for reference in ("web", "web:1", model.id):
        assert client.post(f"/v1/models/{reference}/rank", json=body).status_code == 404
        assert client.get(f"/v1/models/{reference}").status_code == 404
    assert client.get("/v1/models").json()["items"] == []
    assert client.delete(path).status_code == 404
    for job_path in ("", "/history"):
        assert client.get(f"/v1/jobs/{model.job_id}{job_path}").status_code == 200
    assert client.get(f"/v1/jobs/histories?job={model.job_id}").status_code == 200
    assert client.get("/v1/jobs").json()["items"][0]["result"] == {"model_id": model.id}


def test_a_refusal_lists_the_holders_of_the_object(client: TestClient, add_ended: AddModel) -> None:
    """409 has the holders as members, and a remedy in its detail."""
    model = add_ended()
    client.put("/v1/models/web/aliases/champion", json={"version": 1})
    answer = client.delete(f"/v1/jobs/{model.job_id}", params={"with_results": True})
    assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
    problem = answer.json()
    assert problem["type"] == "/problems/still-needed"
    holder = {"kind": "alias", "id": "web@champion", "name": "web@champion", "reason": "points at web:1"}
    assert problem["holders"] == [holder]
    assert "move or remove the alias" in problem["detail"]
    plain = client.delete(f"/v1/jobs/{model.job_id}").json()
    assert {(each["kind"], each["id"]) for each in plain["holders"]} == {
        ("alias", "web@champion"),
        ("model", model.id),
    }
    client.delete("/v1/models/web/aliases/champion")
    plain = client.delete(f"/v1/jobs/{model.job_id}").json()
    assert plain["detail"].endswith("with with_results=true")
    done = client.delete(f"/v1/jobs/{model.job_id}?with_results=true&permanently=true").json()
    assert (done["deleted"], done["purge_at"]) == ({"jobs": 1, "models": 1}, None)
    assert client.get("/v1/trash").json()["items"] == []


def test_many_are_deleted_by_the_filters_of_their_list(client: TestClient, add_ended: AddModel) -> None:
    """A dry run is the default and changes nothing; the same request then deletes the announced objects."""
    models = [add_ended("web"), add_ended("web"), add_ended("shop")]
    client.patch("/v1/models/web:2", json={"tags": {"draft": "yes"}})
    body = {"filter": {"name": "web", "tag": ["draft:yes"]}}
    planned = bulk_delete(client, "models", **body)
    assert (planned["dry_run"], planned["deleted"]) == (True, {"models": 1})
    assert len(client.get("/v1/models").json()["items"]) == len(models)
    done = bulk_delete(client, "models", **body, dry_run=False)
    assert (done["deleted"], done["size_bytes"]) == ({"models": 1}, planned["size_bytes"])
    assert client.get("/v1/models/web:2").status_code == 404
    jobs = bulk_delete(client, "jobs", filter={"kind": "train"}, with_results=True, dry_run=False)
    assert jobs["deleted"] == {"jobs": 3, "models": 2}
    assert client.get("/v1/jobs").json()["items"] == []


@pytest.mark.long
def test_only_versions_that_were_the_latest_are_deleted(client: TestClient, store: Store) -> None:
    """Versions that become the latest during the deletion stay, even if the list has several pages."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {})
        claimed = tx.jobs.claim(job.id, "w", 15)
        assert claimed is not None
        for name in ("twice", *(f"once-{number}" for number in range(200)), "twice"):
            tx.models.add(
                name=name, job_id=job.id, feature_names=["a"], best_iteration=1, sha256="0" * 64, size_bytes=1
            )
        tx.jobs.succeed(job.id, claimed.token, {})
    done = bulk_delete(client, "models", filter={"latest": True}, dry_run=False)
    assert done["deleted"] == {"models": 201}
    assert [each["version"] for each in client.get("/v1/models").json()["items"]] == [1]


def test_references_of_models_are_ids_too(client: TestClient, add_ended: AddModel) -> None:
    """A version is selected by its reference; an unknown reference is missing."""
    for _ in range(2):
        add_ended()
    result = bulk_delete(client, "models", ids=["web:1", "web:7", "web"], dry_run=False)
    assert (result["deleted"], result["missing"]) == ({"models": 2}, ["web:7"])


def test_references_are_resolved_before_the_first_deletion(client: TestClient, add_ended: AddModel) -> None:
    """A name is the version that was the latest, even if an earlier chunk of the request deletes it."""
    for _ in range(2):
        add_ended()
    unknown = [f"web:{number}" for number in range(3, 3 + CHUNK)]
    result = bulk_delete(client, "models", ids=["web:2", *unknown, "web"], dry_run=False)
    assert (result["deleted"], result["missing"]) == ({"models": 1}, unknown)
    assert client.get("/v1/models/web").json()["version"] == 1


def test_held_objects_stay_and_the_others_are_deleted(client: TestClient, add_ended: AddModel) -> None:
    """The answer counts the kept objects and lists them with their holders."""
    held, deleted = add_ended(), add_ended()
    client.put("/v1/models/web/aliases/champion", json={"version": 1})
    result = bulk_delete(client, "models", filter={"all": True}, dry_run=False)
    assert (result["deleted"], result["refused_count"], result["complete"]) == ({"models": 1}, 1, True)
    (refused,) = result["refused"]
    assert (refused["kind"], refused["id"], refused["name"]) == ("model", held.id, "web:1")
    assert refused["holders"][0]["kind"] == "alias"
    assert client.get(f"/v1/models/{deleted.id}").status_code == 404


def test_an_age_counts_from_the_creation(client: TestClient, add_ended: AddModel) -> None:
    """An object of today is not older than a day; each object is older than a time in the future."""
    add_ended()
    moment = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    assert bulk_delete(client, "models", filter={"older_than_days": 1})["deleted"] == {}
    assert bulk_delete(client, "models", filter={"created_before": moment})["deleted"] == {"models": 1}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"ids": ["job_1"], "filter": {"all": True}}, ""),
        ({"filter": {}}, "/filter"),
        ({"filter": {"tag": []}}, "/filter"),
        ({"filter": {"older_than_days": -1}}, "/filter/older_than_days"),
        ({"filter": {"created_before": "2026-01-01T00:00:00"}}, "/filter/created_before"),
        ({"filter": {"created_before": 1_767_225_600}}, "/filter/created_before"),
        ({"filter": {"naem": "web"}}, "/filter/naem"),
        ({"ids": []}, "/ids"),
        ({"filter": {"status": "lost"}}, "/filter/status"),
    ],
)
def test_an_invalid_selection_is_refused(
    refusing_client: TestClient, body: dict[str, Any], pointer: str
) -> None:
    """An empty filter is refused, because it would select everything."""
    answer = refusing_client.post("/v1/jobs/delete", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


def test_filters_that_match_every_model_are_refused(client: TestClient, add_ended: AddModel) -> None:
    """An empty list of tags or `latest: false` alone would select every model; another filter is required."""
    add_ended()
    empty = {"latest": False, "tag": []}
    answer = client.post("/v1/models/delete", json={"filter": empty, "dry_run": False})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/filter")
    assert client.get("/v1/models/web").status_code == 200
    assert bulk_delete(client, "models", filter={**empty, "name": "web"})["deleted"] == {"models": 1}
    assert bulk_delete(client, "models", filter={**empty, "older_than_days": 0})["deleted"] == {"models": 1}
    assert bulk_delete(client, "models", filter={**empty, "all": True})["deleted"] == {"models": 1}


def test_each_kind_has_its_filters(client: TestClient) -> None:
    """Deletion accepts every filter of the list."""
    filters: dict[str, dict[str, Any]] = {
        "jobs": {"status": "failed", "kind": "train", "dataset": "ds_1", "text": "a", "tag": ["a"]},
        "models": {"name": "web", "tag": ["a:b"], "kind": "trees", "latest": True},
        "evaluations": {"dataset_id": "ds_1", "model_id": "mdl_1", "ranking_id": "rnk_1"},
        "comparisons": {"dataset_id": "ds_1"},
        "rankings": {"dataset_id": "ds_1", "uploaded": True},
        "inspections": {"dataset_id": "ds_1", "model_id": "mdl_1"},
        "studies": {"status": "cancelled", "dataset_id": "ds_1"},
    }
    for kind, wanted in filters.items():
        assert bulk_delete(client, kind, filter={**wanted, "prefix": "a", "project": "web"})["deleted"] == {}


def test_the_trash_is_listed_restored_and_emptied(client: TestClient, add_ended: AddModel) -> None:
    """Entries have the time of deletion and the key; objects deleted together are restored together."""
    first, second = add_ended(), add_ended("shop")
    for model in (first, second):
        client.delete(f"/v1/jobs/{model.job_id}?with_results=true")
    page = client.get("/v1/trash?limit=3").json()
    rest = client.get(f"/v1/trash?limit=3&cursor={page['next_cursor']}").json()
    items = [*page["items"], *rest["items"]]
    assert {item["id"] for item in items} == {first.id, first.job_id, second.id, second.job_id}
    assert [item["deleted_at"] for item in items] == sorted((i["deleted_at"] for i in items), reverse=True)
    (listed,) = [
        item for item in client.get("/v1/trash?kind=model").json()["items"] if item["id"] == first.id
    ]
    assert (listed["name"], listed["size_bytes"], listed["deleted_by"]) == ("web:1", first.size_bytes, None)
    back = client.post("/v1/trash/restore", json={"ids": [first.job_id, "job_00000000000000000000"]}).json()
    assert back == {"restored": {"jobs": 1, "models": 1}, "missing": ["job_00000000000000000000"]}
    assert client.get("/v1/models/web").json()["id"] == first.id
    preview = client.post("/v1/trash/empty", json={"all": True, "dry_run": True}).json()
    assert (preview["deleted"], preview["size_bytes"]) == ({"jobs": 1, "models": 1}, second.size_bytes)
    assert client.post("/v1/trash/empty", json={"older_than_days": 1}).json()["deleted"] == {}
    done = client.post("/v1/trash/empty", json={"all": True}).json()
    assert (done["deleted"], done["purge_at"]) == (preview["deleted"], None)
    assert client.get("/v1/trash").json()["items"] == []
    for body in ({}, {"all": True, "older_than_days": 1}, {"ids": ["ds_1"]}):
        assert client.post("/v1/trash/empty", json=body).status_code == 422
    assert client.get("/v1/trash?cursor=job_1").status_code == 422


def test_an_invalid_id_is_refused_before_the_trash_is_emptied(
    client: TestClient, add_ended: AddModel
) -> None:
    """The error has the position of the id in the request, and all objects stay in the trash."""
    model = add_ended()
    client.delete(f"/v1/models/{model.id}")
    object_ids = [model.id, model.id, *(f"mdl_{number:020}" for number in range(CHUNK)), "web:1"]
    for path in ("trash/empty", "trash/restore"):
        answer = client.post(f"/v1/{path}", json={"ids": object_ids})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == f"/ids/{len(object_ids) - 1}"
        assert len(client.get("/v1/trash").json()["items"]) == 1


def test_restoring_a_model_restores_its_job(client: TestClient, add_ended: AddModel) -> None:
    """A model is restored together with its job."""
    model = add_ended()
    client.delete(f"/v1/models/{model.id}")
    client.delete(f"/v1/jobs/{model.job_id}")
    back = client.post("/v1/trash/restore", json={"ids": [model.id]}).json()
    assert back["restored"] == {"jobs": 1, "models": 1}


def test_the_key_of_each_deletion_is_on_record(
    client: TestClient, add_ended: AddModel, bearer: Bearer, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """The trash and the audit name the key, also for each object of a bulk deletion."""
    model, dataset_id = add_ended(), ready_dataset()
    headers = {**bearer("write"), "X-Request-ID": "r-18"}
    body = {"filter": {"all": True}, "with_results": True, "dry_run": False}
    assert client.post("/v1/jobs/delete", json=body, headers=headers).status_code == 200
    datasets = {"ids": [dataset_id]}
    assert client.post("/v1/datasets/delete", json=datasets, headers=headers).status_code == 200
    with store.read() as tx:
        key = next(key for key in tx.api_keys.page(None, 10).items if key.name == "write")
    admin = bearer("admin")
    assert {item["deleted_by"] for item in client.get("/v1/trash", headers=admin).json()["items"]} == {key.id}
    entries = client.get("/v1/audit", headers=admin).json()["items"]
    recorded = {(each["method"], each["path"], each["key_id"], each["request_id"]) for each in entries}
    for path in (f"/v1/jobs/{model.job_id}", f"/v1/datasets/{dataset_id}"):
        assert ("DELETE", path, key.id, "r-18") in recorded
    assert ("POST", "/v1/jobs/delete", key.id, "r-18") in recorded


def test_reading_is_not_deleting(client: TestClient, bearer: Bearer, add_ended: AddModel) -> None:
    """A key with the scope read sees the trash and the storage, and deletes nothing."""
    model = add_ended()
    reader = bearer("read")
    assert client.get("/v1/trash", headers=reader).status_code == 200
    assert client.get("/v1/storage", headers=reader).status_code == 200
    assert client.delete(f"/v1/models/{model.id}", headers=reader).status_code == 403
    for path in ("jobs/delete", "trash/empty", "trash/restore"):
        assert client.post(f"/v1/{path}", json={}, headers=reader).status_code == 403


def test_storage_adds_up(client: TestClient, add_ended: AddModel, store: Store) -> None:
    """Bytes are listed by kind, apart from the trash; emptying the trash frees the listed bytes."""
    kept_model, deleted_model = add_ended(), add_ended()
    client.delete(f"/v1/models/{deleted_model.id}")
    storage = client.get("/v1/storage?refresh=true").json()
    kinds = {kind["kind"]: kind for kind in storage["kinds"]}
    models = kinds["models"]
    assert (models["objects"], models["size_bytes"]) == (1, kept_model.size_bytes)
    assert (models["trash_objects"], models["trash_bytes"]) == (1, deleted_model.size_bytes)
    stored = sum(size_bytes for _, size_bytes in store.artifacts.sizes())
    assert (
        storage["total_bytes"] == stored == sum(k["size_bytes"] + k["trash_bytes"] for k in storage["kinds"])
    )
    assert (kinds["jobs"]["objects"], storage["trash_days"]) == (2, 7)
    assert models["retention_days"] is None
    freed = client.post("/v1/trash/empty", json={"all": True}).json()["size_bytes"]
    assert freed == models["trash_bytes"]
    assert client.get("/v1/storage").json() == storage  # measured once a minute
    assert client.get("/v1/storage?refresh=true").json()["total_bytes"] == stored - freed


def test_an_experiment_is_deleted_once_it_has_ended(client: TestClient) -> None:
    """The experiment can be selected by a filter, deleted and restored; a refusal names a remedy."""
    body = {"paper": "lambda-ex-2023", "tables": ["table-5"], "data": "sparse"}
    experiment = client.post("/v1/experiments", json=body).json()
    path = f"/v1/experiments/{experiment['id']}"
    refused = client.delete(path)
    assert refused.status_code == 409
    assert "cancel the experiment" in refused.json()["detail"]
    client.post(f"{path}/cancel")
    assert bulk_delete(client, "experiments", filter={"status": "cancelled"})["deleted"] == {"experiments": 1}
    assert bulk_delete(client, "experiments", filter={"paper": "lambdarank-2006"})["deleted"] == {}
    assert client.delete(path).json()["deleted"] == {"experiments": 1}
    assert client.get(path).status_code == 404
    assert client.get("/v1/experiments").json()["items"] == []
    assert client.get("/v1/datasets").json()["items"] != []
    (item,) = client.get("/v1/trash?kind=experiment").json()["items"]
    assert (item["id"], item["name"]) == (experiment["id"], "lambda-ex-2023")
    back = client.post("/v1/trash/restore", json={"ids": [experiment["id"]]}).json()
    assert back["restored"] == {"experiments": 1}
    assert client.get(path).json()["status"] == "cancelled"


def test_a_refusal_has_its_remedy_once(client: TestClient, store: Store) -> None:
    """The reason of an active object is its status alone."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {"model_name": "web"})
    assert client.delete(f"/v1/jobs/{job.id}").json()["detail"] == (
        f"job {job.id} is still needed: job web is queued; first cancel the job or wait for its end"
    )
