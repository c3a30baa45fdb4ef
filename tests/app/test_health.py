"""Liveness and readiness."""

from app.routes.health import readiness
from tests.app.conftest import TestClient


def test_the_process_is_alive_whatever_else_is_down(client: TestClient) -> None:
    """Liveness asks nobody else."""
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_readiness_names_what_is_down(client: TestClient) -> None:
    """Without a broker the answer is a 503 that names it alone."""
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["detail"] == "not answering: broker"


def test_ready_when_all_parts_answer() -> None:
    """Each part is listed."""
    response = readiness({"database": True, "storage": True, "broker": True})
    assert response.status_code == 200
    assert response.body == b'{"status":"ready","checks":{"database":"ok","storage":"ok","broker":"ok"}}'


def test_jobs_are_accepted_without_a_broker(client: TestClient) -> None:
    """The database is the truth; a lost wake-up loses no job."""
    assert client.post("/v1/datasets/synthetic", json={"queries": 1}).status_code == 202
    assert client.get("/v1/jobs?status=queued").json()["items"] != []
