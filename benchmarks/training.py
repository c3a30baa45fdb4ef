"""Whole training jobs as in the worker, compared with `lightgbm.train`, on three synthetic loads.

All trainings have the same tree settings and data. After each iteration they compute ndcg@5 and ndcg@10 on
training and validation data, unless a row is named otherwise. Rankery's jobs run in a worker in this process:
they read stored datasets, report to a database and evaluate a test set at the end. The first job of each turn
has empty caches, the others have cached arrays and bins. `lightgbm.train` gets arrays in memory. The floor is
LightGBM with precomputed gradients and without metrics: the cost of the trees alone. Trainings alternate; the
time of an iteration is the median of means of ten, over all turns.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import lightgbm
import numpy as np
import structlog
from rich.console import Console, Group
from rich.progress import track
from rich.table import Table

from benchmarks.loads import LOADS, Load
from benchmarks.objectives import DEFAULT_TRUNCATION, UNTRUNCATED
from benchmarks.worker import BenchmarkWorker
from core.data import RankingDataset
from core.losses import make_loss
from core.training import training_spec
from core.training.grower import Grower
from core.warm_up import warm_up

METRICS = ["ndcg@5", "ndcg@10"]
BUILT_IN_30, BUILT_IN, FLOOR = (
    "lightgbm.train, truncation 30",
    "lightgbm.train, un-truncated",
    "floor: precomputed gradients, no metrics",
)
OURS, OURS_WITHOUT_LOSS, OURS_SELDOM = (
    "our job, un-truncated",
    "our job without the loss curve",
    "our job with metric_interval 10",
)
# The same as the metric interval above, so that each mean includes one evaluated iteration.
_ITERATIONS_PER_MEAN = 10
_COLUMNS = 110
Datasets = tuple[RankingDataset, RankingDataset]


@dataclass
class Timing:
    """Times of one kind of training over all turns.

    Attributes:
        first: Seconds from the start to the end of the first iteration.
        iterations: Mean milliseconds of each ten further iterations.
        parts: Milliseconds of an iteration by part, only for jobs.
        findings: Seconds of the comparison of the datasets of a job.
        ends: Seconds from the last iteration to the success of a job.
    """

    first: list[float] = field(default_factory=list)
    iterations: list[float] = field(default_factory=list)
    parts: list[Mapping[str, float]] = field(default_factory=list)
    findings: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[Callable[[], None]]:
        """Yield a function to call after each iteration, and record the times."""
        moments = [time.perf_counter()]
        yield lambda: moments.append(time.perf_counter())
        self.first.append(moments[1] - moments[0])
        self.add_iterations((1e3 * np.diff(moments[1:])).tolist())

    def add_iterations(self, milliseconds: list[float]) -> None:
        """Add the times of the iterations of a training after the first."""
        starts = range(0, max(len(milliseconds) - _ITERATIONS_PER_MEAN + 1, 1), _ITERATIONS_PER_MEAN)
        self.iterations += [
            statistics.mean(milliseconds[start : start + _ITERATIONS_PER_MEAN]) for start in starts
        ]


def ours(worker: BenchmarkWorker, spec: Mapping[str, Any], timing: Timing) -> None:
    """Run a training job."""
    times = worker.train(spec)
    timing.first.append(times.first_seconds)
    timing.add_iterations(times.iteration_milliseconds)
    timing.parts.append(times.parts_milliseconds)
    timing.findings.append(times.findings_seconds)
    timing.ends.append(times.end_seconds)


def ours_without_caches(worker: BenchmarkWorker, spec: Mapping[str, Any], timing: Timing) -> None:
    """Run a training job with empty caches."""
    worker.clear_caches()
    ours(worker, spec, timing)


def ours_without_loss(worker: BenchmarkWorker, spec: Mapping[str, Any], timing: Timing) -> None:
    """Run a training job that does not compute its loss curve."""
    with mock.patch.object(Grower, Grower.losses.__name__, return_value=np.zeros(1)):
        ours(worker, spec, timing)


def theirs(parameters: dict[str, Any], rounds: int, data: Datasets, timing: Timing) -> None:
    """Train with `lightgbm.train`."""
    with timing.watching() as iteration_ended:
        binned: list[lightgbm.Dataset] = []
        for part in data:
            binned.append(
                lightgbm.Dataset(
                    part.features,
                    part.labels,
                    group=np.diff(part.query_boundaries),
                    reference=binned[0] if binned else None,
                    params=parameters,
                )
            )
        lightgbm.train(parameters, binned[0], rounds, binned, callbacks=[lambda _: iteration_ended()])


def floor(parameters: dict[str, Any], rounds: int, data: Datasets, timing: Timing) -> None:
    """Train trees with precomputed gradients."""
    train_data = data[0]
    objective = make_loss("lambdarank").prepare(train_data.labels, train_data.query_boundaries)
    fixed = objective(np.zeros(train_data.n_documents), 0)
    with timing.watching() as iteration_ended:
        binned = lightgbm.Dataset(train_data.features, train_data.labels, params=parameters)
        booster = lightgbm.Booster(parameters, binned)
        for _ in range(rounds):
            booster.update(fobj=lambda _scores, _data: fixed)
            iteration_ended()


def measure(load: Load, worker: BenchmarkWorker, threads: int, rounds: int, turns: int) -> Group:
    """Measure one load; return its tables."""
    third = replace(load, n_queries=load.n_queries // 3)
    data = load.dataset(0), third.dataset(1)
    trained_on, validated_on, tested_on = (
        worker.add(f"{load.name}-{role}", dataset)
        for role, dataset in zip(("train", "validation", "test"), (*data, third.dataset(2)), strict=True)
    )
    request = {
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": rounds, "num_leaves": 64},
        "metrics": METRICS,
    }
    job = {
        **request,
        "model_name": f"load-{load.name.lower()}",
        "dataset_id": trained_on,
        "validation": {"dataset_id": validated_on},
        "test_dataset_id": tested_on,
    }
    spec = training_spec(request)
    common = spec.hyperparameters.lightgbm(spec.seed, threads)
    built_in = {**common, "objective": "lambdarank", "metric": "ndcg", "eval_at": [5, 10]}
    truncated = {**built_in, "lambdarank_truncation_level": DEFAULT_TRUNCATION}
    whole = {**built_in, "lambdarank_truncation_level": UNTRUNCATED}
    ways: dict[str, Callable[[Timing], None]] = {
        FLOOR: partial(floor, common, rounds, data),
        BUILT_IN_30: partial(theirs, truncated, rounds, data),
        BUILT_IN: partial(theirs, whole, rounds, data),
        OURS: partial(ours_without_caches, worker, job),
        OURS_WITHOUT_LOSS: partial(ours_without_loss, worker, job),
        OURS_SELDOM: partial(ours, worker, {**job, "metric_interval": 10}),
    }
    timings = {name: Timing() for name in ways}
    for _ in track(range(turns), f"load {load.name}", transient=True):
        for name, way in ways.items():
            way(timings[name])
    return _tables(load, threads, timings)


def _tables(load: Load, threads: int, timings: dict[str, Timing]) -> Group:
    load_average = os.getloadavg()[1]
    title = f"load {load.name}, {load.like}-like: {threads} threads of {os.cpu_count()} cores"
    iterations = Table(title=f"{title}, load average {load_average:.1f}", title_justify="left")
    jobs = Table(title="seconds", title_justify="left")
    for table, columns in (
        (
            iterations,
            ("ms an iteration", "tree", "objective", "metrics", "ratio to truncation 30", "ratio to floor"),
        ),
        (jobs, ("to the first iteration", "comparison of datasets", "last iteration to end")),
    ):
        table.add_column("training", no_wrap=True)
        for column in columns:
            table.add_column(column, justify="right")
    medians = {name: statistics.median(timing.iterations) for name, timing in timings.items()}
    for name, timing in timings.items():
        own = medians[name]
        parts = (_median([one[part] for one in timing.parts]) for part in ("tree", "objective", "metrics"))
        ratios = (f"{own / medians[other]:.2f}" for other in (BUILT_IN_30, FLOOR))
        iterations.add_row(name, f"{own:.1f}", *parts, *ratios)
        jobs.add_row(name, *(_median(values, 2) for values in (timing.first, timing.findings, timing.ends)))
    return Group(iterations, jobs)


def _median(values: list[float], digits: int = 1) -> str:
    return f"{statistics.median(values):.{digits}f}" if values else ""


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--loads", default="WXY", help="loads to measure")
    parser.add_argument("--iterations", type=int, default=21, help="iterations of each training")
    parser.add_argument("--turns", type=int, default=3, help="trainings of each row")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # no log lines between the tables
    warm_up()
    console = Console()
    console.width = max(console.width, _COLUMNS)
    with tempfile.TemporaryDirectory(prefix="rankery-bench-") as folder:
        worker = BenchmarkWorker(Path(folder), options.threads)
        for load in LOADS:
            if load.name in options.loads:
                console.print(measure(load, worker, options.threads, options.iterations, options.turns))
        worker.close()


if __name__ == "__main__":
    main()
