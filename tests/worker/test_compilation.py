"""Progress of a worker while its kernels are compiled."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.jobs import LANES
from core.store import Store, StoreSettings
from core.warm_up import PARTS, Progress
from core.worker_health import READY, WorkerHealth, WorkerHealthFile
from tests.integration.processes import processes_of, wait_until_none
from worker import WorkerSettings
from worker.process.compilation import CompilationReport
from worker.process.sweeper import Sweeper

COMPILER = "core.warm_up.child"


def test_progress_stands_in_the_database_and_in_files(store: Store, settings: WorkerSettings) -> None:
    """Each lane counts as a worker that compiles, and as none any more once that is done."""
    report = CompilationReport(settings, LANES)
    report(Progress(12, 20))
    with store.read() as tx:
        assert {(row.lane, row.compiling) for row in tx.workers.present()} == {
            (lane, "12 of 20 parts") for lane in LANES
        }
    for lane in LANES:
        health = WorkerHealthFile(settings.data_dir, lane).read()
        assert health is not None
        assert (str(health), health.is_live) == ("compiling kernels: 12 of 20 parts", True)
    report.leave()
    with store.read() as tx:
        assert tx.workers.present() == []


def test_a_database_that_is_away_stops_no_compilation(settings: WorkerSettings) -> None:
    """The files say how far it is all the same."""
    settings = settings.model_copy(update={"database_url": f"sqlite:///{settings.data_dir}/none/x.db"})
    CompilationReport(settings, ["quick"])(Progress(1, 20))
    assert str(WorkerHealthFile(settings.data_dir, "quick").read()) == "compiling kernels: 1 of 20 parts"


@pytest.mark.usefixtures("store")
def test_each_sweep_says_that_the_worker_is_well(settings: WorkerSettings) -> None:
    """Or why it is not; who leaves takes it back."""
    file = WorkerHealthFile(settings.data_dir, "training")
    sweeper = Sweeper(settings, "host:1", "training")
    sweeper.sweep()
    health = file.read()
    assert health is not None
    assert (health.state, health.is_live) == (READY, True)
    away = settings.model_copy(update={"database_url": f"sqlite:///{settings.data_dir}/none/x.db"})
    Sweeper(away, "host:1", "training").sweep()
    assert str(file.read()).startswith("the last sweep failed: ")
    sweeper.leave()
    assert file.read() is None


def test_a_worker_that_says_nothing_is_not_alive(tmp_path: Path) -> None:
    """Nor one of before a restart of the machine, whose clock began anew."""
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
def test_a_first_start_compiles_in_children_that_end_with_it(tmp_path: Path, number: signal.Signals) -> None:
    """The worker says so before it takes jobs; SIGTERM ends it with its compilers, and SIGKILL, too."""
    environment = os.environ | {
        "RANKERY_DATA_DIR": str(tmp_path),
        "RANKERY_BROKER_URL": "redis://127.0.0.1:1/0",
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
    }
    command = [sys.executable, "-P", "-m", "rankery", "worker"]
    with subprocess.Popen(command, env=environment) as worker:
        try:
            _wait(lambda: any(COMPILER in command for command in processes_of(tmp_path).values()))
            _wait(lambda: _compiling_lanes(tmp_path) == set(LANES))
            health = WorkerHealthFile(tmp_path, "training").read()
            assert health is not None
            assert health.parts == len(PARTS)
        finally:
            worker.send_signal(number)
    assert worker.returncode == (0 if number == signal.SIGTERM else -number)
    assert wait_until_none(tmp_path, 30.0) == {}


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _compiling_lanes(data_dir: Path) -> set[str]:
    store = Store.open(StoreSettings(data_dir=data_dir))
    try:
        with store.read() as tx:
            return {row.lane for row in tx.workers.present() if row.compiling}
    finally:
        store.close()
