"""`rankery warm-up` and `rankery health`."""

import os
import pty
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from core.worker_health import COMPILING, READY, WorkerHealth, WorkerHealthFile
from rankery.embedded.compilation_progress import compilation_progress
from rankery.embedded.ports import free_port
from tests.rankery.cli.commands import run, start_command
from tests.servers.broker import running_broker


def write(data_dir: Path, **healths: WorkerHealth) -> None:
    """Write the health files of workers of these lanes."""
    for lane, health in healths.items():
        WorkerHealthFile(data_dir, lane).write(health)


def test_a_worker_is_healthy_when_all_its_lanes_are(tmp_path: Path) -> None:
    """A worker with one lane is checked for this lane."""
    write(tmp_path, training=WorkerHealth(READY))
    health_check = ("health", "worker", "--data-dir", tmp_path)
    done = run(*health_check)
    assert (done.code, done.sentence) == (
        1,
        f"no worker of the lane quick runs on this machine with {tmp_path}",
    )
    done = run(*health_check, "--lane", "training")
    assert (done.code, done.output) == (0, "rankery: the worker is ready\n")
    write(tmp_path, quick=WorkerHealth(READY))
    assert run(*health_check).code == 0


def test_a_worker_that_compiles_is_alive_and_not_ready(tmp_path: Path) -> None:
    """The liveness probe succeeds during compilation, and the readiness probe reports its progress."""
    compiling = WorkerHealth(COMPILING, compiled=12, parts=20)
    write(tmp_path, training=compiling, quick=compiling)
    done = run("health", "worker", "--data-dir", tmp_path)
    assert (done.code, done.sentence) == (
        1,
        "the worker of the lane training is not ready: compiling kernels: 12 of 20 parts",
    )
    assert (
        run("health", "worker", "--data-dir", tmp_path, "--live").output == "rankery: the worker is alive\n"
    )


def test_a_worker_that_hangs_is_not_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker hangs if its file is older than a minute."""
    write(tmp_path, training=WorkerHealth(READY))
    monkeypatch.setattr("core.worker_health.STALE_SECONDS", 0.0)
    done = run("health", "worker", "--data-dir", tmp_path, "--lane", "training", "--live")
    assert (done.code, done.sentence.partition(" for ")[0]) == (
        1,
        "the worker of the lane training has not answered",
    )


@pytest.mark.long
def test_a_stopped_worker_leaves_no_temporary_files(tmp_path: Path) -> None:
    """The processes of both lanes remove the temporary files of Celery and of their jobs."""
    temporary, data_dir = tmp_path / "temporary", tmp_path / "data"
    temporary.mkdir()
    with running_broker(tmp_path / "broker") as broker:
        environment = {"TMPDIR": str(temporary), "RANKERY_BROKER_URL": broker.url}
        worker = start_command("worker", "--data-dir", data_dir, **environment)
        while run("health", "worker", "--data-dir", data_dir).code != 0:
            assert worker.poll() is None
            time.sleep(0.1)
        worker.terminate()
        worker.communicate()
    assert worker.returncode == 0
    assert list(temporary.iterdir()) == []


def test_the_default_probe_of_an_api_checks_scoring(served: tuple[str, int]) -> None:
    """The default probe checks scoring, which needs no worker and no broker."""
    host, port = served
    health_check = ("health", "api", "--host", host, "--port", str(port))
    assert run(*health_check).output == "rankery: the API is ready for scoring\n"
    assert run(*health_check, "--live").output == "rankery: the API is alive\n"
    for purpose in ("jobs", "everything"):
        done = run(*health_check, "--for", purpose)
        assert (done.code, done.sentence.partition(";")[0]) == (
            1,
            "the API is not ready: the broker refuses connections",
        )


def test_an_unreachable_api_is_reported_in_one_sentence() -> None:
    """The error names the URL."""
    port = free_port("127.0.0.1")
    done = run("health", "api", "--port", str(port))
    assert done.code == 1
    assert done.sentence.startswith(
        f"the API does not answer at http://127.0.0.1:{port}/readyz?for=scoring: "
    )
    for host in ("a b", "a..b", "[::1"):
        done = run("health", "api", "--host", host)
        assert (done.code, done.sentence.partition("http")[0]) == (1, "the API does not answer at ")


def test_a_second_warm_up_prints_the_folder_of_the_kernels() -> None:
    """The test environment has all kernels compiled."""
    done = run("warm-up")
    assert done.code == 0, done.errors
    assert done.output.startswith("rankery: all kernels are compiled in /")
    assert done.errors == ""


@pytest.mark.long
def test_warm_up_fails_if_it_cannot_save_the_kernels(tmp_path: Path) -> None:
    """The error names the folder and the variable that names another one."""
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "kernels"
    done = start_command("warm-up", NUMBA_CACHE_DIR=str(folder), XDG_CACHE_HOME=str(folder))
    _, errors = done.communicate()
    assert done.returncode == 1
    assert errors == f"rankery: {folder} cannot be written; set NUMBA_CACHE_DIR to a folder that can\n"


def test_progress_is_printed_in_lines_at_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    """Progress has lines at intervals and one at the end, and none if nothing is compiled."""
    with compilation_progress() as report:
        for compiled in (0, 1, 2, 2):
            report(compiled, 2)
    title = "rankery: compiling kernels, once for this machine"
    assert capsys.readouterr().err == f"{title}: 0 of 2 parts\n{title}: 2 of 2 parts\n"
    with compilation_progress():
        pass
    assert capsys.readouterr().err == ""


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar is on standard error, so that standard output has only results."""
    ours, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stream, monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", stream)
        with compilation_progress() as report:
            report(1, 2)
    drawn = b""
    with suppress(OSError):  # Linux raises it at the end
        while part := os.read(ours, 65_536):
            drawn += part
    os.close(ours)
    assert b"compiling kernels, once for this machine" in drawn
    assert b"1/2" in drawn
