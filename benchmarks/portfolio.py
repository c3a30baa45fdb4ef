"""Automatic trainings compared with their candidates and LightGBM's defaults, on untouched test queries.

Usage: python -m benchmarks.portfolio [--seconds S] [--draws N] [--metric M] [--sizes N …] [FILE …]

Files are split into five folds of queries, each tested by models of the other four; synthetic families have
separate test queries. Regret is the test value of the best candidate minus that of the automatic training.
The best candidate is selected on the test queries, which favours the candidate.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from core.autotrain import AutoSpec, AutoTrained, Trials, Tried, auto_train
from core.data import RankingDataset, read_dataset, sparse_dataset, synthetic_dataset
from core.data.splits import fold_queries
from core.evaluation import measure
from core.evaluation.randomisation import randomisation_p_values
from core.metrics import DEFAULT
from core.scorers import read_model
from core.types import Float64Array
from core.warm_up import warm_up

FOLDS = 5
CLOSE = 0.003
TEST_QUERIES = 500
Family = Callable[[int, int], RankingDataset]


@dataclass(frozen=True)
class Parts:
    """Training queries and test queries."""

    training: RankingDataset
    test: RankingDataset


def _linear(queries: int, seed: int) -> RankingDataset:
    """Draw data with labels by a weighted sum of 20 features, with twice as much noise as signal."""
    generator = np.random.default_rng(seed)
    weights = np.random.default_rng(10_000).normal(size=20)
    features = generator.normal(size=(queries * 20, 20)).astype(np.float32)
    value = features @ weights / np.linalg.norm(weights) + 2.0 * generator.normal(size=len(features))
    return _graded(features, value)


def _embedding(queries: int, seed: int) -> RankingDataset:
    """Draw data with labels by the dot product of two embeddings of 16 numbers, which are the features."""
    generator = np.random.default_rng(seed)
    query = np.repeat(generator.normal(size=(queries, 16)), 20, axis=0)
    documents = generator.normal(size=(queries * 20, 16))
    value = (query * documents).sum(axis=1) / 4.0 + generator.normal(size=len(documents))
    return _graded(np.hstack([query, documents]).astype(np.float32), value)


def _graded(features: np.ndarray, value: Float64Array) -> RankingDataset:
    cuts = np.quantile(value, (0.55, 0.8, 0.92, 0.98))
    labels = np.searchsorted(cuts, value).astype(np.float32)
    return RankingDataset.from_arrays(features, labels, np.arange(0, len(labels) + 1, 20))


def _cubic(queries: int, seed: int, noise: float, features: int = 30) -> RankingDataset:
    return synthetic_dataset(queries, seed, 7, 20, features, noise)


FAMILIES: Mapping[str, Family] = {
    "linear": _linear,
    "cubic": lambda queries, seed: _cubic(queries, seed, 0.5),
    "cubic, noisy": lambda queries, seed: _cubic(queries, seed, 2.0),
    "products of embeddings": _embedding,
    "sparse": lambda queries, seed: sparse_dataset(queries, seed, 7, 60, 30, 0.5, relevant_per_query=4),
}
SIZES = (20, 200, 2_000)


def parts_of_file(path: Path) -> Iterator[Parts]:
    """Split a file into folds."""
    dataset = read_dataset(path)
    for fold in range(1, FOLDS + 1):
        yield Parts(*fold_queries(dataset, FOLDS, fold, 0))


def drawn_parts(family: Family, queries: int, draws: int) -> Iterator[Parts]:
    """Draw training and test queries of a family."""
    for draw in range(draws):
        yield Parts(family(queries, draw), family(TEST_QUERIES, 1_000 + draw))


@dataclass
class Measured:
    """Test values of one training dataset by training method, and the estimates of automatic trainings."""

    values: dict[str, Float64Array]
    estimates: dict[str, float]
    seconds: float
    seconds_by_candidate: dict[str, float]


def measured(parts: Parts, spec: AutoSpec) -> Measured:
    """Train automatically and measure its candidates, fitted on the same queries, on the test queries."""
    found: AutoTrained = auto_train(spec, parts.training)
    trials = Trials(spec, parts.training, threads=1, clock=time.monotonic)
    selected = found.selected

    def scores(each: Tried) -> Float64Array:
        content = trials.fit(each.candidate, each.iterations).content
        return read_model(content).score(parts.test.features)

    def values(total: Float64Array) -> Float64Array:
        return measure(total, parts.test, [spec.metric], DEFAULT)[spec.metric]

    scored = [scores(each) for each in selected.complete]
    tested = {
        each.candidate.name: values(total) for each, total in zip(selected.complete, scored, strict=True)
    }
    estimates = {}
    for prefer in ("simple", "best"):
        chosen = selected.selection.choose(prefer)
        weights = chosen.weights / np.array(selected.scales)
        tested[f"auto, {prefer}"] = values(np.tensordot(weights, np.stack(scored), 1))
        estimates[prefer] = trials.held_out.plain(float(np.nanmean(chosen.values)))
    seconds = {each.candidate.name: each.seconds for each in found.tried}
    return Measured(tested, estimates, sum(found.seconds.values()), seconds)


def table(name: str, runs: Sequence[Measured]) -> Table:
    """Return the means over all test queries of one dataset or family."""
    ways = [way for way in runs[0].values if all(way in run.values for run in runs)]
    pooled = {way: np.concatenate([run.values[way] for run in runs]) for way in ways}
    means = {way: float(np.nanmean(values)) for way, values in pooled.items()}
    best = max((way for way in ways if not way.startswith("auto")), key=means.__getitem__)
    estimate = {prefer: np.mean([run.estimates[prefer] for run in runs]) for prefer in runs[0].estimates}
    made = Table(title=f"{name} ({np.mean([run.seconds for run in runs]):.0f} s a training)")
    for heading in ("model", "test", "own estimate", "regret", "p against the best"):
        made.add_column(heading, justify="right")
    for way in sorted(ways, key=means.__getitem__, reverse=True):
        prefer = way.removeprefix("auto, ")
        own = f"{estimate[prefer]:.4f}" if prefer in estimate else ""
        made.add_row(way, f"{means[way]:.4f}", own, f"{means[best] - means[way]:+.4f}", _p(pooled, best, way))
    return made


def order(runs: Sequence[Measured]) -> Table:
    """Return a table of candidates, sorted by how often each was within .003 of the best, per second."""
    made = Table(title=f"Value per second over {len(runs)} trainings")
    for heading in ("candidate", "within .003 of the best", "mean regret", "seconds"):
        made.add_column(heading, justify="right")
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
        made.add_row(name, f"{close:.0%}", f"{regret:.4f}", f"{seconds:.1f}")
    return made


def _p(pooled: Mapping[str, Float64Array], best: str, way: str) -> str:
    if way == best:
        return ""
    differences = pooled[best] - pooled[way]
    return f"{randomisation_p_values(differences[~np.isnan(differences)][:, np.newaxis], 10_000, 0)[0]:.3f}"


def main() -> None:
    """Print a table for each dataset or family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--metric", default="ndcg@5")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    warm_up()
    spec = AutoSpec(metric=arguments.metric, budget_seconds=arguments.seconds)
    console = Console()
    everything: list[Measured] = []
    for path in arguments.files:
        runs = [measured(parts, spec) for parts in parts_of_file(path)]
        everything += runs
        console.print(table(path.name, runs))
    for name, family in FAMILIES.items() if not arguments.files else ():
        for queries in arguments.sizes:
            runs = [
                measured(parts, replace(spec, seed=draw))
                for draw, parts in enumerate(drawn_parts(family, queries, arguments.draws))
            ]
            everything += runs
            console.print(table(f"{name}, {queries:,} queries", runs))
    console.print(order(everything))


if __name__ == "__main__":
    main()
