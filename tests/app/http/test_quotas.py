"""Quotas of API keys."""

from typing import Any

import pytest
from fastapi import FastAPI

from app import ApiSettings
from core.store import Store
from tests.app.conftest import TestClient

LETOR = b"1 qid:1 1:1\n0 qid:1 1:2\n"


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings that allow two active jobs and few stored bytes."""
    return settings.model_copy(update={"max_active_jobs": 2, "max_stored_bytes": 3 * len(LETOR)})


def _upload(client: TestClient, *parts: str, **headers: str) -> Any:
    files = {part: (part, LETOR) for part in parts}
    return client.post("/v1/datasets", files=files, headers=headers)


def _synthetic(client: TestClient, **headers: str) -> Any:
    return client.post("/v1/datasets/synthetic", json={"queries": 3}, headers=headers)


def _cancel(client: TestClient, created: Any) -> None:
    assert client.post(f"/v1/jobs/{created.json()['job_id']}/cancel").status_code == 202


def test_jobs_beyond_the_quota_are_refused(client: TestClient) -> None:
    """The answer is 429 with `Retry-After` until a job has ended."""
    first = _synthetic(client)
    assert [first.status_code, _upload(client, "file").status_code] == [202, 202]
    for refused in (_synthetic(client), _upload(client, "file")):
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "5"
        assert refused.json()["type"] == "/problems/too-many-jobs"
        assert refused.json()["detail"].startswith("at most 2 jobs may wait or run at a time")
    _cancel(client, first)
    assert _synthetic(client).status_code == 202


def test_training_jobs_count_towards_the_quota(client: TestClient, train_request: dict[str, Any]) -> None:
    """Jobs of `/v1/jobs` count like those of datasets."""
    assert [client.post("/v1/jobs", json=train_request).status_code for _ in range(3)] == [202, 202, 429]
    assert len(client.get("/v1/jobs").json()["items"]) == 2


def test_each_part_of_an_upload_counts_as_a_job(client: TestClient, settings: ApiSettings) -> None:
    """An upload whose jobs exceed the quota stores no part."""
    assert _upload(client, "train", "validation", "test").status_code == 409
    assert client.get("/v1/datasets").json()["items"] == []
    assert not [path for path in (settings.data_dir / "artifacts").rglob("*") if path.is_file()]
    assert _upload(client, "train", "test").status_code == 202


def test_a_repeated_request_is_not_subject_to_the_quota(client: TestClient) -> None:
    """A repeated idempotency key gets the first answer even if the quota is used up."""
    key = {"Idempotency-Key": "once"}
    created = _synthetic(client, **key)
    assert _synthetic(client).status_code == 202
    again = _synthetic(client, **key)
    assert (again.status_code, again.json()["id"]) == (202, created.json()["id"])


def test_bytes_beyond_the_quota_need_a_deletion(client: TestClient) -> None:
    """The answer is 409 until a dataset is deleted."""
    first = _upload(client, "file")
    _cancel(client, first)
    assert _upload(client, "train", "test").status_code == 202
    for dataset in client.get("/v1/datasets").json()["items"]:
        client.post(f"/v1/jobs/{dataset['job_id']}/cancel")
    refused = _upload(client, "file")
    assert refused.status_code == 409
    assert refused.json()["type"] == "/problems/quota-exceeded"
    assert (
        refused.json()["detail"]
        == f"at most {3 * len(LETOR)} bytes of datasets, click logs and open uploads may be stored;"
        " delete some of them first"
    )
    assert client.delete(f"/v1/datasets/{first.json()['id']}").status_code == 204
    assert _upload(client, "file").status_code == 202


def test_files_of_query_sizes_count_towards_the_quota(client: TestClient) -> None:
    """The file of query sizes is part of the size of its dataset."""
    sizes = {"file": ("1.txt", LETOR), "file_query": ("1.txt.query", b"1\n" * len(LETOR))}
    for size_bytes in (3 * len(LETOR), None):
        answer = client.post("/v1/datasets", files=sizes)
        assert (answer.status_code, answer.json().get("size_bytes")) == (
            202 if size_bytes else 409,
            size_bytes,
        )


def test_each_key_has_separate_quotas(client: TestClient, application: FastAPI, store: Store) -> None:
    """Jobs and bytes are counted per key; the limits of a key replace those of the settings."""
    with store.begin() as tx:
        small, small_secret = tx.api_keys.create("small", ["write"], max_active_jobs=1)
        large, large_secret = tx.api_keys.create(
            "large", ["write"], max_active_jobs=4, max_stored_bytes=10**6
        )
    as_small = {"Authorization": f"Bearer {small_secret}"}
    as_large = {"Authorization": f"Bearer {large_secret}"}
    assert [_synthetic(client, **as_small).status_code for _ in range(2)] == [202, 429]
    assert [_upload(client, "file", **as_large).status_code for _ in range(5)] == [202] * 4 + [429]
    with store.read() as tx:
        jobs = tx.jobs.page(None, 10).items
        datasets = tx.datasets.page(None, 10).items
    assert sorted(str(job.key_id) for job in jobs) == sorted([small.id] + [large.id] * 4)
    assert sorted(str(row.key_id) for row in datasets) == sorted([small.id] + [large.id] * 4)
