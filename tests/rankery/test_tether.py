"""Processes that end with their parent."""

import os
import signal
import subprocess
import sys
import time

import pytest

TETHER = [sys.executable, "-m", "rankery.embedded.tether"]

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Linux only: its kernel ends orphans"
)


def test_the_command_replaces_the_process_of_the_tether() -> None:
    """Exit code, output and process id are those of the command."""
    script = "import os; print(os.getpid()); raise SystemExit(7)"
    command = [*TETHER, str(os.getpid()), sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output, _ = process.communicate(timeout=30)
        assert int(output) == process.pid
        assert process.returncode == 7


def test_a_command_that_does_not_exist_is_named() -> None:
    """The log names the command that could not be run."""
    done = subprocess.run([*TETHER, str(os.getpid()), "no-such-server"], capture_output=True, text=True)
    assert done.returncode == 127
    assert "no-such-server" in done.stderr


@linux_only
def test_nothing_is_run_for_a_parent_that_has_died_already() -> None:
    """A parent may die before the tether is set up; the tether detects it by the process id."""
    done = subprocess.run([*TETHER, "1", "sleep", "60"], timeout=30)
    assert done.returncode == 1


@linux_only
def test_the_command_dies_with_its_parent() -> None:
    """SIGKILL of the parent, which the parent cannot handle, kills the command."""
    script = (
        "import os, subprocess, time\n"
        f"child = subprocess.Popen({TETHER!r} + [str(os.getpid()), 'sleep', '60'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        _wait_for_command(child, "sleep")
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while _is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _wait_for_command(pid: int, name: str) -> None:
    deadline = time.monotonic() + 30
    while name not in _status(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_alive(pid: int) -> bool:
    status = _status(pid)
    return bool(status) and "State:\tZ" not in status


def _status(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/status") as file:  # noqa: PTH123 - a pseudo file
            return file.read()
    except OSError:
        return ""
