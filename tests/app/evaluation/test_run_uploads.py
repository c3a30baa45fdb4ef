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
    """The job has the dataset, the name and the id of the upload; cancelling it deletes the bytes."""
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


def test_the_name_of_the_system_defaults_to_the_filename(
    client: TestClient, ready_dataset: Callable[[], str]
) -> None:
    """A run without a given name has the name of its file, of a long one the end, like a dataset."""
    data = {"dataset_id": ready_dataset()}
    response = client.post("/v1/rankings", files={"file": ("bm25.run", RUN)}, data=data)
    assert response.json()["spec"]["name"] == "bm25.run"
    long = client.post("/v1/rankings", files={"file": ("x" * 230 + ".run", RUN)}, data=data)
    assert (long.status_code, long.json()["spec"]["name"]) == (202, "x" * 196 + ".run")


def test_a_bad_upload_is_refused_and_leaves_nothing(
    client: TestClient, settings: ApiSettings, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """The answer points at each mistake, and no bytes are stored."""
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
