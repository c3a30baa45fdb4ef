"""Seconds of each step for a file like MSLR-WEB30K's, from its upload to the trees of a second job."""

import argparse
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.processes import peak_memory
from benchmarks.web30k import write_web30k_like
from rankery.client import Client, Dataset, Job
from rankery.embedded.stack import EmbeddedStack

MEBIBYTE = 2**20
TIMEOUT_SECONDS = 900.0
POLL_SECONDS = 0.01


def main() -> None:
    """Run the benchmark and print the results."""
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
    """Wait for the worker, which compiles kernels before it accepts jobs."""
    dataset = client.synthetic_dataset(20, name="warm-up")
    dataset.wait(timeout_seconds=TIMEOUT_SECONDS)
    _first_iteration_seconds(client, dataset.id, None)


def _measure_upload(console: Console, stack: EmbeddedStack, client: Client, path: Path) -> str:
    processes = {"API": stack.processes["api"], "worker": stack.processes["worker"]}
    with ExitStack() as watches:
        peaks = {name: watches.enter_context(peak_memory(process)) for name, process in processes.items()}
        dataset = _measure_times(console, client, path)
    table = Table("process", "peak MiB", "with mapped pages")
    for name, peak in peaks.items():
        table.add_row(name, *(f"{peak[field] / MEBIBYTE:.0f}" for field in ("RssAnon", "VmRSS")))
    console.print(table)
    return dataset.id


def _measure_times(console: Console, client: Client, path: Path) -> Dataset:
    with console.status("uploading"):
        started = time.perf_counter()
        dataset = client.upload_dataset(path, name="web30k")
        sent = time.perf_counter()
    with console.status("reading"):
        job = client.job(str(dataset.job_id)).wait(
            timeout_seconds=TIMEOUT_SECONDS, interval_seconds=POLL_SECONDS
        )
        ready = time.perf_counter()
    job_seconds = _job_seconds(job)
    console.print(f"upload {sent - started:.2f} s")
    console.print(
        f"from the end of the upload to ready {ready - sent:.2f} s, of which the job {job_seconds:.2f} s"
    )
    return dataset


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
        time.sleep(POLL_SECONDS)
    job.wait(timeout_seconds=TIMEOUT_SECONDS)
    assert job.started_at is not None
    return now - job.started_at.timestamp()


def _job_seconds(job: Job) -> float:
    assert job.started_at is not None
    assert job.finished_at is not None
    return (job.finished_at - job.started_at).total_seconds()


if __name__ == "__main__":
    main()
