"""Milliseconds of a whole boosting iteration: our jobs beside `lightgbm.train`, on three synthetic loads.

All have the same trees, the same data, and ndcg@5 and ndcg@10 on training and validation data, measured after
each iteration unless a row says otherwise. The floor is LightGBM with gradients that are not computed and
without metrics: what the trees alone take. Trainings take turns; a row is the median of their means.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest import mock

import lightgbm
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.loads import LOADS, Load
from benchmarks.objectives import DEFAULT_TRUNCATION, UNTRUNCATED
from core.data import RankingDataset
from core.losses import make_loss
from core.training import TrainingSpec, boosting, train, training_spec, warm_up

METRICS = ["ndcg@5", "ndcg@10"]
BUILT_IN_30, BUILT_IN, FLOOR = (
    "LightGBM lambdarank, truncation 30",
    "LightGBM lambdarank, un-truncated",
    "LightGBM, fixed gradients, no metrics",
)
OURS, OURS_WITHOUT_LOSS, OURS_SELDOM = (
    "ours, lambdarank un-truncated",
    "ours, without the loss curve",
    "ours, metric_interval 10",
)


@dataclass
class Timing:
    """Times of one kind of training.

    Attributes:
        first: Seconds from the call to the end of the first iteration, binning included.
        iterations: Mean milliseconds of the further iterations.
    """

    first: list[float] = field(default_factory=list)
    iterations: list[float] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[Callable[[], None]]:
        """Yield what is to be called after each iteration."""
        moments = [time.perf_counter()]
        yield lambda: moments.append(time.perf_counter())
        self.first.append(moments[1] - moments[0])
        self.iterations.append(1e3 * statistics.mean(np.diff(moments[1:])))


def judged(load: Load, seed: int) -> RankingDataset:
    """Draw a dataset of a load."""
    features, labels = load.draw(seed)
    return RankingDataset.from_arrays(
        features=features, labels=labels, query_boundaries=load.query_boundaries
    )


def ours(
    spec: TrainingSpec, data: tuple[RankingDataset, RankingDataset], threads: int, timing: Timing
) -> None:
    """Train as the worker does."""
    with timing.watching() as iteration_ended:
        train(spec, *data, on_iteration=lambda _report, _snapshot: iteration_ended(), threads=threads)


def theirs(
    parameters: dict[str, Any], rounds: int, data: tuple[RankingDataset, RankingDataset], timing: Timing
) -> None:
    """Train by `lightgbm.train`."""
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


def floor(
    parameters: dict[str, Any], rounds: int, data: tuple[RankingDataset, RankingDataset], timing: Timing
) -> None:
    """Grow trees from gradients that are at hand."""
    train_data = data[0]
    objective = make_loss("lambdarank").prepare(train_data.labels, train_data.query_boundaries)
    fixed = objective(np.zeros(train_data.n_documents), 0)
    with timing.watching() as iteration_ended:
        binned = lightgbm.Dataset(train_data.features, train_data.labels, params=parameters)
        booster = lightgbm.Booster(parameters, binned)
        for _ in range(rounds):
            booster.update(fobj=lambda _scores, _data: fixed)
            iteration_ended()


def measure(load: Load, threads: int, rounds: int, turns: int) -> Table:
    """Measure one load."""
    data = judged(load, 0), judged(replace(load, n_queries=load.n_queries // 3), 1)
    request = {
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": rounds, "num_leaves": 64},
        "metrics": METRICS,
    }
    spec, seldom = training_spec(request), training_spec({**request, "metric_interval": 10})
    common = spec.hyperparameters.lightgbm(spec.seed, threads)
    built_in = {**common, "objective": "lambdarank", "metric": "ndcg", "eval_at": [5, 10]}

    def without_loss(timing: Timing) -> None:
        with mock.patch.object(boosting._Training, "_loss", return_value=0.0):
            ours(spec, data, threads, timing)

    ways: dict[str, Callable[[Timing], None]] = {
        FLOOR: partial(floor, common, rounds, data),
        BUILT_IN_30: partial(
            theirs, {**built_in, "lambdarank_truncation_level": DEFAULT_TRUNCATION}, rounds, data
        ),
        BUILT_IN: partial(theirs, {**built_in, "lambdarank_truncation_level": UNTRUNCATED}, rounds, data),
        OURS: partial(ours, spec, data, threads),
        OURS_WITHOUT_LOSS: without_loss,
        OURS_SELDOM: partial(ours, seldom, data, threads),
    }
    timings = {name: Timing() for name in ways}
    for _ in track(range(turns), f"load {load.name}", transient=True):
        for name, way in ways.items():
            way(timings[name])
    return _table(load, threads, timings)


def _table(load: Load, threads: int, timings: dict[str, Timing]) -> Table:
    table = Table(title=f"load {load.name} ({load.like}-like), {threads} threads of {os.cpu_count()} cores")
    for column in (
        "training",
        "ms an iteration",
        "beside truncation 30",
        "beside the floor",
        "s to the first",
    ):
        table.add_column(column, justify="left" if column == "training" else "right")
    medians = {name: statistics.median(timing.iterations) for name, timing in timings.items()}
    for name, timing in timings.items():
        own = medians[name]
        ratios = (f"{own / medians[other]:.2f}" for other in (BUILT_IN_30, FLOOR))
        table.add_row(name, f"{own:.1f}", *ratios, f"{statistics.median(timing.first):.2f}")
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--loads", default="WXY", help="which of the loads")
    parser.add_argument("--iterations", type=int, default=21, help="of each training")
    parser.add_argument("--turns", type=int, default=3, help="trainings of each row")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    warm_up()
    console = Console()
    for load in LOADS:
        if load.name in options.loads:
            console.print(measure(load, options.threads, options.iterations, options.turns))


if __name__ == "__main__":
    main()
