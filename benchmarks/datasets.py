"""Time to read a LETOR file like MSLR-WEB30K's with Rankery and scikit-learn; medians of several runs."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file

from benchmarks.processes import memory_bytes
from benchmarks.web30k import write_web30k_like
from core.data import RankingDataset, read_dataset
from core.types import Float32Array

RUNS = 3
BLOCK_ROWS = 20_000
MEBIBYTE = 2**20


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=520.0)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        print(json.dumps(_memory(arguments.read, arguments.threads)))
        return
    console = Console()
    with tempfile.TemporaryDirectory(prefix="rankery-bench-") as folder:
        path = Path(folder) / "web30k.txt"
        with console.status("writing the file"):
            documents = write_web30k_like(path, arguments.megabytes)
        console.print(f"{path.stat().st_size / 1e6:.0f} MB, {documents:,} documents")
        _compare(console, path, arguments.threads)
        _report_memory(console, path, arguments.threads)


def _compare(console: Console, path: Path, threads: int) -> None:
    read_dataset(path, "letor", threads=threads)  # loads the file into the page cache for all runs
    ours: list[float] = []
    theirs: list[float] = []
    for run in range(RUNS):
        with console.status(f"reading, {run + 1} of {RUNS}"):
            ours_dataset = _timed(ours, lambda: read_dataset(path, "letor", threads=threads))
            matrix, labels, queries = _timed(theirs, lambda: load_svmlight_file(str(path), query_id=True))
    size = path.stat().st_size / 1e6
    table = Table("reader", "seconds", "MB/s")
    for name, seconds in ((f"Rankery, {threads} threads", ours), ("scikit-learn", theirs)):
        median = statistics.median(seconds)
        table.add_row(name, f"{median:.2f}", f"{size / median:.0f}")
    console.print(table)
    console.print(f"ratio {statistics.median(theirs) / statistics.median(ours):.1f}")
    equal = _equal(ours_dataset, matrix, labels, queries)
    console.print(f"values, labels and queries equal bit for bit: {'yes' if equal else 'NO'}")


def _timed(seconds: list[float], action: Any) -> Any:
    started = time.perf_counter()
    result = action()
    seconds.append(time.perf_counter() - started)
    return result


def _equal(dataset: RankingDataset, matrix: Any, labels: Any, queries: Any) -> bool:
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    return bool(
        np.array_equal(dataset.query_boundaries, [*starts, len(queries)])
        and np.array_equal(dataset.labels, labels.astype(np.float32))
        and all(
            _equal_block(dataset.features[first : first + BLOCK_ROWS], matrix[first : first + BLOCK_ROWS])
            for first in range(0, dataset.n_documents, BLOCK_ROWS)
        )
    )


def _equal_block(features: Float32Array, matrix: Any) -> bool:
    # Compare stored numbers: a conversion to dense would turn -0 into 0.
    rows = np.repeat(np.arange(len(features)), np.diff(matrix.indptr))
    stored = features[rows, matrix.indices]
    return stored.tobytes() == matrix.data.astype(np.float32).tobytes() and np.array_equal(
        features, matrix.toarray().astype(np.float32)
    )


def _report_memory(console: Console, path: Path, threads: int) -> None:
    """Read in a separate process and print its peak memory."""
    command = [sys.executable, "-m", "benchmarks.datasets", "--read", str(path), "--threads", str(threads)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    file, matrix = path.stat().st_size / MEBIBYTE, found["matrix"] / MEBIBYTE
    rest = found["peak"] / MEBIBYTE - file - matrix
    console.print(
        f"peak memory of the read {found['peak'] / MEBIBYTE:.0f} MiB:"
        f" matrix {matrix:.0f}, mapped file up to {file:.0f}, the rest {rest:.0f} (bound: 200)"
    )


def _memory(path: Path, threads: int) -> dict[str, int]:
    from core.warm_up.kernels import letor

    letor()
    before = memory_bytes("self", "VmRSS")
    dataset = read_dataset(path, "letor", threads=threads)
    return {"peak": memory_bytes("self", "VmHWM") - before, "matrix": dataset.features.nbytes}


if __name__ == "__main__":
    main()
