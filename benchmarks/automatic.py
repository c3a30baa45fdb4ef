"""NDCG@10 of automatic hyperparameters, the defaults and a random search, on held-out queries.

Usage: python -m benchmarks.automatic [FILE …]

Files are split into five folds of queries, each tested by models trained on the other four; synthetic data
have separate test queries. With validation, a fifth of the training queries selects the best iteration, and
the best point of the random search; without validation, all iterations are kept. Differences are paired by
query and tested by Fisher's randomisation test.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.data import RankingDataset, read_dataset, split_queries, synthetic_dataset
from core.data.splits import fold_queries
from core.evaluation.randomisation import randomisation_p_values
from core.metrics import parse_metric
from core.scoring import Forest
from core.training import TrainedRanker, train, training_spec
from core.training.automatic import DatasetSize, hyperparameters_by_size
from core.types import Float64Array
from core.warm_up import warm_up

METRIC = "ndcg@10"
QUERIES = (50, 150, 500, 1_500, 5_000)
FOLDS = 5
_MAX_REPEATED_QUERIES = 500  # with more training queries, only one polynomial is drawn
DEFAULTS, AUTO, SEARCH = "defaults", "auto", "random search"


@dataclass(frozen=True)
class Split:
    """Training and test queries."""

    training: RankingDataset
    test: RankingDataset


def splits_of_file(path: Path, repetitions: int) -> Iterator[Split]:
    """Split a file into folds, with a different split in each repetition."""
    dataset = read_dataset(path)
    for seed in range(repetitions):
        for fold in range(1, FOLDS + 1):
            yield Split(*fold_queries(dataset, FOLDS, fold, seed))


def synthetic_splits(queries: int, polynomials: int) -> Iterator[Split]:
    """Draw training and test queries of several polynomials, with as much noise as signal."""
    drawn: dict[str, Any] = {"documents_per_query": 20, "n_features": 50, "noise": 1.0}
    for number in range(polynomials):
        training = synthetic_dataset(queries, number, number, **drawn)
        yield Split(training, synthetic_dataset(500, 1_000 + number, number, **drawn))


def train_ranker(
    loss: str, training: RankingDataset, validation: RankingDataset | None, hyperparameters: Mapping[str, Any]
) -> TrainedRanker:
    """Train on one thread, and keep the best iteration by validation data."""
    interval = 5 if validation is not None else hyperparameters.get("num_iterations", 100)
    spec = training_spec(
        {
            "loss": {"name": loss},
            "hyperparameters": hyperparameters,
            "metrics": [METRIC],
            "metric_interval": interval,
        }
    )
    return train(spec, training, validation)


def metric_values(ranker: TrainedRanker, test: RankingDataset) -> Float64Array:
    """Return the metric of each test query."""
    scores = Forest.parse(ranker.model_text).score(test.features, 1)
    measured: Float64Array = np.asarray(parse_metric(METRIC)(scores, test.labels, test.query_boundaries))
    return measured


def draw(generator: np.random.Generator) -> dict[str, Any]:
    """Draw hyperparameters for the random search."""
    return {
        "num_leaves": int(np.exp(generator.uniform(np.log(2), np.log(128)))),
        "min_data_in_leaf": int(np.exp(generator.uniform(np.log(3), np.log(200)))),
        "learning_rate": float(np.exp(generator.uniform(np.log(0.02), np.log(0.2)))),
        "num_iterations": 300,
    }


def best_of_search(
    loss: str, training: RankingDataset, validation: RankingDataset, draws: int, seed: int
) -> TrainedRanker:
    """Return the best model of a random search by the validation queries."""
    generator = np.random.default_rng(seed)
    rankers = (train_ranker(loss, training, validation, draw(generator)) for _ in range(draws))
    return max(rankers, key=lambda ranker: float(np.nanmean(metric_values(ranker, validation))))


def measure(loss: str, split: Split, draws: int, seed: int) -> dict[tuple[str, str], Float64Array]:
    """Return the test values by protocol and source of the hyperparameters."""
    sources: dict[str, Mapping[str, Any]] = {DEFAULTS: {}, AUTO: automatic_hyperparameters(split.training)}
    training, validation = split_queries(split.training, 0.2, seed)
    measured = {}
    for source, hyperparameters in sources.items():
        measured["no validation", source] = metric_values(
            train_ranker(loss, split.training, None, hyperparameters), split.test
        )
        measured["validation", source] = metric_values(
            train_ranker(loss, training, validation, hyperparameters), split.test
        )
    if draws:
        best = best_of_search(loss, training, validation, draws, seed)
        measured["validation", SEARCH] = metric_values(best, split.test)
    return measured


def automatic_hyperparameters(training: RankingDataset) -> dict[str, Any]:
    """Return the automatic hyperparameters of a dataset."""
    return hyperparameters_by_size(DatasetSize(training.n_queries, training.n_documents, training.n_features))


def table(name: str, loss: str, splits: list[Split], draws: int) -> Table:
    """Measure one dataset; each row is a protocol."""
    measured = [
        measure(loss, split, draws, seed) for seed, split in enumerate(track(splits, name, transient=True))
    ]
    pooled = {key: np.concatenate([one[key] for one in measured]) for key in measured[0]}
    training = splits[0].training
    sizes = ", ".join(
        f"{value:g} {parameter}" for parameter, value in automatic_hyperparameters(training).items()
    )
    rows = Table(title=f"{name}: {training.n_queries:,} queries, {training.n_documents:,} documents: {sizes}")
    rows.add_column("protocol")
    for heading in (DEFAULTS, AUTO, "difference", "p", SEARCH, "difference from auto", "p"):
        rows.add_column(heading, justify="right")
    for protocol in ("no validation", "validation"):
        defaults, auto = pooled[protocol, DEFAULTS], pooled[protocol, AUTO]
        defined = np.isfinite(defaults) & np.isfinite(auto)
        cells = [f"{defaults[defined].mean():.4f}", f"{auto[defined].mean():.4f}"]
        cells += _difference(auto - defaults, defined)
        tuned = pooled.get((protocol, SEARCH))
        if tuned is not None:
            cells += [f"{tuned[defined].mean():.4f}", *_difference(tuned - auto, defined)]
        rows.add_row(protocol, *cells)
    return rows


def _difference(differences: Float64Array, defined: Any) -> tuple[str, str]:
    (p,) = randomisation_p_values(differences[defined][:, None], 10_000)
    return f"{differences[defined].mean():+.4f}", f"{p:.3f}"


def main() -> None:
    """Measure files and synthetic data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--loss", default="lambdarank")
    parser.add_argument("--draws", type=int, default=10, help="draws of the random search; 0 for none")
    parser.add_argument(
        "--repetitions", type=int, default=4, help="repetitions of the folds, and number of polynomials"
    )
    parser.add_argument(
        "--queries", type=int, nargs="*", default=QUERIES, help="numbers of synthetic queries"
    )
    given = parser.parse_args()
    warm_up()
    console = Console(width=130)
    console.print(f"{METRIC} on held-out queries, {given.loss}")
    for path in given.files:
        splits = list(splits_of_file(path, given.repetitions))
        console.print(table(path.parent.name, given.loss, splits, given.draws))
    for queries in given.queries:
        polynomials = given.repetitions if queries <= _MAX_REPEATED_QUERIES else 1
        splits = list(synthetic_splits(queries, polynomials))
        console.print(table("synthetic", given.loss, splits, given.draws))


if __name__ == "__main__":
    main()
