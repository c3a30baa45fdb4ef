"""`rankery rank-worker`: a worker of a Dask cluster."""

import asyncio
import importlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.errors import ClusterUnavailable
from tests.integration.waiting import wait_for
from tests.servers.dask import Certificates, DaskCluster, has_joined, running_cluster, wait_until_gone
from tests.servers.process import ServerProcess, reserved_port, tied
from worker.dask.cluster import cluster_client, security_of
from worker.dask.rank_worker import RankWorkerOptions, joined
from worker.dask.settings import DaskSettings

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("ranks")]

WITHHELD = (
    *("RANKERY_DATABASE_URL", "RANKERY_BROKER_URL", "RANKERY_ENCRYPTION_KEYS", "PGPASSWORD"),
    "RANKERY_CREDENTIALS_WAREHOUSE",
)
COMMAND = [sys.executable, "-m", "rankery", "rank-worker"]


@contextmanager
def running_rank_worker(
    cluster: DaskCluster, log: Path, **environment: str
) -> Iterator[tuple[ServerProcess, list[str]]]:
    """Run a rank worker on a cluster; yield the process, and words of its command line."""
    named = {**cluster.certificates.environment, **environment}
    mark = ["rank-worker", "--memory", f"{10**9 + os.getpid()}"]  # no other process has this size
    command = [*COMMAND, "--scheduler", cluster.address, "--threads", "1", *mark[1:]]
    process = ServerProcess(tied(command), log, lambda: has_joined(log), environment=named)
    process.start()
    try:
        yield process, mark
    finally:
        process.kill()


def refusal(*arguments: str, **environment: str) -> str:
    """Run a rank worker that must end immediately with an error message, and return the message."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RANKERY_DASK")}
    ended = subprocess.run(
        [*COMMAND, *arguments], env={**inherited, **environment}, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    return ended.stderr.splitlines()[-1]


def process_state() -> dict[str, Any]:
    """Return the id, listening addresses and environment of this process; runs on a Dask worker."""
    psutil = importlib.import_module("psutil")  # psutil has no types
    listening = psutil.Process().net_connections()
    return {
        "pid": os.getpid(),
        "addresses": sorted({link.laddr.ip for link in listening if link.status == psutil.CONN_LISTEN}),
        "environment": Path("/proc/self/environ").read_bytes().decode(),
    }


def test_a_rank_worker_has_no_database_credentials(dask_cluster: DaskCluster) -> None:
    """The worker runs tasks, has no database credentials in its environment, and listens on loopback only."""
    process = dask_cluster.workers[0]  # the other worker runs Dask's own command
    with cluster_client(DaskSettings.model_validate(dask_cluster.settings)) as client:
        (worker,) = [each for each in client.run(process_state).values() if each["pid"] == process.pid]
    assert worker["addresses"] == ["127.0.0.1"]
    assert "RANKERY_DASK_TLS_KEY_FILE" in worker["environment"]
    assert not any(name in worker["environment"] for name in WITHHELD)
    log = dask_cluster.log_of("worker-0").read_text()
    assert f"{' and '.join(WITHHELD)} removed" in log
    assert "secret" not in log


@pytest.mark.slow
def test_a_stopped_rank_worker_leaves_no_process(dask_cluster: DaskCluster, tmp_path: Path) -> None:
    """SIGTERM ends the worker; the scheduler and the other workers continue."""
    with running_rank_worker(dask_cluster, tmp_path / "log") as (process, mark):
        process.stop()
        assert wait_until_gone(mark, 10.0) == []
    assert "rank_worker.stopped" in (tmp_path / "log").read_text()
    with cluster_client(DaskSettings.model_validate(dask_cluster.settings)) as client:
        assert len(client.nthreads()) == len(dask_cluster.workers)


@pytest.mark.slow
def test_a_rank_worker_connects_again_to_a_restarted_scheduler(tmp_path: Path) -> None:
    """The process of the worker stays the same, and runs tasks afterwards."""
    log = tmp_path / "log"
    with (
        running_cluster(tmp_path / "cluster", n_workers=0) as cluster,
        running_rank_worker(cluster, log) as (process, _),
    ):
        pid = process.pid
        cluster.scheduler.kill()
        wait_for(lambda: "rank_worker.scheduler_unreachable" in log.read_text())
        cluster.scheduler.start()
        wait_for(lambda: log.read_text().count("rank_worker.ready") == 2)
        assert process.pid == pid
        with cluster_client(DaskSettings.model_validate(cluster.settings)) as client:
            assert client.submit(os.getpid, pure=False).result(20) == pid


@pytest.mark.slow
def test_a_rank_worker_ends_on_a_signal_without_a_scheduler(tmp_path: Path) -> None:
    """SIGINT and SIGTERM end the worker while it waits for a scheduler."""
    certificates = Certificates.made(tmp_path / "certificates")
    log = tmp_path / "log"
    with reserved_port() as port:
        command = [*COMMAND, "--scheduler", f"tls://127.0.0.1:{port}"]
        for number in (signal.SIGINT, signal.SIGTERM):
            with log.open("w") as output:
                process = subprocess.Popen(
                    tied(command), env={**os.environ, **certificates.environment}, stderr=output
                )
            wait_for(lambda: "rank_worker.scheduler_unreachable" in log.read_text())
            process.send_signal(number)
            assert process.wait(10) == 0
    assert "Traceback" not in log.read_text()


@pytest.mark.slow
def test_plain_connections_beyond_this_machine_are_refused() -> None:
    """A worker runs code from its scheduler, so connections to other machines must use TLS."""
    sentence = "RANKERY_DASK_SCHEDULER: must be tls:// unless the scheduler is on this machine"
    assert sentence in refusal("--scheduler", "tcp://10.1.2.3:8786")


@pytest.mark.slow
def test_wrong_and_missing_settings_are_named(tmp_path: Path) -> None:
    """The message names the scheduler, a certificate, its file, or the memory."""
    assert "give the address of the Dask scheduler" in refusal()
    tls = ["--scheduler", "tls://127.0.0.1:8786"]
    assert "RANKERY_DASK_TLS_CA_FILE: must be set" in refusal(*tls)
    certificates = Certificates.made(tmp_path / "certificates")
    assert "--memory: must be a size" in refusal(*tls, "--memory", "much", **certificates.environment)
    (certificates.folder / "key.pem").unlink()
    assert "the certificates for the Dask cluster cannot be used" in refusal(*tls, **certificates.environment)


def test_an_address_in_use_is_named() -> None:
    """Without the option `--host`, the message has the address on the route to the scheduler."""
    scheduler = "tcp://127.0.0.1:1"
    security = security_of(DaskSettings(dask_scheduler=scheduler))

    async def join(port: int) -> None:
        async with joined(scheduler, security, RankWorkerOptions(threads=1, ports=[port])):
            pass

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ClusterUnavailable, match=r"cannot listen at 127\.0\.0\.1: "):
            asyncio.run(join(port))


@pytest.mark.slow
def test_loopback_connections_need_no_certificates(tmp_path: Path) -> None:
    """A scheduler on a loopback address and its worker can run without certificates."""
    log = tmp_path / "log"
    with reserved_port() as port:
        scheduler = [sys.executable, "-W", "ignore", "-m", "distributed.cli.dask_scheduler"]
        plain = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]

        def answers() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        server = ServerProcess(tied([*scheduler, *plain]), tmp_path / "scheduler", answers)
        address = f"tcp://localhost:{port}"
        worker = ServerProcess(tied([*COMMAND, "--scheduler", address]), log, lambda: has_joined(log))
        try:
            server.start()
            worker.start()
            with cluster_client(DaskSettings(dask_scheduler=address)) as client:
                (started,) = client.run(process_state).values()
            assert set(started["addresses"]) <= {"127.0.0.1", "::1"}
        finally:
            worker.kill()
            server.kill()
