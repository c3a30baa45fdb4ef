"""Automatic trainings beside their own candidates and LightGBM's defaults, on queries that chose nothing.

Usage: python -m benchmarks.portfolio [--seconds S] [--draws N] [--metric M] [FILE …]

Files are parted into five folds of queries, each tested by models of the other four; drawn families have test
queries of their own. Regret is the test value of the best candidate, chosen afterwards by the test queries
themselves, less that of the automatic training: it is optimistic for the candidate.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from core.autotrain import AutoSpec, AutoTrained, auto_train
from core.autotrain.search import fit_again
from core.data import RankingDataset, read_dataset, sparse_dataset, synthetic_dataset
from core.data.splits import fold_queries
from core.evaluation import measure
from core.evaluation.randomisation import randomisation_p_values
from core.metrics import DEFAULT
from core.scorers import read_model
from core.types import Float64Array
from core.warm_up import warm_up

FOLDS = 5
TEST_QUERIES = 500
DEFAULT_TREES = "LightGBM's default trees"
Family = Callable[[int, int], RankingDataset]


@dataclass(frozen=True)
class Parts:
    """Queries to learn from, and queries to measure on."""

    training: RankingDataset
    test: RankingDataset


def _linear(queries: int, seed: int) -> RankingDataset:
    """Labels by a weighted sum of 20 features, with twice as much noise as signal."""
    generator = np.random.default_rng(seed)
    weights = np.random.default_rng(10_000).normal(size=20)
    features = generator.normal(size=(queries * 20, 20)).astype(np.float32)
    value = features @ weights / np.linalg.norm(weights) + 2.0 * generator.normal(size=len(features))
    return _graded(features, value)


def _embedding(queries: int, seed: int) -> RankingDataset:
    """Labels by the product of two embeddings of 16 numbers, whose entries are the features."""
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
SIZES = (40, 200, 1_000)


def parts_of_file(path: Path) -> Iterator[Parts]:
    """Part a file into folds."""
    dataset = read_dataset(path)
    for fold in range(1, FOLDS + 1):
        yield Parts(*fold_queries(dataset, FOLDS, fold, 0))


def drawn_parts(family: Family, queries: int, draws: int) -> Iterator[Parts]:
    """Draw training and test queries of a family."""
    for draw in range(draws):
        yield Parts(family(queries, draw), family(TEST_QUERIES, 1_000 + draw))


@dataclass
class Measured:
    """Test values of one training dataset, by way, and the estimates of the automatic trainings."""

    values: dict[str, Float64Array]
    estimates: dict[str, float]
    seconds: float


def measured(parts: Parts, spec: AutoSpec) -> Measured:
    """Train automatically and measure its candidates, fitted on the same queries, on the test queries."""
    found: AutoTrained = auto_train(spec, parts.training)

    def values(content: bytes) -> Float64Array:
        scores = read_model(content).score(parts.test.features)
        return measure(scores, parts.test, [spec.metric], DEFAULT)[spec.metric]

    tested = {each.candidate.name: values(fit_again(spec, parts.training, each)) for each in found.complete}
    estimates = {}
    for prefer in ("simple", "best"):
        chosen = found.chosen_by(prefer)
        total = np.zeros(parts.test.n_documents)
        for place in chosen.members:
            each = found.complete[place]
            model = read_model(fit_again(spec, parts.training, each))
            total += chosen.weights[place] / found.scales[place] * model.score(parts.test.features)
        tested[f"auto, {prefer}"] = measure(total, parts.test, [spec.metric], DEFAULT)[spec.metric]
        estimates[prefer] = found.held_out.plain(float(np.nanmean(chosen.values)))
    return Measured(tested, estimates, sum(found.seconds.values()))


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


def _p(pooled: Mapping[str, Float64Array], best: str, way: str) -> str:
    if way == best:
        return ""
    differences = pooled[best] - pooled[way]
    return f"{randomisation_p_values(differences[~np.isnan(differences)][:, np.newaxis], 10_000, 0)[0]:.3f}"


def main() -> None:
    """Print a table a dataset or family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--metric", default="ndcg@5")
    arguments = parser.parse_args()
    warm_up()
    spec = AutoSpec(metric=arguments.metric, seconds=arguments.seconds)
    console = Console()
    for path in arguments.files:
        console.print(table(path.name, [measured(parts, spec) for parts in parts_of_file(path)]))
    for name, family in FAMILIES.items() if not arguments.files else ():
        for queries in SIZES:
            runs = [
                measured(parts, replace(spec, seed=draw))
                for draw, parts in enumerate(drawn_parts(family, queries, arguments.draws))
            ]
            console.print(table(f"{name}, {queries:,} queries", runs))


if __name__ == "__main__":
    main()
