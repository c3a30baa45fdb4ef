"""A file like MSLR-WEB30K's on its way through the service: from its upload to the trees of a second job."""

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.web30k import write_web30k_like
from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack

MEBIBYTE = 2**20
TIMEOUT_SECONDS = 900.0
LOOK_SECONDS = 0.01


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=520.0)
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="rankery-bench-") as name:
        path = Path(name) / "web30k.txt"
        with console.status("writing the file"):
            documents = write_web30k_like(path, arguments.megabytes)
        console.print(f"{path.stat().st_size / 1e6:.0f} MB, {documents:,} documents")
        with EmbeddedStack(Path(name) / "service") as stack, Client(stack.url) as client:
            _warm_up(client)
            dataset_id = _measure_upload(console, stack, client, path)
            for validation in (None, {"fraction": 0.2}):
                _measure_jobs(console, client, dataset_id, validation)


def _warm_up(client: Client) -> None:
    """Wait for the worker, which compiles before it reports for work."""
    dataset = client.synthetic_dataset(20, name="warm-up")
    dataset.wait(timeout_seconds=TIMEOUT_SECONDS)
    _first_iteration_seconds(client, dataset.id, None)


def _measure_upload(console: Console, stack: EmbeddedStack, client: Client, path: Path) -> str:
    processes = {"API": stack.processes["api"], "worker": _busiest_child(stack.processes["worker"])}
    idle = {name: _status(pid, "VmRSS") for name, pid in processes.items()}
    for pid in processes.values():
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # forgets the peak so far
    with console.status("uploading"):
        started = time.perf_counter()
        dataset = client.upload_dataset(path, name="web30k")
        sent = time.perf_counter()
    with console.status("reading"):
        job = client.job(str(dataset.job_id)).wait(
            timeout_seconds=TIMEOUT_SECONDS, interval_seconds=LOOK_SECONDS
        )
        ready = time.perf_counter()
    own = _seconds(job)
    console.print(f"upload {sent - started:.2f} s")
    console.print(f"from its end to ready {ready - sent:.2f} s, of which the job itself {own:.2f} s")
    table = Table("process", "idle MiB", "peak MiB", "growth MiB")
    for name, pid in processes.items():
        peak = _status(pid, "VmHWM")
        table.add_row(name, *(f"{size / MEBIBYTE:.0f}" for size in (idle[name], peak, peak - idle[name])))
    console.print(table)
    return dataset.id


def _measure_jobs(console: Console, client: Client, dataset_id: str, validation: Any) -> None:
    with console.status("training twice"):
        first, second = (_first_iteration_seconds(client, dataset_id, validation) for _ in range(2))
    console.print(
        f"from running to the first iteration, validation {validation}: first job {first:.2f} s,"
        f" second {second:.2f} s, ratio {first / second:.1f}"
    )


def _first_iteration_seconds(client: Client, dataset_id: str, validation: Any) -> float:
    job = client.submit(
        {
            "kind": "train",
            "model_name": "bench",
            "dataset_id": dataset_id,
            "validation": validation,
            "loss": {"name": "lambdarank"},
            "hyperparameters": {"num_iterations": 10},
        }
    )
    while True:
        now = datetime.now(UTC).timestamp()
        if job.refresh().iteration:
            break
        if job.problem:
            raise RuntimeError(job.problem.detail)
        time.sleep(LOOK_SECONDS)
    job.wait(timeout_seconds=TIMEOUT_SECONDS)
    assert job.started_at is not None
    return now - job.started_at.timestamp()


def _seconds(job: Job) -> float:
    assert job.started_at is not None
    assert job.finished_at is not None
    return (job.finished_at - job.started_at).total_seconds()


def _busiest_child(parent: int) -> int:
    """Return the pool process of a worker: of its children the one with the most memory."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return max(map(int, children), key=lambda pid: _status(pid, "VmRSS"))


def _status(pid: int, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    main()
