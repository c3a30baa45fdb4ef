"""Processor seconds until the embedded service is ready, by process, and of single imports.

Ready means that models can be scored and that each pool process of the workers accepts jobs. The kernels are
cached before the first start. Processor time includes all threads and ended children, so that other work on
the machine has little effect.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.jobs import LANES

_PROGRAMS = {
    "import app.application": ["-c", "import app.application"],
    "rankery --help": ["-m", "rankery", "--help"],
}
_LIMIT_SECONDS = 600.0
_POLL_SECONDS = 0.1


def main() -> None:
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="number of measurements of each start")
    times = parser.parse_args().times
    subprocess.run([sys.executable, "-P", "-m", "rankery", "warm-up"], check=True, capture_output=True)
    runs: dict[str, list[float]] = {}
    for _ in track(range(times), console=Console(stderr=True)):
        for name, arguments in _PROGRAMS.items():
            runs.setdefault(name, []).append(_program_seconds(arguments))
        seconds = _service_seconds()
        for name, of_process in {**seconds, "service": sum(seconds.values())}.items():
            runs.setdefault(name, []).append(of_process)
    table = Table("", "processor seconds", "least", "most")
    for name, of_runs in runs.items():
        figures = (statistics.median(of_runs), min(of_runs), max(of_runs))
        table.add_row(name, *(f"{figure:.2f}" for figure in figures))
    Console().print(table)


def _program_seconds(arguments: list[str]) -> float:
    process = subprocess.Popen([sys.executable, "-P", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def _service_seconds() -> dict[str, float]:
    """Start `rankery serve`, and return the processor seconds of each of its processes until it is ready."""
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder)) as process:
        return {
            name: times.user + times.system + times.children_user + times.children_system
            for name, times in _by_name(psutil.Process(process.pid))
        }


@contextmanager
def _service(data_dir: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-P", "-m", "rankery", "serve", "--port", "0", "--data-dir", str(data_dir)]
    environment = {**os.environ, "RANKERY_LOG_FORMAT": "console"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            lines = iter(process.stdout or ())
            url = next(found[1] for line in lines if (found := re.search(r"dashboard: (\S+)", line)))
            _wait(process, lambda: _is_ready(data_dir / "logs" / "worker.log"))
            httpx.get(f"{url}/readyz?for=jobs").raise_for_status()
            yield process
        finally:
            process.terminate()


def _wait(process: "subprocess.Popen[str]", condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _LIMIT_SECONDS
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the service did not become ready")
        time.sleep(_POLL_SECONDS)


def _is_ready(log: Path) -> bool:
    """Return whether all pool processes that the worker's lanes announced have reported as ready."""
    text = log.read_text() if log.exists() else ""
    announced = [int(number) for number in re.findall(r"worker\.starting .*concurrency=(\d+)", text)]
    return len(announced) == len(LANES) and text.count("worker.ready") == sum(announced)


def _by_name(supervisor: psutil.Process) -> Iterator[tuple[str, Any]]:
    yield "  supervisor", supervisor.cpu_times()
    for part in supervisor.children():
        name = next((each for each in ("api", "worker") if each in part.cmdline()), "broker")
        yield f"  {name}", part.cpu_times()
        for index, lane in enumerate(part.children()):
            yield f"  lane {index + 1}", lane.cpu_times()
            for number, each in enumerate(lane.children()):
                yield f"  lane {index + 1}, pool process {number + 1}", each.cpu_times()


if __name__ == "__main__":
    main()
