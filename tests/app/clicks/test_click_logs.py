"""Click logs by the API: uploads, URLs, lists, labels and deletion."""

from collections.abc import Callable
from typing import Any

import pytest

from app import ApiSettings
from core.store import Store
from core.store.artifacts.keys import click_log_upload_key
from tests.app.conftest import Answer, TestClient

TABLE = b"query,document,rank,clicked\nshoes,a,1,0\nshoes,b,2,1\n"


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings that allow the URLs of a bucket."""
    return settings.model_copy(update={"sources": ["s3://clicks/2026"]})


def upload(client: TestClient, **fields: str) -> Answer:
    """Upload a log as a form."""
    return client.post("/v1/click-logs", files={"file": ("clicks.csv", TABLE)}, data=fields)


def test_an_upload_is_recorded_for_a_worker(client: TestClient, store: Store) -> None:
    """The bytes are stored, the options are checked, and one job is queued to read the log."""
    answer = upload(client, actions='{"click": 1, "purchase": 5}', rank_base="1", name="may")
    assert answer.status_code == 202, answer.text
    log = answer.json()
    assert answer.headers["location"] == f"/v1/click-logs/{log['id']}"
    assert (log["name"], log["status"], log["size_bytes"]) == ("may", "pending", len(TABLE))
    assert log["source"] == {
        "kind": "upload",
        "filename": "clicks.csv",
        "format": "auto",
        "options": {"actions": {"click": 1, "purchase": 5}, "rank_base": 1},
    }
    assert store.artifacts.read_bytes(click_log_upload_key(log["id"], "file")) == TABLE
    with store.read() as tx:
        job = tx.jobs.get(log["job_id"])
    assert (job.kind, job.spec["click_log_id"], job.title) == ("ingest-clicks", log["id"], "may")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"format": "letor"}, "/format"),
        ({"columns": "{"}, "/columns"),
        ({"columns": '{"label": "x"}'}, "/columns/label"),
        ({"actions": '{"click": -1}'}, "/actions/click"),
        ({"actions": "[]"}, "/actions"),
        ({"rank_base": "2"}, "/rank_base"),
        ({"project": "No"}, "/project"),
    ],
)
def test_a_wrong_option_is_refused_without_a_trace(
    client: TestClient, store: Store, fields: dict[str, str], pointer: str
) -> None:
    """422 points at the option; neither a row nor bytes remain."""
    answer = upload(client, **fields)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert client.get("/v1/click-logs").json()["items"] == []
    assert list(store.artifacts.files()) == []


def test_the_name_defaults_to_the_end_of_the_filename(client: TestClient) -> None:
    """A log whose file has a long name is accepted without a given name."""
    answer = client.post("/v1/click-logs", files={"file": ("x" * 230 + ".csv", TABLE)})
    assert (answer.status_code, answer.json()["name"]) == (202, "x" * 176 + ".csv")


def test_a_form_needs_a_file(client: TestClient) -> None:
    """The queries of UBI alone are not a log."""
    answer = client.post("/v1/click-logs", files={"queries": ("queries.ndjson", b"{}")})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/file"


def test_files_at_urls_become_one_log(client: TestClient, store: Store) -> None:
    """Every URL must be below an allowed prefix; the API opens none of them."""
    body: dict[str, Any] = {"source": "s3://clicks/2026", "files": "part-*.parquet", "rank_base": 0}
    answer = client.post("/v1/click-logs", json=body)
    assert answer.status_code == 202, answer.text
    assert answer.json()["source"] == {
        "kind": "address",
        "addresses": ["s3://clicks/2026"],
        "files": "part-*.parquet",
        "format": "auto",
        "options": {"rank_base": 0},
    }
    refused = client.post("/v1/click-logs", json={"source": ["s3://clicks/2026/a", "s3://other/b"]})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/source/1"


def test_a_resumable_upload_becomes_a_log_once(client: TestClient, store: Store) -> None:
    """A JSON body refers to the upload; a second log of the same upload is refused."""
    tus = {"Tus-Resumable": "1.0.0"}
    created = client.post(
        "/v1/uploads",
        headers={**tus, "Upload-Length": str(len(TABLE)), "Upload-Metadata": "filename Y2xpY2tzLmNzdg=="},
    )
    headers = {**tus, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    assert client.patch(created.headers["location"], content=TABLE, headers=headers).status_code == 204
    upload_id = created.headers["location"].rpartition("/")[2]
    log = client.post("/v1/click-logs", json={"source": f"upload:{upload_id}"}).json()
    assert log["source"]["filename"] == "clicks.csv"
    assert store.artifacts.read_bytes(click_log_upload_key(log["id"], "file")) == TABLE
    again = client.post("/v1/click-logs", json={"source": f"upload:{upload_id}"})
    assert again.status_code == 409


def test_logs_are_listed_labelled_and_deleted(client: TestClient, store: Store) -> None:
    """A log cannot be deleted while a job reads it, and a deleted log can be restored."""
    log = upload(client).json()
    changed = client.patch(f"/v1/click-logs/{log['id']}", json={"name": "June", "project": "web"})
    assert (changed.json()["name"], changed.json()["project"]) == ("June", "web")
    listed = client.get("/v1/click-logs", params={"prefix": "ju", "status": "pending"}).json()
    assert [item["id"] for item in listed["items"]] == [log["id"]]
    held = client.delete(f"/v1/click-logs/{log['id']}")
    assert held.status_code == 409
    assert held.json()["holders"][0]["id"] == log["job_id"]
    with store.begin() as tx:
        tx.jobs.request_cancel(log["job_id"])
    assert client.get(f"/v1/click-logs/{log['id']}").json()["status"] == "invalid"
    assert client.delete(f"/v1/click-logs/{log['id']}").status_code == 204
    assert client.get(f"/v1/click-logs/{log['id']}").status_code == 404
    assert client.post("/v1/trash/restore", json={"ids": [log["id"]]}).json()["restored"] == {"click-logs": 1}
    assert client.delete(f"/v1/click-logs/{log['id']}", params={"permanently": True}).status_code == 204
    assert list(store.artifacts.files()) == []


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("click-model", lambda log_id: {"click_log_id": log_id}),
        ("train", lambda log_id: {"clicks": {"log": log_id}}),
        ("promote", lambda log_id: {"rule": {"counterfactual": {"click_log_id": log_id}}}),
    ],
)
def test_a_log_is_kept_for_active_jobs(
    client: TestClient, store: Store, kind: str, spec: Callable[[str], dict[str, Any]]
) -> None:
    """A log cannot be deleted while a queued job estimates a click model, trains or promotes from it."""
    log = upload(client).json()
    with store.begin() as tx:
        tx.jobs.request_cancel(log["job_id"])
        job = tx.jobs.add(kind, spec(log["id"]))
    held = client.delete(f"/v1/click-logs/{log['id']}", params={"permanently": True})
    assert held.status_code == 409
    assert [holder["id"] for holder in held.json()["holders"]] == [job.id]
    listed = client.get(f"/v1/jobs?object={log['id']}&fields=id").json()["items"]
    assert [item["id"] for item in listed] == [job.id, log["job_id"]]
