"""Uploading the runs of other systems."""

from collections.abc import Callable

from app import ApiSettings
from core.store import Store
from core.store.artifacts.keys import run_key
from tests.app.conftest import MAX_UPLOAD_BYTES, TestClient
from tests.servers.fixtures import artifact_keys

RUN = b"q1 Q0 a 1 2.5 bm25\nq1 Q0 b 2 1.5 bm25\n"


def test_a_run_is_kept_until_a_job_has_read_it(
    client: TestClient, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """The job knows the dataset, the name and where the bytes are; cancelling removes them."""
    dataset_id = ready_dataset()
    response = client.post(
        "/v1/rankings", files={"file": ("bm25.run", RUN)}, data={"dataset_id": dataset_id, "name": "BM25"}
    )
    assert response.status_code == 202, response.text
    job = response.json()
    assert response.headers["location"] == f"/v1/jobs/{job['id']}"
    spec = job["spec"]
    assert (job["kind"], spec["dataset_id"], spec["name"], spec["filename"]) == (
        "import",
        dataset_id,
        "BM25",
        "bm25.run",
    )
    key = run_key(spec["upload_id"])
    assert store.artifacts.read_bytes(key) == RUN
    assert client.delete(f"/v1/datasets/{dataset_id}").status_code == 409
    client.post(f"/v1/jobs/{job['id']}/cancel")
    assert not store.artifacts.exists(key)


def test_the_files_name_is_the_systems_when_none_is_given(
    client: TestClient, ready_dataset: Callable[[], str]
) -> None:
    """As with datasets."""
    response = client.post(
        "/v1/rankings", files={"file": ("bm25.run", RUN)}, data={"dataset_id": ready_dataset()}
    )
    assert response.json()["spec"]["name"] == "bm25.run"


def test_what_is_missing_or_unfit_is_named_and_nothing_is_kept(
    client: TestClient, settings: ApiSettings, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """A pointer for each fault; the folder of uploads stays as it was."""
    dataset_id = ready_dataset()
    file = {"file": ("bm25.run", RUN)}
    missing = client.post("/v1/rankings", files={"file": ("", b"")}, data={"name": "x"})
    assert missing.status_code == 422
    answers = [
        client.post("/v1/rankings", files=file, data={"name": "x"}),
        client.post("/v1/rankings", files=file, data={"dataset_id": dataset_id, "name": "a\nb"}),
        client.post("/v1/rankings", files=file, data={"dataset_id": dataset_id, "name": " "}),
    ]
    assert [answer.json()["errors"][0]["pointer"] for answer in answers] == ["/dataset_id", "/name", "/name"]
    assert client.post("/v1/rankings", files=file, data={"dataset_id": "ds_none"}).status_code == 404
    large = {"file": ("bm25.run", b"x" * (MAX_UPLOAD_BYTES + 1))}
    assert client.post("/v1/rankings", files=large, data={"dataset_id": dataset_id}).status_code == 413
    assert [key for key in artifact_keys(settings.storage_url) if key.startswith("runs/")] == []
