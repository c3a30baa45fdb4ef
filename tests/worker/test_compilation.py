"""Progress of a worker while its kernels are compiled."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.jobs import LANES
from core.store import Store, StoreSettings
from core.warm_up import PARTS, Progress
from core.worker_health import READY, WorkerHealth, WorkerHealthFile
from tests.integration.processes import processes_of, wait_until_none
from tests.integration.waiting import wait_for
from worker import WorkerSettings
from worker.process.compilation import CompilationReport
from worker.process.sweeper import Sweeper

COMPILER = "core.warm_up.child"


def test_progress_is_in_the_database_and_in_files(store: Store, settings: WorkerSettings) -> None:
    """Each lane is listed as a worker that compiles, and is removed after the compilation."""
    report = CompilationReport(settings, LANES)
    report(Progress(12, 20))
    with store.read() as tx:
        assert {(row.lane, row.compiling) for row in tx.workers.live()} == {
            (lane, "12 of 20 parts") for lane in LANES
        }
    for lane in LANES:
        health = WorkerHealthFile(settings.data_dir, lane).read()
        assert health is not None
        assert (str(health), health.is_live) == ("compiling kernels: 12 of 20 parts", True)
    report.remove()
    with store.read() as tx:
        assert tx.workers.live() == []


def test_an_unavailable_database_does_not_stop_a_compilation(settings: WorkerSettings) -> None:
    """Without the database, the progress is still written to the health files."""
    settings = settings.model_copy(update={"database_url": f"sqlite:///{settings.data_dir}/none/x.db"})
    CompilationReport(settings, ["quick"])(Progress(1, 20))
    assert str(WorkerHealthFile(settings.data_dir, "quick").read()) == "compiling kernels: 1 of 20 parts"


@pytest.mark.usefixtures("store")
def test_each_sweep_writes_the_health_of_the_worker(settings: WorkerSettings) -> None:
    """The file has the reason of a failed sweep, and is removed when the worker leaves."""
    file = WorkerHealthFile(settings.data_dir, "training")
    sweeper = Sweeper(settings, "host:1", "training")
    sweeper.sweep()
    health = file.read()
    assert health is not None
    assert (health.state, health.is_live) == (READY, True)
    unreachable = settings.model_copy(update={"database_url": f"sqlite:///{settings.data_dir}/none/x.db"})
    Sweeper(unreachable, "host:1", "training").sweep()
    assert str(file.read()).startswith("the last sweep failed: ")
    sweeper.deregister()
    assert file.read() is None


def test_a_worker_without_recent_reports_is_not_live(tmp_path: Path) -> None:
    """Reports from before a restart of the machine, whose clock starts again, do not count."""
    now = time.monotonic()
    assert WorkerHealth(READY, now).is_live
    assert not WorkerHealth(READY, now - 61.0).is_live
    assert not WorkerHealth(READY, now + 61.0).is_live
    file = WorkerHealthFile(tmp_path, "training")
    assert file.read() is None
    file.write(WorkerHealth(READY))
    next((tmp_path / "health").iterdir()).write_text("{")
    assert file.read() is None


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_compilers_of_a_first_start_end_with_their_worker(tmp_path: Path, number: signal.Signals) -> None:
    """The worker reports that it compiles; SIGTERM and SIGKILL end it with its compilers."""
    environment = os.environ | {
        "RANKERY_DATA_DIR": str(tmp_path),
        "RANKERY_BROKER_URL": "redis://127.0.0.1:1/0",
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
    }
    command = [sys.executable, "-P", "-m", "rankery", "worker"]
    with subprocess.Popen(command, env=environment) as worker:
        try:
            wait_for(lambda: any(COMPILER in command for command in processes_of(tmp_path).values()))
            wait_for(lambda: _compiling_lanes(tmp_path) == set(LANES))
            health = WorkerHealthFile(tmp_path, "training").read()
            assert health is not None
            assert health.parts == len(PARTS)
        finally:
            worker.send_signal(number)
    assert worker.returncode == (0 if number == signal.SIGTERM else -number)
    assert wait_until_none(tmp_path, 30.0) == {}


def _compiling_lanes(data_dir: Path) -> set[str]:
    store = Store.open(StoreSettings(data_dir=data_dir))
    try:
        with store.read() as tx:
            return {row.lane for row in tx.workers.live() if row.compiling}
    finally:
        store.close()
