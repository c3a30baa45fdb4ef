"""Imports of datasets from URLs."""

from typing import Any

import pytest

from app import ApiSettings
from core.store import Store
from tests.app.conftest import TestClient
from tests.invalid_datasets import mark_invalid

PREFIXES = ["s3://clicks/2026", "https://data.example.org/", "hf://datasets/org", "ir_datasets:vaswani"]


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings that allow some URLs."""
    return settings.model_copy(update={"sources": PREFIXES})


def test_a_url_becomes_a_dataset(client: TestClient, store: Store) -> None:
    """A worker runs the one job of the import; the API does not open the URL."""
    response = client.post("/v1/datasets", json={"source": "s3://clicks/2026/may.parquet"})
    assert response.status_code == 202
    dataset = response.json()
    assert response.headers["location"] == f"/v1/datasets/{dataset['id']}"
    assert (dataset["name"], dataset["status"]) == ("s3://clicks/2026/may.parquet", "pending")
    assert dataset["source"] == {
        "kind": "address",
        "addresses": ["s3://clicks/2026/may.parquet"],
        "format": "auto",
        "options": {},
    }
    with store.read() as tx:
        job = tx.jobs.get(dataset["job_id"])
    assert (job.kind, job.spec["dataset_id"]) == ("ingest", dataset["id"])
    assert "max_bytes" not in job.spec


def test_all_options_are_recorded(client: TestClient) -> None:
    """The source has all options of the request, with normalized URLs."""
    body = {
        "source": ["s3://clicks/2026/05/", "s3://clicks/2026/06"],
        "files": "part-*.parquet",
        "name": "early summer",
        "format": "parquet",
        "columns": {"label": "clicked", "ignore": ["age"]},
        "non_contiguous_queries": "error",
        "feature_names": {"x": "bm25"},
        "credentials": "warehouse",
        "project": "web",
    }
    dataset = client.post("/v1/datasets", json=body).json()
    assert (dataset["name"], dataset["project"]) == ("early summer", "web")
    assert dataset["source"] == {
        "kind": "address",
        "addresses": ["s3://clicks/2026/05", "s3://clicks/2026/06"],
        "files": "part-*.parquet",
        "credentials": "warehouse",
        "format": "parquet",
        "options": {name: body[name] for name in ("columns", "non_contiguous_queries", "feature_names")},
    }


def test_parts_become_datasets(client: TestClient) -> None:
    """Each part becomes a dataset whose name ends with the part, as in an upload."""
    body = {"name": "toy", "parts": {"test": "hf:org/toy/test.csv", "train": "hf:org/toy/train.csv"}}
    first = client.post("/v1/datasets", json=body).json()
    assert first["name"] == "toy train"
    assert first["parts"]["train"] == first["id"]
    test = client.get(f"/v1/datasets/{first['parts']['test']}").json()
    assert (test["name"], test["parts"]) == ("toy test", first["parts"])
    assert test["source"]["addresses"] == ["hf://datasets/org/toy/test.csv"]
    assert len(client.get("/v1/jobs").json()["items"]) == 2


def test_a_given_name_is_not_truncated(client: TestClient) -> None:
    """Only a default name, which is a URL, is shortened."""
    name = "n" * 200
    dataset = client.post("/v1/datasets", json={"source": "s3://clicks/2026/x", "name": name}).json()
    assert dataset["name"] == name
    parts = {"test": "s3://clicks/2026/x", "train": "s3://clicks/2026/y"}
    whole = client.post("/v1/datasets", json={"parts": parts, "name": name[:194]}).json()
    assert whole["name"] == f"{name[:194]} train"
    refused = client.post("/v1/datasets", json={"parts": parts, "name": name})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/name")


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ({}, "/source", "give either source or parts"),
        ({"source": "s3://clicks/2026/x", "parts": {"test": "s3://clicks/2026/x"}}, "/source", "either"),
        ({"source": "s3://clicks/2026/x", "parts": {"test": f"upload:upl_{20 * '0'}"}}, "/source", "either"),
        ({"source": "s3://clicks/2025/x"}, "/source", "below one of the prefixes of RANKERY_SOURCES"),
        ({"source": "https://data.example.org.evil.org/x"}, "/source", "RANKERY_SOURCES"),
        ({"source": "https://user:5ecret@data.example.org/x"}, "/source", "user name or password"),
        ({"source": "https://data.example.org/x?X-Amz-Signature=5ecret"}, "/source", "credentials"),
        ({"source": "file:///etc/passwd"}, "/source", "must be a URL such as"),
        ({"source": ["s3://clicks/2026/x", "gs://clicks/2026/x"]}, "/source/1", "RANKERY_SOURCES"),
        ({"parts": {"test": "s3://clicks/2025/x"}}, "/parts/test", "RANKERY_SOURCES"),
        ({"parts": {"tests": "s3://clicks/2026/x"}}, "/parts/tests", ""),
        ({"source": "https://data.example.org/x", "files": "*"}, "/files", "folders of buckets"),
        ({"source": "ir_datasets:vaswani", "files": "*"}, "/files", "folders of buckets"),
        ({"source": "s3://clicks/2026/x", "columns": {"labels": "y"}}, "/columns/labels", "unknown"),
        ({"source": "s3://clicks/2026/x", "credentials": {"key": "5ecret"}}, "/credentials", ""),
        ({"source": "s3://clicks/2026/x", "credentials": "../x"}, "/credentials", ""),
        ({"source": "s3://clicks/2026/x", "token": "5ecret"}, "/token", ""),
        ({"source": []}, "/source", ""),
    ],
)
def test_an_invalid_or_forbidden_source_is_refused(
    client: TestClient, body: dict[str, Any], pointer: str, detail: str
) -> None:
    """422 has the field and the reason; no dataset is created, and no secret is repeated."""
    response = client.post("/v1/datasets", json=body)
    assert response.status_code == 422
    errors = response.json()["errors"]
    assert any(error["pointer"].startswith(pointer) and detail in error["detail"] for error in errors)
    assert "5ecret" not in response.text
    assert client.get("/v1/datasets").json()["items"] == []


class TestByDefault:
    """A service without the setting."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Settings that allow no URLs."""
        return settings.model_copy(update={"sources": []})

    def test_no_url_is_read(self, client: TestClient) -> None:
        """The error names the setting."""
        for source in (
            "s3://clicks/2026/x",
            "https://data.example.org/x",
            "hf:org/x/y",
            "ir_datasets:vaswani",
        ):
            (error,) = client.post("/v1/datasets", json={"source": source}).json()["errors"]
            assert error["detail"] == "the service does not import from URLs: RANKERY_SOURCES is not set"


def test_a_repeated_request_creates_nothing(client: TestClient) -> None:
    """A repeated idempotency key returns the first answer; an upload with this key is refused."""
    headers, body = {"Idempotency-Key": "once"}, {"source": "s3://clicks/2026/x"}
    first = client.post("/v1/datasets", json=body, headers=headers).json()
    assert client.post("/v1/datasets", json=body, headers=headers).json() == first
    other = client.post("/v1/datasets", files={"file": ("a", b"1 qid:1 1:1\n")}, headers=headers)
    assert other.status_code == 422
    assert len(client.get("/v1/datasets").json()["items"]) == 1


def test_uploads_have_the_same_path(client: TestClient) -> None:
    """The media type selects an upload or an import; any other media type is refused."""
    assert client.post("/v1/datasets", files={"file": ("a", b"1 qid:1 1:1\n")}).status_code == 202
    assert client.post("/v1/datasets", content=b"x", headers={"Content-Type": "text/csv"}).status_code == 422


class TestQuotas:
    """A service that limits the stored bytes of a key."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Settings with a small quota."""
        return settings.model_copy(update={"max_stored_bytes": 1_000})

    def test_the_job_has_the_quota(self, client: TestClient, store: Store) -> None:
        """Without stored bytes, the job has the whole quota; a key without any quota left is refused."""
        first = client.post("/v1/datasets", json={"source": "s3://clicks/2026/x"}).json()
        with store.begin() as tx:
            assert tx.jobs.get(first["job_id"]).spec["max_bytes"] == 1_000
            tx.datasets.record_download(first["id"], [{"address": "…", "size_bytes": 1_000, "sha256": "0"}])
        response = client.post("/v1/datasets", json={"source": "s3://clicks/2026/x"})
        assert (response.status_code, response.json()["type"]) == (409, "/problems/quota-exceeded")


def test_an_invalid_dataset_can_be_read_again(client: TestClient, store: Store) -> None:
    """The request is accepted, and the source has the columns to ignore."""
    dataset = client.post("/v1/datasets", json={"source": "s3://clicks/2026/x.csv"}).json()
    with store.begin() as tx:
        mark_invalid(tx, dataset["id"], {"title": "no", "detail": "no"})
    again = client.post(f"/v1/datasets/{dataset['id']}/read-again", json={"ignore": ["price"]})
    assert again.status_code == 202
    assert again.json()["source"]["options"]["columns"]["ignore"] == ["price"]
