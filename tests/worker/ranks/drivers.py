"""Drivers in separate processes, which tests kill."""

import subprocess
import sys

from core.store import Store
from core.subprocesses import module_environment
from worker import WorkerSettings
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs


def driver_process(settings: WorkerSettings) -> "subprocess.Popen[bytes]":
    """Start a process that runs all queued jobs."""
    values = settings.model_dump_json()
    return subprocess.Popen([sys.executable, "-m", __name__, values], env=module_environment())


def main() -> None:
    """Run all queued jobs of the store in the settings."""
    settings = WorkerSettings.model_validate_json(sys.argv[1])
    store = Store.open(settings)
    run_jobs(store, settings, StopFlag(), f"driver/{settings.threads}", RUNNERS)
    store.close()


if __name__ == "__main__":
    main()
