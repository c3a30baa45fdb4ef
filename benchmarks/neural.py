"""Epoch times of networks compared with a plain PyTorch loop, and growth of RankNet with the query length.

For each number of threads, a separate process is pinned to that many processors. Measurements of both tools
alternate and the fastest epoch counts, since other work only adds time. PyTorch is left out if it is not
installed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.loads import LOADS, Load
from benchmarks.neural_torch import SCHEMES, epoch_seconds

HIDDEN, BATCH_DOCUMENTS = (128, 128), 4_096
LENGTHS = tuple(4_000 * 2**doubling for doubling in range(8))
TOOLS = ("ours", "torch")
_TURNS = 3
_NO_TORCH = "PyTorch is not installed: its half of the comparison is left out (pip install torch)"


def ours(load: Load, scheme: str, epochs: int, threads: int) -> dict[str, float]:
    """Return the seconds of the fastest epoch, with and without metrics, and its parts in milliseconds."""
    from core.training import training_spec
    from core.training.networks import train_network

    dataset = load.dataset()
    scorer = {"kind": "mlp", "hidden": list(HIDDEN), "batch_documents": BATCH_DOCUMENTS, "epochs": epochs}
    loss = {"name": scheme} | ({"mu": 10.0} if scheme == "ndcg-loss2++" else {})
    seconds: dict[str, float] = {}
    for name, interval in (("seconds", epochs + 1), ("seconds with metrics", 1)):
        spec = training_spec({"loss": loss, "scorer": scorer, "metric_interval": interval})
        ends: list[float] = []
        trained = train_network(
            spec,
            dataset,
            on_iteration=lambda *_, ends=ends: ends.append(time.perf_counter()),
            threads=threads,
        )
        # The last epoch always computes metrics.
        seconds[name] = float(np.diff(ends[: len(ends) if interval == 1 else -1]).min())
        fastest = min(trained.history[1:-1], key=lambda report: sum(report.milliseconds.values()))
    return {**seconds, **fastest.milliseconds}


def measure_in_process(tool: str, scheme: str, epochs: int, threads: int) -> dict[str, float] | None:
    """Measure a tool in a process on this many processors; return None if it is not installed."""
    command = [sys.executable, "-m", "benchmarks.neural", "--tool", tool, "--scheme", scheme]
    command += ["--threads", str(threads), "--epochs", str(epochs)]
    # As in a worker: waiting OpenMP threads do not take processors from the threads of XLA.
    environment = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000", **os.environ}
    process = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    result: dict[str, float] | None = json.loads(process.stdout.splitlines()[-1])
    return result


def measure_here(tool: str, scheme: str, epochs: int, threads: int) -> dict[str, float] | None:
    """Measure a tool in this process, pinned to this many processors."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    load = next(load for load in LOADS if load.name == "W")
    if tool == "ours":
        return ours(load, scheme, epochs, threads)
    try:
        seconds = epoch_seconds(load, scheme, HIDDEN, BATCH_DOCUMENTS, epochs, threads)
    except ImportError:
        return None
    return {"seconds": seconds}


def comparison(epochs: int, thread_counts: list[int]) -> Iterator[Table | str]:
    """Yield a table of epochs per second of both tools, and the parts of Rankery's epochs."""
    table = Table(
        title="load W (MSLR-WEB30K-like): 2,000 queries of 120 documents, 136 → 128 → 128 → 1, Adam"
    )
    parts = Table(title="milliseconds of an epoch of ours with metrics")
    for column in ("loss", "threads", "ours, epochs/s", "PyTorch, epochs/s", "times PyTorch's"):
        table.add_column(column, justify="left" if column == "loss" else "right")
    for column in ("loss", "threads", "network", "objective", "metrics"):
        parts.add_column(column, justify="left" if column == "loss" else "right")
    missing = False
    for scheme in SCHEMES:
        for threads in thread_counts:
            turns = [
                [measure_in_process(tool, scheme, epochs, threads) for tool in TOOLS] for _ in range(_TURNS)
            ]
            ours_fastest, torch_fastest = (_fastest(column) for column in zip(*turns, strict=True))
            if ours_fastest is None:
                raise RuntimeError("ours was not measured")
            own = 1.0 / ours_fastest["seconds"]
            beside = ("–", "–")
            if torch_fastest is not None:
                beside = (f"{1.0 / torch_fastest['seconds']:.2f}", _ratio(torch_fastest, ours_fastest))
            missing |= torch_fastest is None
            table.add_row(scheme, str(threads), f"{own:.2f}", *beside)
            shares = [f"{ours_fastest[part]:.0f}" for part in ("network", "objective", "metrics")]
            parts.add_row(scheme, str(threads), *shares)
    if missing:
        yield _NO_TORCH
    yield table
    yield parts


def _fastest(turns: Sequence[dict[str, float] | None]) -> dict[str, float] | None:
    known = [turn for turn in turns if turn is not None]
    return {name: min(turn[name] for turn in known) for name in known[0]} if known else None


def _ratio(other: dict[str, float], own: dict[str, float]) -> str:
    return f"{other['seconds'] / own['seconds']:.1f}"


def growth(lengths: tuple[int, ...] = LENGTHS, repeats: int = 3) -> Table:
    """Time RankNet's gradient and loss for one query with five labels, by its number of documents."""
    from core.losses import make_loss
    from core.ranges import use_threads

    use_threads(1)
    generator = np.random.default_rng(0)
    shares = np.array(next(load for load in LOADS if load.name == "W").label_shares)
    table = Table(title="ranknet, one query, five labels, one thread")
    table.add_column("documents", justify="right")
    table.add_column("ms", justify="right")
    fastest = []
    for length in lengths:
        labels = generator.choice(5, length, p=shares / shares.sum()).astype(np.float32)
        objective = make_loss("ranknet").prepare(labels, np.array([0, length]))
        scores = 3.0 * generator.normal(size=length)
        taken = []
        for _ in range(repeats + 1):
            started = time.perf_counter()
            objective.with_value(scores, 0)
            taken.append(1e3 * (time.perf_counter() - started))
        fastest.append(min(taken))
        table.add_row(f"{length:,}", f"{fastest[-1]:.2f}")
    table.add_row("slope", f"{np.polyfit(np.log(lengths), np.log(fastest), 1)[0]:.3f}")
    return table


def figure_1(scale: str) -> Table:
    """Time the epochs of figure 1 of Burges, Ragno and Le (2006), factorised (V2) and pair by pair (V1)."""
    from core.experiments import plan, report
    from core.experiments.epoch_times import epoch_milliseconds

    planned = plan("lambdarank-2006", ["figure-1"], "paper" if scale == "paper" else "quick")
    timings = {timing: epoch_milliseconds(timing) for timing in planned.timings}
    (found,) = report(planned, {}, timings).tables
    table = Table(title=found.table.caption)
    table.add_column("")
    for column in found.table.columns:
        table.add_column(column, justify="right")
    for row in found.table.rows:
        cells = (found.cells.get((row, column)) for column in found.table.columns)
        table.add_row(row, *(f"{cell.ours:.3f}" if cell and cell.ours is not None else "" for cell in cells))
    return table


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--epochs", type=int, default=6, help="number of epochs; the fastest after the first counts"
    )
    parser.add_argument("--scale", choices=("quick", "paper"), default="quick", help="scale of figure 1")
    parser.add_argument("--tool", choices=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--scheme", choices=SCHEMES, default=SCHEMES[0], help=argparse.SUPPRESS)
    parser.add_argument(
        "--threads",
        type=int,
        default=os.cpu_count() or 1,
        help="largest number of threads; 1 is measured as well",
    )
    arguments: Any = parser.parse_args()
    if arguments.tool:
        print(json.dumps(measure_here(arguments.tool, arguments.scheme, arguments.epochs, arguments.threads)))
        return
    console = Console()
    for shown in comparison(arguments.epochs, sorted({1, arguments.threads})):
        console.print(shown)
    console.print(growth())
    console.print(figure_1(arguments.scale))


if __name__ == "__main__":
    main()
