"""Jobs of models: imports and reproductions."""

from collections.abc import Callable
from typing import Any

import pytest

from app import ApiSettings
from core.scorers import Mlp, scorer_values
from core.store import Model, Store
from core.store.artifacts.keys import model_upload_key
from tests.app.conftest import MAX_UPLOAD_BYTES, TestClient
from tests.core.jobs.specifications import CURRENT
from tests.servers.fixtures import artifact_keys

AddModel = Callable[[str], Model]
FILE = {"file": ("model.txt", b"tree\nversion=v4\n")}
KEY = {"Idempotency-Key": "nightly-7"}


def send(client: TestClient, **fields: str) -> Any:
    """Upload a model."""
    return client.post("/v1/models", files=FILE, data=fields)


def test_an_uploaded_model_is_kept_for_the_import_job(client: TestClient, store: Store) -> None:
    """The job names the uploaded artifact; cancelling the job removes the artifact."""
    response = send(client, name="web", description="nightly\nnotebook", tags='{"team": "search"}')
    assert response.status_code == 202, response.text
    job = response.json()
    assert response.headers["location"] == f"/v1/jobs/{job['id']}"
    spec = job["spec"]
    assert (job["kind"], spec["model_name"], spec["filename"]) == ("import-model", "web", "model.txt")
    assert (spec["description"], spec["tags"]) == ("nightly\nnotebook", {"team": "search"})
    key = model_upload_key(spec["upload_id"])
    assert store.artifacts.read_bytes(key) == FILE["file"][1]
    client.post(f"/v1/jobs/{job['id']}/cancel")
    assert not store.artifacts.exists(key)


def test_a_repeated_upload_is_queued_once(client: TestClient, settings: ApiSettings) -> None:
    """The bytes are stored once; the same idempotency key with other fields is refused."""
    first, second = (
        client.post("/v1/models", files=FILE, data={"name": "web"}, headers=KEY) for _ in range(2)
    )
    assert first.json() == second.json()
    other = client.post("/v1/models", files=FILE, data={"name": "shop"}, headers=KEY)
    assert other.json()["errors"][0]["pointer"] == "/Idempotency-Key"
    keys = [key for key in artifact_keys(settings.storage_url) if key.startswith("model-uploads/")]
    assert len(keys) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({}, "/name"),
        ({"name": "Web!"}, "/name"),
        ({"name": "mdl_1"}, "/name"),
        ({"name": "web", "tags": "{"}, "/tags"),
        ({"name": "web", "tags": "[]"}, "/tags"),
        ({"name": "web", "tags": '{"Team": "x"}'}, "/tags/Team"),
        ({"name": "web", "tags": '{"team": 3}'}, "/tags/team"),
        ({"name": "web", "tags": '{"team": "a\\nb"}'}, "/tags/team"),
        ({"name": "web", "tags": str({f"t{i}": "" for i in range(65)}).replace("'", '"')}, "/tags"),
        ({"name": "web", "description": "x" * 4001}, "/description"),
        ({"name": "web", "loss": "x"}, "/loss"),
    ],
)
def test_an_invalid_form_field_is_named_and_no_file_is_kept(
    client: TestClient, settings: ApiSettings, fields: dict[str, str], pointer: str
) -> None:
    """The error's pointer names the form field, or a tag within it."""
    response = send(client, **fields)
    assert response.status_code == 422, response.text
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert not any(key.startswith("model-uploads/") for key in artifact_keys(settings.storage_url))


def test_a_missing_empty_or_large_file_is_refused(client: TestClient, settings: ApiSettings) -> None:
    """The answer is 422 with the pointer of the file, or 413 for a file above the limit; nothing is kept."""
    missing = client.post("/v1/models", files={"name": (None, b"web")})
    assert missing.json()["errors"][0]["pointer"] == "/file"
    empty = client.post("/v1/models", files={"file": ("m", b"")}, data={"name": "web"})
    assert empty.json()["errors"] == [{"pointer": "/file", "detail": "m is empty"}]
    large = {"file": ("m", b"x" * (MAX_UPLOAD_BYTES + 1))}
    assert client.post("/v1/models", files=large, data={"name": "web"}).status_code == 413
    assert not any(key.startswith("model-uploads/") for key in artifact_keys(settings.storage_url))


_DISTRIBUTION = {"ranks": {"at_least": 2, "at_most": 3}, "threads_per_rank": 2}
_SCORERS: Any = {
    "trees": {},
    "ranks": {"distribution": _DISTRIBUTION, "diagnostics": None},
    "mlp": {"scorer": scorer_values(Mlp(hidden=(7, 3))), "hyperparameters": {}, "categorical_feature": []},
}


@pytest.mark.parametrize("scorer", _SCORERS.values(), ids=_SCORERS)
def test_a_reproduction_is_queued(
    client: TestClient, store: Store, add_model: AddModel, scorer: dict[str, Any]
) -> None:
    """Its specification has the fields that determine the model; a repeated request is queued once."""
    model = add_model("web")
    changed = {"dataset_id": model.dataset_id, "validation": None, "test_dataset_id": "ds_gone"}
    spec = {**CURRENT["train"], **changed, **scorer}
    with store.begin() as tx:
        tx.models.get(model.id).lineage = {
            "job_id": model.job_id,
            "datasets": {},
            "spec": spec,
            "seed": 7,
            "rankery": "0.1.0",
            "libraries": {},
            "machine": "x86_64",
        }
    first, second = (client.post("/v1/models/web:1/reproduce", headers=KEY) for _ in range(2))
    assert first.status_code == 202, first.text
    assert first.json() == second.json()
    job = first.json()
    assert first.headers["location"] == f"/v1/jobs/{job['id']}"
    without_effect = {"model_name", "test_dataset_id", "diagnostics", "limits", "priority", "tags"}
    determining = {name: value for name, value in spec.items() if name not in without_effect}
    assert job["spec"] == {**determining, "kind": "reproduce", "model_id": model.id, "system": "web:1"}
    assert client.delete(f"/v1/datasets/{model.dataset_id}").status_code == 409
    assert client.get("/v1/models/web").json()["lineage"]["spec"] == spec


def test_models_that_cannot_be_reproduced_are_refused(
    client: TestClient, store: Store, add_model: AddModel
) -> None:
    """An imported model, a model whose dataset was deleted, and an automatic training are refused."""
    assert client.post("/v1/models/web/reproduce").status_code == 404
    imported, orphan, automatic = add_model("web"), add_model("shop"), add_model("best")
    with store.begin() as tx:
        row = tx.models.get(imported.id)
        row.dataset_id = row.loss = row.hyperparameters = None
        row.lineage = {
            "spec": {**CURRENT["train"], "dataset_id": "ds_gone"},
            "job_id": row.job_id,
            "datasets": {},
            "seed": None,
            "rankery": None,
            "libraries": {},
            "machine": "x86_64",
        }
        other = tx.models.get(orphan.id)
        other.lineage = row.lineage
        best = tx.models.get(automatic.id)
        best.lineage = row.lineage | {"spec": {"kind": "auto-train", "metric": "map", "model_name": "best"}}
    answers = [client.post(f"/v1/models/{name}/reproduce") for name in ("web", "shop", "best")]
    assert [answer.status_code for answer in answers] == [409, 409, 409]
    assert "only a model that was trained here" in answers[0].json()["detail"]
    assert "its dataset ds_gone was deleted" in answers[1].json()["detail"]
    assert "submit an automatic training instead" in answers[2].json()["detail"]
    shown = client.get("/v1/models/web").json()
    assert (shown["source"], shown["dataset_id"], shown["loss"]) == ("imported", None, None)
