"""`rankery serve`: how it starts, refuses to start, and ends."""

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from rankery.client import Client
from tests.integration.processes import one_of, wait_until_none
from tests.integration.requests import train_job
from tests.integration.services import Service

Serve = Callable[..., Service]


def test_a_signal_ends_every_process_and_the_running_job_continues_later(
    serve: Serve, tmp_path: Path
) -> None:
    """SIGTERM and Ctrl-C end the service with code 0, within its grace; the next one finishes the job."""
    data_dir = tmp_path / "data"
    service = serve(data_dir)
    with Client(service.started()) as client:
        sizes = {"train": 40, "validation": 10, "test": 10}
        ids = {
            name: client.synthetic_dataset(size, seed=size).wait(timeout_seconds=100).id
            for name, size in sizes.items()
        }
        job = client.submit(train_job(ids, model_name="m", num_iterations=150))
        while not job.refresh().iteration:
            time.sleep(0.05)
    _end(service, signal.SIGTERM, data_dir)
    again = serve(data_dir)
    with Client(again.started()) as client:
        done = client.job(job.id).wait(timeout_seconds=100)
        assert done.history().iterations == list(range(1, 151))
    assert done.attempt == 1  # handed back, not lost
    _end(again, signal.SIGINT, data_dir)


def _end(service: Service, number: signal.Signals, data_dir: Path) -> None:
    code, seconds = service.end(number)
    assert code == 0, service.lines
    assert seconds < 10
    assert wait_until_none(data_dir, 0.0) == {}
    assert service.lines[-1] == "rankery: stopping"


def test_a_signal_during_the_start_ends_it(serve: Serve, tmp_path: Path) -> None:
    """Ctrl-C does not have to wait for the API to come up."""
    service = serve(tmp_path)
    while not (tmp_path / "logs" / "redis.log").exists():
        time.sleep(0.01)
    code, seconds = service.end(signal.SIGINT)
    assert code == 0
    assert seconds < 8
    assert wait_until_none(tmp_path, 0.0) == {}


@pytest.mark.parametrize("name", ["redis", "api", "worker"])
def test_the_death_of_one_process_ends_the_service_with_one_line(
    serve: Serve, tmp_path: Path, name: str
) -> None:
    """The line names the process, how it ended and its log; no other process is left."""
    service = serve(tmp_path)
    service.started()
    words = {"redis": "redis-server 127.0.0.1", "api": "rankery api", "worker": "rankery worker"}
    os.kill(one_of(tmp_path, words[name]), signal.SIGKILL)
    assert service.ended() == 1
    (line,) = [line for line in service.lines if "ended" in line]
    assert line.startswith(f"rankery: the {name} process ended unexpectedly (killed by SIGKILL)")
    assert line.endswith(f"(log: {tmp_path}/logs/{name}.log)")
    assert wait_until_none(tmp_path, 0.0) == {}


def test_a_taken_port_is_one_line_and_nothing_is_started(serve: Serve, tmp_path: Path) -> None:
    """The service looks before it starts anything, and writes nothing."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        service = serve(tmp_path / "data", "--port", str(port))
        assert service.ended() == 1
    assert service.lines == [
        f"rankery: port {port} on 127.0.0.1 is taken; "
        "choose another with --port, or --port 0 for any free one"
    ]
    assert not (tmp_path / "data").exists()


def test_two_services_never_share_a_data_folder(serve: Serve, tmp_path: Path) -> None:
    """The second one says so in one line; the first one does not notice."""
    first = serve(tmp_path)
    url = first.started()
    second = serve(tmp_path)
    assert second.ended() == 1
    (line,) = second.lines
    assert line.startswith(f"rankery: the data folder {tmp_path} is in use by another rankery service")
    assert httpx.get(f"{url}/readyz").status_code == 200
