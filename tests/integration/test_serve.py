"""`rankery serve`: how it starts, refuses to start, and ends."""

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rankery.embedded.serve import MAX_DEATHS
from tests.integration.processes import processes_of, wait_until_none
from tests.integration.services import PARTS, Service

Serve = Callable[..., Service]


def test_a_signal_during_the_start_ends_it(serve: Serve, tmp_path: Path) -> None:
    """Ctrl-C ends the service before the API is ready."""
    service = serve(tmp_path)
    while not (tmp_path / "logs" / "broker.log").exists():
        time.sleep(0.01)
    assert service.end(signal.SIGINT) == 0
    assert not [line for line in service.lines if "dashboard" in line]
    assert wait_until_none(tmp_path, 0.0) == {}


@pytest.mark.slow
def test_a_process_that_dies_repeatedly_ends_the_service(serve: Serve, tmp_path: Path) -> None:
    """The service ends after five deaths in a row; one line names the process, how it ended and its log."""
    service = serve(tmp_path)
    service.wait_for_url()
    killed = 0
    while service.popen.poll() is None:
        pid = _pid_of(tmp_path, PARTS["worker"])
        if pid not in (None, killed):
            os.kill(pid, signal.SIGKILL)
            killed = pid
        time.sleep(0.05)
    assert service.wait_for_end() == 1
    deaths = [line for line in service.lines if "ended unexpectedly" in line]
    assert len(deaths) == MAX_DEATHS
    assert deaths[-1].startswith("rankery: the worker process ended unexpectedly (killed by SIGKILL)")
    assert deaths[-1].endswith(f"it ended 5 times in a row (log: {tmp_path}/logs/worker.log)")
    assert wait_until_none(tmp_path, 0.0) == {}


def _pid_of(data_dir: Path, words: str) -> int | None:
    return min((pid for pid, command in processes_of(data_dir).items() if words in command), default=None)


def test_a_taken_port_is_one_line_and_nothing_is_started(serve: Serve, tmp_path: Path) -> None:
    """The port is checked before any process starts or file is written."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        service = serve(tmp_path / "data", "--port", str(port))
        assert service.wait_for_end() == 1
    assert service.lines == [
        f"rankery: port {port} on 127.0.0.1 is in use; "
        "choose another with --port, or --port 0 for any free one"
    ]
    assert not (tmp_path / "data").exists()
