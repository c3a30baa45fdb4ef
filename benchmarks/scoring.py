"""Microseconds to score documents with one thread, beside LightGBM's predict, measured in turn; medians.

Every score is compared with LightGBM's, bit for bit.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import lightgbm
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.scoring import Forest
from core.types import Float64Array

N_FEATURES = 136
FORESTS = ((500, 64), (1000, 255))
DOCUMENTS = (1, 10, 100, 1000)
TRAINING_DOCUMENTS = 20_000
_MEASURED_SECONDS = 1.5
_MISSING_SHARE = 0.02


def model_text(n_trees: int, n_leaves: int) -> str:
    """Train a forest on values that need many features at once."""
    random = np.random.default_rng(0)
    features = random.normal(size=(TRAINING_DOCUMENTS, N_FEATURES))
    targets = features @ random.normal(size=N_FEATURES) + 3 * np.sin(features[:, 3] * features[:, 5])
    parameters = {
        "objective": "regression",
        "num_leaves": n_leaves,
        "learning_rate": 0.05,
        "feature_fraction": 0.3,
        "min_data_in_leaf": 5,
        "num_threads": 2,
        "verbose": -1,
    }
    data = lightgbm.Dataset(features, targets)
    return str(lightgbm.train(parameters, data, n_trees).model_to_string())


def microseconds(scorers: list[Callable[[], object]]) -> list[float]:
    """Measure in turn until there is enough; returns medians."""
    taken: list[list[float]] = [[] for _ in scorers]
    until = time.monotonic() + _MEASURED_SECONDS
    while time.monotonic() < until or len(taken[0]) < 5:
        for seconds, scorer in zip(taken, scorers, strict=True):
            started = time.perf_counter()
            scorer()
            seconds.append(time.perf_counter() - started)
    return [statistics.median(seconds) * 1e6 for seconds in taken]


def documents(n_documents: int) -> Float64Array:
    """Draw documents, some of whose values are missing."""
    random = np.random.default_rng(n_documents)
    features = random.normal(size=(n_documents, N_FEATURES))
    features[random.random(features.shape) < _MISSING_SHARE] = np.nan
    return features


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    console = Console()
    table = Table("trees", "leaves", "documents", "ours µs", "LightGBM µs", "times", "equal bits")
    for n_trees, n_leaves in FORESTS:
        with console.status(f"training {n_trees} trees of {n_leaves} leaves"):
            text = model_text(n_trees, n_leaves)
        forest, booster = Forest.parse(text), lightgbm.Booster(model_str=text)
        for n_documents in track(DOCUMENTS, f"{n_trees} × {n_leaves}", console=console):
            features = documents(n_documents)

            def ours(features: Float64Array = features, forest: Forest = forest) -> Float64Array:
                return forest.score(features)

            def theirs(
                features: Float64Array = features, booster: lightgbm.Booster = booster
            ) -> Float64Array:
                return np.asarray(booster.predict(features, raw_score=True, num_threads=1))

            equal = np.array_equal(ours(), theirs())
            mine, other = microseconds([ours, theirs])
            table.add_row(
                *(f"{number:,}" for number in (n_trees, n_leaves, n_documents)),
                f"{mine:,.0f}",
                f"{other:,.0f}",
                f"{other / mine:.1f}",
                "yes" if equal else "NO",
            )
    console.print(table)


if __name__ == "__main__":
    main()
