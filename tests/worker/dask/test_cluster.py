"""Connections to a Dask cluster over TLS."""

import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.data import synthetic_dataset
from core.errors import ClusterUnavailable, ExtraMissing, StoreUnavailable
from tests.servers.dask import Certificates, DaskCluster, running_cluster
from tests.servers.process import reserved_port
from tests.worker.inline_worker import InlineWorker
from worker import WorkerSettings
from worker.dask.cluster import cluster_client, security_of
from worker.dask.settings import DaskSettings

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("ranks")]


@pytest.fixture
def cluster_settings(dask_cluster: DaskCluster) -> WorkerSettings:
    """The settings of a worker that uses the cluster."""
    return WorkerSettings.model_validate(dask_cluster.settings)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port at which no server listens."""
    with reserved_port() as port:
        yield port


def sockets() -> set[str]:
    """Return the open sockets of this process."""
    links = (entry.readlink().name for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink())
    return {target for target in links if target.startswith("socket:")}


def started_since(threads: set[threading.Thread]) -> set[threading.Thread]:
    """Return the threads that were started later; idle ones of other tests may have ended meanwhile."""
    return set(threading.enumerate()) - threads


def test_tasks_run_on_the_workers_and_nothing_is_left(cluster_settings: WorkerSettings) -> None:
    """A client uses both workers; after the block, its threads and sockets are gone."""
    threads, before = set(threading.enumerate()), sockets()
    with cluster_client(cluster_settings) as client:
        client.wait_for_workers(2, timeout=20)
        pids = set(client.run(os.getpid).values())
        assert client.submit(os.getpid, pure=False).result(20) in pids
    assert len(pids) == 2
    assert os.getpid() not in pids
    assert not started_since(threads)
    assert sockets() == before


def test_a_client_without_a_certificate_is_refused(dask_cluster: DaskCluster) -> None:
    """The scheduler refuses TLS connections without a certificate, and plain connections."""
    encryption = ssl.create_default_context(cafile=dask_cluster.certificates.folder / "ca.pem")
    encryption.check_hostname = False
    with (
        socket.create_connection(("127.0.0.1", dask_cluster.port), 20) as connection,
        encryption.wrap_socket(connection) as encrypted,
        pytest.raises(ssl.SSLError, match="certificate"),
    ):
        encrypted.recv(1)  # the scheduler sends its alert after its part of the handshake
    plain = f"tcp://127.0.0.1:{dask_cluster.port}"
    with pytest.raises(ClusterUnavailable), cluster_client(DaskSettings(dask_scheduler=plain)):
        pass


def test_a_certificate_of_another_authority_is_refused(dask_cluster: DaskCluster, tmp_path: Path) -> None:
    """The error names the scheduler's address, and the certificate as the reason."""
    strange = Certificates.made(tmp_path / "strange").settings
    settings = DaskSettings.model_validate({**dask_cluster.settings, **strange})
    reason = f"{dask_cluster.address} cannot be used: .*certificate"
    with pytest.raises(ClusterUnavailable, match=reason), cluster_client(settings):
        pass


def test_an_absent_scheduler_is_a_transient_error(dask_cluster: DaskCluster, closed_port: int) -> None:
    """The error makes the worker retry the job later; no thread is left."""
    threads = set(threading.enumerate())
    address = f"tls://127.0.0.1:{closed_port}"
    settings = DaskSettings.model_validate({**dask_cluster.settings, "dask_scheduler": address})
    with (
        pytest.raises(StoreUnavailable, match=f"the Dask scheduler at {address} cannot be used"),
        cluster_client(settings),
    ):
        pass
    assert not started_since(threads)


def test_a_job_without_its_cluster_is_retried_and_then_fails(
    inline_worker: InlineWorker, closed_port: int
) -> None:
    """Another attempt follows after a pause; the last attempt ends the job with the reason."""
    address = f"tcp://127.0.0.1:{closed_port}"
    without = inline_worker.settings.model_copy(
        update={"dask_scheduler": address, "attempts": 2, "retry_seconds": 0.1}
    )
    dataset_id = inline_worker.add(synthetic_dataset(20, seed=1), "d1")
    job = InlineWorker(inline_worker.store, without).train(dataset_id, distribution={})
    assert (job.status, job.attempt) == ("failed", 2)
    assert job.problem is not None
    assert job.problem["title"] == "Cluster unavailable"
    assert job.problem["detail"].startswith(f"the Dask scheduler at {address} cannot be used: ")


def test_a_missing_certificate_file_is_named(dask_cluster: DaskCluster, tmp_path: Path) -> None:
    """A missing certificate file is reported with a message, not with a traceback."""
    settings = DaskSettings.model_validate({**dask_cluster.settings, "dask_tls_ca_file": tmp_path / "gone"})
    with pytest.raises(ClusterUnavailable, match=r"cannot be used: .*No such file"), cluster_client(settings):
        pass


def test_a_connection_without_an_answer_times_out(dask_cluster: DaskCluster) -> None:
    """A connection to a server that accepts it and sends nothing ends after the timeout."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"tls://127.0.0.1:{mute.getsockname()[1]}"
        settings = DaskSettings.model_validate({**dask_cluster.settings, "dask_scheduler": address})
        with pytest.raises(ClusterUnavailable), cluster_client(settings):
            pass


@pytest.mark.slow
def test_a_lost_scheduler_leaves_nothing(tmp_path: Path) -> None:
    """Futures are cancelled, the block raises a transient error, and no thread is left."""
    from concurrent.futures import CancelledError

    from distributed.comm.core import CommClosedError

    with running_cluster(tmp_path, n_workers=1) as cluster:
        threads = set(threading.enumerate())
        settings = DaskSettings.model_validate(cluster.settings)

        def lose_scheduler() -> None:
            with cluster_client(settings) as client:
                future = client.submit(time.sleep, 60, pure=False)
                cluster.scheduler.kill()
                with pytest.raises((CancelledError, OSError)):
                    future.result(20)
                raise CommClosedError("as calls of the client do")

        with pytest.raises(ClusterUnavailable, match="was lost"):
            lose_scheduler()
        assert not started_since(threads)


_FORKED = """
import os, sys, threading
from worker.dask.cluster import cluster_client
from worker.dask.settings import DaskSettings
settings = DaskSettings()
def ask():
    with cluster_client(settings) as client:
        return client.submit(os.getppid, pure=False).result(30)
ask()  # the parent has had an event loop
for _ in range(2):
    child = os.fork()
    if child == 0:
        threads = threading.active_count()
        ask()
        os._exit(0 if threading.active_count() == threads else 3)
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f"the child ended with {status}")
print("done")
"""


@pytest.mark.slow
def test_forked_processes_connect_by_themselves(dask_cluster: DaskCluster) -> None:
    """A pool process uses no event loop of its parent, even if the parent has used the cluster."""
    named = {f"RANKERY_{name}".upper(): str(value) for name, value in dask_cluster.settings.items()}
    command = [sys.executable, "-W", "ignore", "-c", _FORKED]
    ended = subprocess.run(command, env={**os.environ, **named}, capture_output=True, text=True, timeout=120)
    assert ended.stdout == "done\n", ended.stderr


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, the error for a configured scheduler names the extra to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExtraMissing, match=r"rankery-server\[distributed\]"):
        security_of(DaskSettings(dask_scheduler="tcp://127.0.0.1:8786"))
