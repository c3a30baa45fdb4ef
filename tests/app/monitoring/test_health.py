"""Liveness and readiness."""

import asyncio
import contextlib
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from fastapi import FastAPI

from app import ApiSettings, create_app
from app.auth import key_cache as key_cache
from app.auth.authenticator import Authenticator
from app.http.admission.limits import WRITE_LOCK_SECONDS
from app.http.services import Services, registered
from app.monitoring import metrics
from app.monitoring.routes import readiness_response
from app.scoring.readiness import Purpose, Readiness, ReadinessResult
from core.store import Model, Store
from core.store.artifacts.artifacts import Artifacts
from tests.app.conftest import NO_BROKER, TestClient, wait_for_probes
from tests.servers import PostgresServer, S3Server, TcpProxy
from tests.servers.fixtures import StoreArguments

NO_WORKERS = "the workers are missing for the lanes training and quick"


@pytest.fixture
def database_proxy(postgres: PostgresServer) -> Iterator[TcpProxy]:
    """Proxy between the application and PostgreSQL."""
    with TcpProxy(postgres.port) as proxy:
        yield proxy


@pytest.fixture
def storage_proxy(s3: S3Server) -> Iterator[TcpProxy]:
    """Proxy between the application and S3."""
    with TcpProxy(s3.port) as proxy:
        yield proxy


@pytest.fixture
def remote(
    store_arguments: StoreArguments,
    postgres: PostgresServer,
    database_proxy: TcpProxy,
    storage_proxy: TcpProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[TestClient]:
    """A client of an application whose database and storage can be made unreachable."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{storage_proxy.port}")
    database_url = store_arguments["database_url"].replace(f":{postgres.port}/", f":{database_proxy.port}/")
    settings = ApiSettings(**store_arguments | {"database_url": database_url, "broker_url": NO_BROKER})
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        yield client
        for proxy in (database_proxy, storage_proxy):
            proxy.unblock()
            proxy.open()
        wait_for_probes()


def test_the_process_is_alive_without_a_broker(client: TestClient) -> None:
    """Liveness does not depend on the broker."""
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_readiness_names_the_unreachable_server(client: TestClient) -> None:
    """Without a broker, 503 names only the broker, with the reason."""
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["detail"] == "the broker refuses connections"


def test_scoring_needs_no_broker_and_no_worker(client: TestClient) -> None:
    """The check for a router of scoring requests covers only parts that scoring needs, as in KServe."""
    response = client.get("/readyz?for=scoring")
    assert response.status_code == 200
    assert response.json()["checks"] == {"database": "ok", "storage": "ok", "kernels": "ok"}
    assert client.get("/v2/health/ready").status_code == 200
    assert client.get("/readyz?for=jobs").json()["detail"] == f"the broker refuses connections; {NO_WORKERS}"
    assert client.get("/readyz?for=training").status_code == 422


def test_a_full_disk_refuses_jobs_but_scores(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes get 507 on a full disk, which probes report; scoring only reads."""
    monkeypatch.setattr(Artifacts, "free_bytes", lambda _: 0)
    assert "the storage has no space left" in client.get("/readyz?for=jobs").json()["detail"]
    assert "the storage has no space left" in client.get("/readyz").json()["detail"]
    assert client.get("/readyz?for=scoring").status_code == 200


def test_jobs_need_a_worker_of_every_lane(client: TestClient, store: Store) -> None:
    """A worker that still compiles its kernels is not ready, and the answer has its progress."""

    def detail(lane: str, compiling: str | None) -> str:
        with store.begin() as tx:
            tx.workers.report(f"host:{lane}", lane, 1, 60.0, compiling)
        reason: str = client.get("/readyz?for=jobs").json()["detail"]
        return reason.removeprefix("the broker refuses connections").removeprefix("; ")

    assert detail("training", "12 of 20 parts") == "the workers are compiling kernels: 12 of 20 parts"
    assert client.get("/v1/workers").json()["items"][0]["compiling"] == "12 of 20 parts"
    assert (
        client.get("/readyz").json()["detail"].endswith("; the workers are compiling kernels: 12 of 20 parts")
    )
    assert detail("training", None) == "the workers are missing for the lane quick"
    assert detail("quick", None) == ""


def test_absent_workers_are_reported_but_tolerated(client: TestClient, store: Store) -> None:
    """Without a purpose, the workers' check names the lanes without workers, and the service is ready."""
    checks = registered(client.app, Readiness)  # type: ignore[arg-type]
    readiness = asyncio.run(checks.check())
    assert readiness.faults["workers"] == "are missing for the lanes training and quick"
    assert readiness.down == ["the broker refuses connections"]
    with store.begin() as tx:
        tx.workers.report("host:training", "training", 1, 60.0, "12 of 20 parts")
    assert "the workers are compiling kernels: 12 of 20 parts" in asyncio.run(checks.check()).down


def test_models_in_memory_keep_a_replica_ready_without_a_database(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """A faulty database makes a replica unready to score only if it has no model in memory."""
    checks = registered(client.app, Readiness)  # type: ignore[arg-type]
    readiness = ReadinessResult({"database": "refuses connections", "kernels": None})
    assert readiness_response(readiness).status_code == 503
    add_model("web")
    request = {"queries": [{"id": "q", "documents": [{"id": "d", "features": [1, 2, 3]}]}]}
    assert client.post("/v1/models/web/rank", json=request).status_code == 200
    checked = asyncio.run(checks.check(Purpose.SCORING))
    response = readiness_response(replace(readiness, tolerated=checked.tolerated))
    assert response.status_code == 200
    assert json.loads(bytes(response.body))["checks"]["database"] == "refuses connections"
    broken = replace(readiness, faults={"kernels": "are being compiled"}, tolerated=checked.tolerated)
    assert readiness_response(broken).status_code == 503


def test_ready_when_all_parts_answer() -> None:
    """Each part is listed."""
    response = readiness_response(ReadinessResult({"database": None, "storage": None, "broker": None}))
    assert response.status_code == 200
    assert json.loads(bytes(response.body)) == {
        "status": "ready",
        "checks": {"database": "ok", "storage": "ok", "broker": "ok"},
        "damaged_artifacts": [],
    }


def test_all_that_is_down_is_named() -> None:
    """Parts that answer are not mentioned."""
    faults = {"database": "is busy", "storage": None, "broker": "refuses connections"}
    response = readiness_response(ReadinessResult(faults))
    assert (
        json.loads(bytes(response.body))["detail"] == "the database is busy; the broker refuses connections"
    )


@pytest.mark.servers
def test_unreachable_servers_are_named(
    remote: TestClient, database_proxy: TcpProxy, storage_proxy: TcpProxy
) -> None:
    """Unreachable servers are named without addresses; they are ready again after they return."""
    assert remote.get("/readyz?for=scoring").status_code == 200
    database_proxy.shut()
    storage_proxy.shut()
    answer = remote.get("/readyz").json()["detail"]
    # A refusal is reported within 2 s, unless this machine is busy.
    assert re.match("the database (refuses connections|does not answer within 2 s); the storage ", answer)
    assert "127.0.0.1" not in answer
    assert str(database_proxy.port) not in answer
    database_proxy.open()
    storage_proxy.open()
    assert remote.get("/readyz?for=scoring").status_code == 200


@pytest.mark.long
@pytest.mark.servers
def test_a_server_that_hangs_is_reported_after_two_seconds(
    remote: TestClient, database_proxy: TcpProxy, storage_proxy: TcpProxy
) -> None:
    """A database and a storage that do not respond are each reported after 2 s."""
    database_proxy.block()
    storage_proxy.block()
    for _ in range(2):
        answer = remote.get("/readyz").json()["detail"]
        assert answer.startswith("the database does not answer within 2 s; the storage does not answer ")
        assert remote.get("/healthz").status_code == 200


@pytest.mark.servers
def test_metrics_report_an_unreachable_database(remote: TestClient, database_proxy: TcpProxy) -> None:
    """A key accepted before can still read the metrics; other keys and other paths are refused."""
    application: FastAPI = remote.app  # type: ignore[assignment]
    with registered(application, Services).store.begin() as tx:
        _, secret = tx.api_keys.create("prometheus", ["read"])
    registered(application, Authenticator).key_cache.invalidate_keys_exist()
    known, unknown = ({"authorization": f"Bearer {key}"} for key in (secret, "rk_unknown"))
    assert "rankery_database_up 1.0" in remote.get("/metrics", headers=known).text
    database_proxy.shut()
    time.sleep(max(key_cache.FRESH_SECONDS, metrics.FRESH_SECONDS) + 0.1)
    assert "rankery_database_up 0.0" in remote.get("/metrics", headers=known).text
    assert remote.get("/metrics", headers=unknown).status_code == 503
    assert remote.get("/metrics").status_code == 401
    assert remote.get("/v1/jobs", headers=known).status_code == 503


@pytest.mark.long
@pytest.mark.embedded
def test_writes_are_refused_while_the_database_is_locked(client: TestClient, settings: ApiSettings) -> None:
    """A write is 503 after five seconds; reads continue, and `/readyz` names the lock."""
    with contextlib.closing(
        sqlite3.connect(settings.data_dir / "rankery.db", isolation_level=None)
    ) as holder:
        holder.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        refused = client.post("/v1/datasets/synthetic", json={"queries": 1})
        assert time.monotonic() - began >= WRITE_LOCK_SECONDS
        assert refused.status_code == 503
        assert "is locked" in refused.json()["detail"]
        assert client.get("/v1/jobs").status_code == 200
        assert (
            "the database accepts no writes: another transaction has held its lock"
            in client.get("/readyz").json()["detail"]
        )
        holder.execute("ROLLBACK")
    assert "the database" not in client.get("/readyz").json()["detail"]
    assert client.post("/v1/datasets/synthetic", json={"queries": 1}).status_code == 202


def test_jobs_are_accepted_without_a_broker(client: TestClient) -> None:
    """Jobs are stored in the database, so that a lost wake-up message loses no job."""
    assert client.post("/v1/datasets/synthetic", json={"queries": 1}).status_code == 202
    assert client.get("/v1/jobs?status=queued").json()["items"] != []
