"""A training on 2 and 3 ranks compared with one process: time, memory, traffic, recovery, predictions.

Jobs run as in a worker, each in a separate process, with a real store and empty caches. Ranks are
processes of this machine and share its processors, so their times show no speed-up by more machines. The
speed-up is predicted from one rank alone on parts of the documents and from the measured cost of an exchange.
Where the system allows, the prediction is compared with a loopback of 1 Gbit/s a rank.
"""

import argparse
import itertools
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import structlog
from rich.console import Console
from rich.table import Table

from benchmarks.distributed_job import Outcome, Task, can_limit_bandwidth, run_task
from benchmarks.exchange import Exchange
from benchmarks.exchange import measure as measure_exchange
from benchmarks.loads import LOADS, Load
from benchmarks.prediction import Computation, Volume, predicted_seconds
from benchmarks.worker import BenchmarkWorker
from core.training import training_spec
from core.training.bin_edges import bin_edges
from core.training.grower import lightgbm_parameters
from worker import WorkerSettings

LEAVES = 64
SHARES = (1.0, 1 / 2, 1 / 4, 1 / 8)
RANKS = (2, 3)
PREDICTED = (2, 4, 8, 16, 32, 64)
GIGABITS = (1.0, 10.0, 100.0)
ISTELLA_X = 26_800_000, 220
FAULTS = (("rank 1 histograms", "SIGKILL"), ("rank 1 histograms", "SIGSTOP"))
_SILENCE_SECONDS: float = WorkerSettings.model_fields["rank_silence_seconds"].default
_MEBIBYTE = 2**20
_COLUMNS = 120


@dataclass(frozen=True)
class Bench:
    """The stored data of a benchmark.

    Attributes:
        folder: Folder of the service's data.
        load: All documents.
        datasets: Ids of datasets by their share of the documents.
        iterations: Iterations of each training.
        bins: Number of bins in the histogram of a leaf.
    """

    folder: Path
    load: Load
    datasets: Mapping[float, str]
    iterations: int
    bins: int

    def run(self, n_ranks: int = 1, share: float = 1.0, **task: Any) -> Outcome:
        """Train in one process or on several ranks, with empty caches."""
        ranks = {"ranks": {"at_least": n_ranks, "at_most": n_ranks}, "threads_per_rank": 1}
        spec = {**_training_request(self.iterations), "model_name": "w", "dataset_id": self.datasets[share]}
        if n_ranks > 1:
            spec["distribution"] = ranks
        return run_task(Task(str(self.folder), spec, **task))


def _training_request(iterations: int) -> dict[str, Any]:
    return {
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": iterations, "num_leaves": LEAVES},
        "metrics": ["ndcg@10"],
    }


def store(folder: Path, times: int, iterations: int) -> Bench:
    """Generate the load, and store the whole load and parts of it as datasets."""
    worker = BenchmarkWorker(folder, 1)
    load = replace(LOADS[0], n_queries=LOADS[0].n_queries * times)
    datasets, bins = {}, 0
    for share in SHARES:
        part = replace(load, n_queries=int(load.n_queries * share)).dataset()
        datasets[share] = worker.add(f"share-{share:g}", part)
        if share == 1.0:
            spec = training_spec(_training_request(1))
            parameters = lightgbm_parameters(spec, part, 1)
            edges = bin_edges(part.features, spec.hyperparameters.binning(), parameters)
            bins = sum(edges.feature_num_bin(column) for column in range(part.n_features))
    worker.close()
    return Bench(folder, load, datasets, iterations, bins)


def ms(outcome: Outcome) -> float:
    """Return the median milliseconds of an iteration."""
    return statistics.median(outcome.times.iteration_milliseconds)


def times_and_memory(one: Outcome, of_ranks: Mapping[int, Outcome]) -> Iterator[Table]:
    """Yield tables of times and memory of one process and of ranks."""
    times = _table(
        "measured", "ms an iteration", "tree", "objective", "exchange", "seconds to the first tree"
    )
    memory = _table("peak memory, MiB", "with mapped files", "private", "driver, private")
    own = one.anonymous_bytes["process"]
    times.add_row("one process", *_times(one))
    memory.add_row("one process", f"{one.peak_bytes / _MEBIBYTE:,.0f}", f"{own / _MEBIBYTE:,.0f}")
    for number, outcome in of_ranks.items():
        times.add_row(f"{number} ranks", *_times(outcome))
        peak = max(rank["peak_memory_bytes"] for rank in outcome.times.ranks[-1])
        of_rank = max(size for name, size in outcome.anonymous_bytes.items() if name != "process")
        memory.add_row(
            f"the largest of {number} ranks",
            f"{peak / _MEBIBYTE:,.0f} ({peak / one.peak_bytes:.2f})",
            f"{of_rank / _MEBIBYTE:,.0f} ({of_rank / own:.2f})",
            f"{outcome.anonymous_bytes['process'] / _MEBIBYTE:,.0f}",
        )
    yield times
    yield memory


def _times(outcome: Outcome) -> Iterator[str]:
    parts = outcome.times.parts_milliseconds
    yield f"{ms(outcome):.0f}"
    yield from (f"{parts.get(part, 0):.0f}" for part in ("tree", "objective", "exchange"))
    yield f"{outcome.times.first_seconds:.1f}"


def traffic(volume: Volume, of_ranks: Mapping[int, Outcome]) -> Table:
    """Return a table of the measured and predicted bytes of an iteration, and their times."""
    table = _table(
        "ranks",
        "MB an iteration and rank",
        "formula",
        "histograms",
        "difference",
        "exchange, share of time",
    )
    for number, outcome in of_ranks.items():
        sent = [sum(rank["sent_bytes"] for rank in ranks) for ranks in outcome.times.ranks]
        measured = statistics.median(after - before for before, after in itertools.pairwise(sent))
        each, formula = measured / number, volume.sent_bytes(number)
        table.add_row(
            str(number),
            f"{each / 1e6:.2f}",
            f"{formula / 1e6:.2f}",
            f"{volume.histogram_bytes(number) / 1e6:.2f}",
            f"{each / formula - 1:+.2%}",
            f"{outcome.times.parts_milliseconds['exchange'] / ms(outcome):.0%}",
        )
    return table


def recoveries(outcomes: Mapping[tuple[str, str], Outcome]) -> Table:
    """Return a table of the seconds that a training pauses when a rank is lost."""
    table = _table("fault of one of 3 ranks", "seconds to the next tree", "seconds until detection")
    for (name, signal), outcome in outcomes.items():
        noticed = _SILENCE_SECONDS if signal == "SIGSTOP" else 0.0
        table.add_row(
            f"{signal} at {name.rpartition(' ')[2]}", f"{outcome.recovery_seconds:.1f}", f"{noticed:.1f}"
        )
    return table


def predictions(title: str, computation: Computation, volume: Volume, exchange: Exchange) -> Table:
    """Return a table of predicted iteration times on many machines."""
    table = _table(
        f"predicted: {title}",
        *(f"{gigabits:g} GbE, s" for gigabits in GIGABITS),
        "MB a rank",
        "one machine, s",
    )
    alone = computation.seconds(1)
    for number in PREDICTED:
        found = [predicted_seconds(computation, volume, exchange, number, gigabits) for gigabits in GIGABITS]
        table.add_row(
            f"{number} machines",
            *(f"{seconds:.2f} ({alone / seconds:.1f}×)" for seconds in found),
            f"{volume.sent_bytes(number) / 1e6:.1f}",
            f"{alone:.2f}",
        )
    return table


def predicted_and_measured(
    computation: Computation,
    volume: Volume,
    exchange: Exchange,
    measured: Sequence[tuple[int, float | None, Outcome]],
) -> Table:
    """Return a table of predictions and measurements on this machine."""
    table = _table("ranks here", "bandwidth of each", "predicted, s", "measured, s", "exchange, s")
    for number, gigabits, outcome in measured:
        predicted = predicted_seconds(computation, volume, exchange, number, gigabits)
        table.add_row(
            str(number),
            "loopback" if gigabits is None else f"{gigabits:g} Gbit/s",
            f"{predicted:.2f}",
            f"{ms(outcome) / 1e3:.2f}",
            f"{outcome.times.parts_milliseconds['exchange'] / 1e3:.2f}",
        )
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(title_justify="left")
    table.add_column(first, no_wrap=True)
    for column in others:
        table.add_column(column, justify="right")
    return table


def measure(bench: Bench, show: Callable[[Any], None], *, faults: bool) -> None:
    """Run all measurements and show each result."""
    volume = Volume(bench.bins, LEAVES)
    parts = {share: bench.run(share=share) for share in SHARES}
    of_ranks = {number: bench.run(number) for number in RANKS}
    for table in times_and_memory(parts[1.0], of_ranks):
        show(table)
    show(traffic(volume, of_ranks))
    if faults:
        show(recoveries({fault: bench.run(3, fault=fault) for fault in FAULTS}))
    exchange = measure_exchange()
    show(
        f"an exchange: {1e3 * exchange.round_seconds:.2f} ms, {1e3 * exchange.peer_seconds:.2f} ms for each"
        f" further rank, {1e9 * exchange.byte_seconds:.2f} ns a byte; {volume.rounds} of them a tree"
    )
    computation = Computation.fit(SHARES, [ms(parts[share]) / 1e3 for share in SHARES])
    show(
        f"one rank alone: {computation.compute_seconds:.3f} s for all documents,"
        f" {computation.fixed_seconds:.3f} s fixed; measured "
        + ", ".join(f"{share:g}: {ms(part) / 1e3:.3f} s" for share, part in parts.items())
    )
    measured: list[tuple[int, float | None, Outcome]] = [(2, None, of_ranks[2])]
    if can_limit_bandwidth():
        # All ranks share the bandwidth of loopback.
        measured += [(2, rate, bench.run(2, gigabits=2 * rate)) for rate in (1.0, 0.2)]
    else:
        show("no network namespaces here, or no tbf: nothing was measured with less bandwidth")
    show(predicted_and_measured(computation, volume, exchange, measured))
    load = bench.load
    documents = load.n_queries * load.n_per_query
    show(predictions(f"{documents:,} × {load.n_features}", computation, volume, exchange))
    more, features = ISTELLA_X
    ratio = features / load.n_features
    larger = replace(volume, bins=int(volume.bins * ratio))
    title = f"{more:,} × {features}, extrapolated"
    show(predictions(title, computation.scaled(more / documents, ratio), larger, exchange))


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=4, help="multiple of the 240,000 documents of load W")
    parser.add_argument("--iterations", type=int, default=10, help="iterations of each training")
    parser.add_argument("--no-faults", action="store_true", help="do not kill or freeze ranks")
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # no log lines between the tables
    console = Console()
    console.width = max(console.width, _COLUMNS)
    with tempfile.TemporaryDirectory(prefix="rankery-bench-") as folder:
        with console.status("drawing and storing the data"):
            bench = store(Path(folder), options.times, options.iterations)
        load = bench.load
        console.print(
            f"{load.n_queries * load.n_per_query:,} documents × {load.n_features}, {LEAVES} leaves, one"
            f" thread a rank; {os.cpu_count()} cores, loopback, load average {os.getloadavg()[0]:.1f}"
        )
        measure(bench, console.print, faults=not options.no_faults)


if __name__ == "__main__":
    main()
