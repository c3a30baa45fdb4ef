"""`rankery serve`: how it starts, refuses to start, and ends."""

import os
import re
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx

from rankery.client import Client
from rankery.embedded.stack import STOP_GRACE_SECONDS
from rankery.embedded.supervisor import MAX_DEATHS
from tests.integration.processes import one_of, processes_of, wait_until_none
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
    assert seconds < 2 * STOP_GRACE_SECONDS
    assert wait_until_none(data_dir, 0.0) == {}
    assert service.lines[-1] == "rankery: stopping"


def test_a_signal_during_the_start_ends_it(serve: Serve, tmp_path: Path) -> None:
    """Ctrl-C does not have to wait for the API to come up."""
    service = serve(tmp_path)
    while not (tmp_path / "logs" / "broker.log").exists():
        time.sleep(0.01)
    code, seconds = service.end(signal.SIGINT)
    assert code == 0
    assert seconds < 8
    assert wait_until_none(tmp_path, 0.0) == {}


PARTS = {"broker": "valkey-server 127.0.0.1", "api": "rankery api", "worker": "rankery worker"}


def test_a_part_that_dies_is_started_again(serve: Serve, tmp_path: Path) -> None:
    """Whichever it is: the service keeps its address, and what is submitted afterwards is carried out.

    A dump that a server of another version left in the data folder is neither read nor changed.
    """
    dump = tmp_path / "dump.rdb"
    dump.write_bytes(b"REDIS9999 of a later version")
    service = serve(tmp_path)
    url = service.started()
    for name, words in PARTS.items():
        killed = one_of(tmp_path, words)
        os.kill(killed, signal.SIGSEGV)
        _wait_for_line(service, f"rankery: the {name} process ended unexpectedly (killed by SIGSEGV)")
        while (again := one_of(tmp_path, words)) == killed:
            time.sleep(0.05)
        assert again != killed
    with Client(url) as client:
        _wait_until_ready(url)
        assert client.synthetic_dataset(10, seed=1).wait(timeout_seconds=100).status == "ready"
    deaths = [line for line in service.lines if "ended unexpectedly" in line]
    assert [re.search(r"it starts again in ([0-9.]+) s \(log: .*\.log\)$", line)[1] for line in deaths] == [  # type: ignore[index]
        "0.5"
    ] * len(PARTS)
    assert dump.read_bytes() == b"REDIS9999 of a later version"
    assert service.end(signal.SIGTERM)[0] == 0
    assert wait_until_none(tmp_path, 0.0) == {}


def test_a_part_that_dies_again_and_again_ends_the_service(serve: Serve, tmp_path: Path) -> None:
    """After five deaths in a row, with one line that names the process, how it ended and its log."""
    service = serve(tmp_path)
    service.started()
    killed = 0
    while service.popen.poll() is None:
        pid = _pid_of(tmp_path, PARTS["worker"])
        if pid not in (None, killed):
            os.kill(pid, signal.SIGKILL)
            killed = pid
        time.sleep(0.05)
    assert service.ended() == 1
    deaths = [line for line in service.lines if "ended unexpectedly" in line]
    assert len(deaths) == MAX_DEATHS
    assert deaths[-1].startswith("rankery: the worker process ended unexpectedly (killed by SIGKILL)")
    assert deaths[-1].endswith(f"that was its death number 5 in a row (log: {tmp_path}/logs/worker.log)")
    assert wait_until_none(tmp_path, 0.0) == {}


def _pid_of(data_dir: Path, words: str) -> int | None:
    return min((pid for pid, command in processes_of(data_dir).items() if words in command), default=None)


def _wait_for_line(service: Service, start: str) -> None:
    deadline = time.monotonic() + 60
    while not any(line.startswith(start) for line in service.lines):
        assert time.monotonic() < deadline, service.lines
        time.sleep(0.05)


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError("the service is not ready")


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
    assert httpx.get(f"{url}/readyz?for=scoring").status_code == 200
