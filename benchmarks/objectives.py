"""Milliseconds of every loss, compared with LightGBM's built-in objective, on three synthetic loads.

The cost of the built-in objective is the time of its iteration minus that of an iteration with precomputed
gradients. Measurements alternate, on the scores of a running training, and medians are printed.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.loads import LOADS, Load
from core.losses import LOSSES, make_loss
from core.ranges import use_threads
from core.types import Float64Array
from core.warm_up import warm_up

Options = dict[str, Any]
PAIR_SELECTIONS = ("static", "random", "all", "all-static", "all-random")
UNTRUNCATED, DEFAULT_TRUNCATION, CUTOFF = 100_000, 30, 10


def cases() -> list[tuple[str, Options]]:
    """Return every loss with its defaults, then losses with options."""
    found: list[tuple[str, Options]] = [(name, {}) for name in LOSSES]
    found += [("lambdarank", {"target": target}) for target in ("map", "mrr", "err", "rbp")]
    found += [("lambdarank", {"truncation_level": level}) for level in (CUTOFF, DEFAULT_TRUNCATION)]
    found += [
        ("lambdarank", {"truncation_level": CUTOFF, "pair_selection": selection})
        for selection in PAIR_SELECTIONS
    ]
    found += [("lambdarank", {"normalization": "lightgbm"})]
    found += [("lambdarank", {"assignment": "soft", "samples": 8})]
    return found


def label_of(name: str, options: Options) -> str:
    """Return the label of a case."""
    return " ".join([name, *(f"{key}={value}" for key, value in options.items())])


def milliseconds(action: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1e3


class Trainings:
    """Trainings with LightGBM's objective and with Rankery's on one load, which advance alternately."""

    def __init__(self, load: Load, threads: int) -> None:
        features, self.labels = load.draw()
        self.boundaries = load.query_boundaries
        common = {"num_threads": threads, "verbosity": -1, "metric": "none", "force_col_wise": True}
        data = lightgbm.Dataset(
            features, self.labels, group=np.diff(self.boundaries), params=common, free_raw_data=False
        ).construct()
        self.built_in = {
            level: lightgbm.Booster(
                {**common, "objective": "lambdarank", "lambdarank_truncation_level": level}, data
            )
            for level in (UNTRUNCATED, DEFAULT_TRUNCATION)
        }
        custom = {**common, "objective": "none"}
        self.ours, self.fixed = lightgbm.Booster(custom, data), lightgbm.Booster(custom, data)
        self.objective = make_loss("lambdarank").prepare(self.labels, self.boundaries)
        self.scores: Float64Array = np.zeros(len(self.labels))
        gradient, hessian = self.objective(self.scores, 0)
        self._gradients = gradient.copy(), hessian.copy()

    def ours_once(self) -> None:
        """Run one iteration of our un-truncated loss, and keep its scores."""

        def gradients(scores: Float64Array, _: object) -> Any:
            self.scores = scores.copy()
            return self.objective(scores, 0)

        self.ours.update(fobj=gradients)

    def fixed_once(self) -> None:
        """Run one iteration with precomputed gradients."""
        self.fixed.update(fobj=lambda _scores, _data: self._gradients)


def measure(load: Load, threads: int, repeats: int, only: str) -> tuple[Table, Table]:
    """Measure one load; return the tables of objectives and iterations."""
    trainings = Trainings(load, threads)
    wanted = [(name, options) for name, options in cases() if only in label_of(name, options)]
    objectives = {
        label_of(name, options): make_loss(name, **options).prepare(trainings.labels, trainings.boundaries)
        for name, options in wanted
    }
    times: dict[str, list[float]] = {}
    for repeat in track(range(repeats + 1), f"load {load.name}", transient=True):
        round_times = {
            "fixed gradients": milliseconds(trainings.fixed_once),
            "built-in, un-truncated": milliseconds(trainings.built_in[UNTRUNCATED].update),
            "built-in, truncation 30": milliseconds(trainings.built_in[DEFAULT_TRUNCATION].update),
            "ours, un-truncated": milliseconds(trainings.ours_once),
        }
        for label, objective in objectives.items():
            round_times[label] = milliseconds(partial(objective, trainings.scores, repeat))
        if repeat > 0:  # the first round warms caches and threads
            for label, taken in round_times.items():
                times.setdefault(label, []).append(taken)
    medians = {label: statistics.median(taken) for label, taken in times.items()}
    return _objective_table(load, threads, medians, list(objectives)), _iteration_table(load, medians)


def _objective_table(load: Load, threads: int, medians: dict[str, float], labels: list[str]) -> Table:
    table = Table(title=f"load {load.name} ({load.like}-like), {threads} threads of {os.cpu_count()} cores")
    for column in ("objective", "ms a call", "built-in / ours, un-truncated", "ours / lambdarank"):
        table.add_column(column, justify="left" if column == "objective" else "right")
    fixed = medians["fixed gradients"]
    built_in = medians["built-in, un-truncated"] - fixed
    table.add_row("LightGBM lambdarank, un-truncated", f"{built_in:.1f}", "1.0", "")
    truncated = medians["built-in, truncation 30"] - fixed
    table.add_row("LightGBM lambdarank, truncation 30", f"{truncated:.1f}", f"{built_in / truncated:.1f}", "")
    for label in labels:
        own = medians[label]
        beside = f"{own / medians['lambdarank']:.2f}" if "lambdarank" in medians else ""
        table.add_row(label, f"{own:.2f}", f"{built_in / own:.1f}", beside)
    return table


def _iteration_table(load: Load, medians: dict[str, float]) -> Table:
    table = Table("iteration", "ms", title=f"load {load.name}: whole boosting iterations")
    for label in (
        "fixed gradients",
        "built-in, un-truncated",
        "built-in, truncation 30",
        "ours, un-truncated",
    ):
        table.add_row(label, f"{medians[label]:.1f}")
    return table


def measure_growth(threads: int, repeats: int) -> Table:
    """Return a table of times by length of a query with 5 relevant documents; the slope is the exponent."""
    lengths = (250, 500, 1_000, 2_000, 4_000, 8_000)
    table = Table(
        "documents a query", "µs a query", title=f"un-truncated lambdarank, 5 relevant, {threads} threads"
    )
    generator = np.random.default_rng(0)
    taken = []
    for length in lengths:
        n_queries = 800_000 // length
        labels = np.zeros((n_queries, length))
        labels[:, :5] = [1, 2, 3, 4, 1]
        objective = make_loss("lambdarank").prepare(labels.ravel(), np.arange(n_queries + 1) * length)
        rounds = []
        for _ in range(repeats):
            scores = generator.normal(size=labels.size)
            rounds.append(milliseconds(partial(objective, scores, 0)))
        taken.append(statistics.median(rounds) / n_queries * 1e3)
        table.add_row(str(length), f"{taken[-1]:.1f}")
    slope = np.polyfit(np.log(lengths), np.log(taken), 1)[0]
    table.add_row("log-log slope", f"{slope:.3f}")
    return table


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repeats", type=int, default=9, help="measurements of each row; the median is printed"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--loads", default="WXY")
    parser.add_argument("--only", default="", help="measure only the cases whose label contains this text")
    arguments = parser.parse_args()
    use_threads(arguments.threads)
    warm_up()
    console = Console()
    for load in LOADS:
        if load.name in arguments.loads:
            for table in measure(load, arguments.threads, arguments.repeats, arguments.only):
                console.print(table)
    console.print(measure_growth(arguments.threads, arguments.repeats))


if __name__ == "__main__":
    main()
