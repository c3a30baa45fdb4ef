"""Automatic trainings compared with their candidates and LightGBM's defaults, on untouched test queries.

Usage: python -m benchmarks.portfolio [--seconds S] [--draws N] [--metric M] [--sizes N …] [--families F …]
    [--rivals] [FILE …]

Files are split into five folds of queries, each tested by models trained on the other four; synthetic
families have separate test queries. Regret is the test value of the best candidate minus that of the
automatic training. The best candidate is selected on the test queries, which favours the candidate.
`--rivals` adds a study of 50 trials of trees, FLAML where it is installed, and other ways to fit the best
candidates.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.automatic import Split, splits_of_file
from benchmarks.portfolio_data import FAMILIES, Family
from benchmarks.portfolio_rivals import fitted_scores, flaml_scores, other_fits, study_scores
from core.autotrain import AutoSpec, AutoTrained, Trials, auto_train
from core.evaluation import measure
from core.evaluation.randomisation import randomisation_p_values
from core.metrics import DEFAULT
from core.types import Float64Array
from core.warm_up import warm_up

CLOSE = 0.003
TEST_QUERIES = 500
SIZES = (20, 200, 2_000)


def draw_splits(family: Family, queries: int, draws: int) -> Iterator[Split]:
    """Draw training and test queries of a family."""
    for draw in range(draws):
        yield Split(family(queries, draw), family(TEST_QUERIES, 1_000 + draw))


@dataclass
class Measurements:
    """Measurements on one training dataset.

    Attributes:
        values: (n_queries,) test values by candidate, and of the automatic trainings as `auto, …`.
        rivals: (n_queries,) test values by rival.
        estimates: The automatic training's own estimate of its test value, by `prefer`.
        seconds: Duration of the automatic training.
        seconds_by_candidate: Duration of each candidate.
    """

    values: dict[str, Float64Array]
    rivals: dict[str, Float64Array]
    estimates: dict[str, float]
    seconds: float
    seconds_by_candidate: dict[str, float]


def measure_split(split: Split, spec: AutoSpec, *, rivals: bool) -> Measurements:
    """Train automatically, and measure the training and each of its candidates on the test queries."""
    training: AutoTrained = auto_train(spec, split.training)
    trials = Trials(spec, split.training, threads=1, clock=time.monotonic)
    selected = training.selected

    def values(scores: Float64Array) -> Float64Array:
        return measure(scores, split.test, [spec.metric], DEFAULT)[spec.metric]

    test_scores = [
        fitted_scores(trials, each.candidate, each.iterations, split.test) for each in selected.complete
    ]
    test_values = {
        each.candidate.name: values(scores)
        for each, scores in zip(selected.complete, test_scores, strict=True)
    }
    estimates = {}
    for prefer in ("simple", "best"):
        choice = selected.selection.choose(prefer)
        weights = choice.weights / np.array(selected.selection.scales)
        test_values[f"auto, {prefer}"] = values(np.tensordot(weights, np.stack(test_scores), 1))
        estimates[prefer] = trials.held_out.in_metric_units(float(np.nanmean(choice.values)))
    total_seconds = sum(training.seconds.values())
    rival_values = {}
    if rivals:
        others = {
            "study of 50 trials": study_scores(trials, split.test),
            "FLAML": flaml_scores(spec, split.training, split.test, total_seconds),
            **dict(other_fits(spec, split.training, split.test, list(selected.complete))),
        }
        rival_values = {name: values(scores) for name, scores in others.items() if scores is not None}
    seconds = {each.candidate.name: each.seconds for each in training.tried}
    return Measurements(test_values, rival_values, estimates, total_seconds, seconds)


def table(name: str, runs: Sequence[Measurements]) -> Table:
    """Return the means over all test queries of one dataset or family."""
    models = [model for model in runs[0].values if all(model in run.values for run in runs)]
    rivals = [rival for rival in runs[0].rivals if all(rival in run.rivals for run in runs)]
    pooled = {model: np.concatenate([run.values[model] for run in runs]) for model in models}
    pooled |= {rival: np.concatenate([run.rivals[rival] for run in runs]) for rival in rivals}
    means = {model: float(np.nanmean(values)) for model, values in pooled.items()}
    best = max((model for model in models if not model.startswith("auto")), key=means.__getitem__)
    errors = {model: float(np.nanstd(values) / len(values) ** 0.5) for model, values in pooled.items()}
    estimate = {prefer: np.mean([run.estimates[prefer] for run in runs]) for prefer in runs[0].estimates}
    means_table = Table(title=f"{name} ({np.mean([run.seconds for run in runs]):.0f} s a training)")
    for heading in ("model", "test", "own estimate", "regret", "p against the best"):
        means_table.add_column(heading, justify="right")
    for model in sorted(pooled, key=means.__getitem__, reverse=True):
        prefer = model.removeprefix("auto, ")
        own = f"{estimate[prefer]:.4f}" if prefer in estimate else ""
        test = f"{means[model]:.4f} ± {1.96 * errors[model]:.4f}"
        means_table.add_row(
            model, test, own, f"{means[best] - means[model]:+.4f}", _p_value(pooled, best, model)
        )
    return means_table


def candidate_table(runs: Sequence[Measurements]) -> Table:
    """Return a table of candidates, sorted by the share of runs within .003 of the best, per second."""
    candidates = Table(title=f"Value per second over {len(runs)} trainings")
    for heading in ("candidate", "within .003 of the best", "mean regret", "seconds"):
        candidates.add_column(heading, justify="right")
    names = sorted({name for run in runs for name in run.seconds_by_candidate if name in run.values})
    rows = []
    for name in names:
        tested = [run for run in runs if name in run.values]
        regrets = [
            max(float(np.nanmean(run.values[other])) for other in names if other in run.values)
            - float(np.nanmean(run.values[name]))
            for run in tested
        ]
        seconds = float(np.mean([run.seconds_by_candidate[name] for run in tested]))
        rows.append((name, float(np.mean(np.array(regrets) <= CLOSE)), float(np.mean(regrets)), seconds))
    for name, close, regret, seconds in sorted(rows, key=lambda row: -row[1] / max(row[3], 1e-9)):
        candidates.add_row(name, f"{close:.0%}", f"{regret:.4f}", f"{seconds:.1f}")
    return candidates


def _p_value(pooled: Mapping[str, Float64Array], best: str, model: str) -> str:
    if model == best:
        return ""
    differences = pooled[best] - pooled[model]
    return f"{randomisation_p_values(differences[~np.isnan(differences)][:, np.newaxis], 10_000, 0)[0]:.3f}"


def main() -> None:
    """Print a table for each dataset or family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--metric", default="ndcg@5")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--rivals", action="store_true")
    arguments = parser.parse_args()
    warm_up()
    spec = AutoSpec(metric=arguments.metric, budget_seconds=arguments.seconds)
    console = Console()
    everything: list[Measurements] = []
    for path in arguments.files:
        runs = [measure_split(split, spec, rivals=arguments.rivals) for split in splits_of_file(path, 1)]
        everything += runs
        console.print(table(path.name, runs))
    for name in arguments.families if not arguments.files else ():
        for queries in arguments.sizes:
            runs = [
                measure_split(split, replace(spec, seed=draw), rivals=arguments.rivals)
                for draw, split in enumerate(draw_splits(FAMILIES[name], queries, arguments.draws))
            ]
            everything += runs
            console.print(table(f"{name}, {queries:,} queries", runs))
    console.print(candidate_table(everything))


if __name__ == "__main__":
    main()
