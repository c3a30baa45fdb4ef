"""Benefit of click corrections on simulated logs: errors of propensities, and NDCG of models.

Users of four user models see the lists of two production rankers, one of a single feature and one trained on
judgments. In a share of the lists the first rank is swapped with another. Rankers are trained on raw clicks,
on corrected clicks and on judgments.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.clicks.log import ClickLog
from core.clicks.propensities import Propensities, PropensityPlan, error_of, estimate_propensities
from core.clicks.simulation import SimulationPlan, Truth, simulate
from core.clicks.training_data import rows_of_pairs, training_data
from core.clicks.users import KINDS, UserModel
from core.data import RankingDataset
from core.data.synthetic import synthetic_dataset
from core.errors import InvalidInput
from core.evaluation import measure
from core.ranges import use_threads
from core.scorers import read_model
from core.training import train, training_spec
from core.types import Float64Array

QUERIES, TEST_QUERIES, RANKS = 400, 1_000, 10
METRIC = "ndcg@10"
RANKERS = ("one feature", "judgments")
SWAP_SHARE = 0.1
IMPRESSIONS = (10**4, 10**5, 10**6)
TREES = {"num_iterations": 30, "num_leaves": 15, "learning_rate": 0.15}


@dataclass(frozen=True)
class SimulatedSearch:
    """Judged documents, whose labels are one polynomial of their features.

    Attributes:
        shown: Queries of users; production rankers and models of clicks do not use their judgments.
        test: Judged queries for the evaluation of models.
        scores: (n_documents,) scores of each production ranker, by name.
    """

    shown: RankingDataset
    test: RankingDataset
    scores: dict[str, Float64Array]

    @classmethod
    def draw(cls) -> "SimulatedSearch":
        """Draw the documents, and train a production ranker on judgments of other queries."""
        shape: dict[str, Any] = {"documents_per_query": 2 * RANKS, "n_features": 10, "noise": 0.3}
        shown = synthetic_dataset(QUERIES, 1, **shape)
        model = fit(synthetic_dataset(QUERIES // 4, 3, **shape), "lambdarank", None)
        labels, features = shown.labels, shown.matrix
        strongest = max(
            range(features.shape[1]), key=lambda f: abs(np.corrcoef(features[:, f], labels)[0, 1])
        )
        sign = np.sign(np.corrcoef(features[:, strongest], labels)[0, 1])
        scores = dict(zip(RANKERS, (sign * features[:, strongest], model.score(features, 1)), strict=True))
        return cls(shown, synthetic_dataset(TEST_QUERIES, 2, **shape), scores)

    def log(self, ranker: str, kind: str, impressions: int) -> tuple[ClickLog, Truth]:
        """Simulate a click log on the lists of a ranker; return it with the true propensities."""
        plan = SimulationPlan(
            lists=impressions // RANKS, cutoff=RANKS, swaps="first", swap_share=SWAP_SHARE, seed=7
        )
        return simulate(self.shown, [self.scores[ranker]], UserModel(kind), plan)


def fit(data: RankingDataset, loss: str, clicks: dict[str, Any] | None) -> Any:
    """Train trees, and return the scoring model."""
    values = {"loss": {"name": loss}, "clicks": clicks, "hyperparameters": TREES, "metrics": [METRIC]}
    spec = training_spec(values | {"metric_interval": TREES["num_iterations"]})
    return read_model(train(spec, data, threads=1).content)


def corrections(log: ClickLog, shown: RankingDataset) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Yield the name, the loss and the options of each correction, with propensities of the log."""
    yield "naive", "lambdarank", None
    yield "additive", "lambdarank", {"correction": "additive"}
    yield "ratio", "lambdarank", {"correction": "ratio"}
    yield "dual", "listnet", {"correction": "dual"}
    harvested = propensities(log, "pivot")
    if harvested is not None:
        yield "ips", "lambdarank", {"correction": "ips", "propensities": harvested.values.tolist()}
    features = shown.matrix[rows_of_pairs(log, shown)]
    trusted = propensities(log, "trust-em", features)
    if trusted is not None and trusted.intercepts is not None:
        options = {
            "propensities": np.maximum(trusted.values, 1e-3).tolist(),
            "intercepts": trusted.intercepts.tolist(),
        }
        yield "affine", "listnet", {"correction": "affine", **options}


def propensities(log: ClickLog, method: str, features: Any = None, resamples: int = 0) -> Propensities | None:
    """Estimate propensities; return None if the log has too few clicks."""
    plan = PropensityPlan(method=method, positions=RANKS, resamples=resamples)
    try:
        return estimate_propensities(log, plan, features, threads=1)
    except InvalidInput:
        return None


def with_difference(values: Float64Array, naive: Float64Array) -> str:
    """Format a mean, its difference from the naive model's mean, and half of the difference's interval."""
    differences = values - naive
    half = 1.96 * differences.std(ddof=1) / np.sqrt(len(differences))
    return f"{values.mean():.3f} ({differences.mean():+.3f} ± {half:.3f})"


def recovery(search: SimulatedSearch, most: int) -> Table:
    """Return a table of propensity errors, and of the number of ranks whose intervals contain the truth."""
    table = Table("impressions", "method", "largest error", "mean (1/p − 1/p̂)²", "ranks in the interval")
    size = 10**4
    while size <= most:
        log, truth = search.log(RANKERS[0], "pbm", size)
        for method in ("pivot", "all-pairs"):
            estimate = propensities(log, method, resamples=100)
            if estimate is None:
                table.add_row(f"{size:,}", method, "too few clicks", "", "")
                continue
            inside = (estimate.lower <= truth.propensities) & (truth.propensities <= estimate.upper)
            largest = np.abs(estimate.values - truth.propensities).max()
            error = error_of(estimate.values, truth.propensities)
            table.add_row(f"{size:,}", method, f"{largest:.3f}", f"{error:.3g}", f"{inside[1:].sum()} of 9")
        size *= 10
    return table


def models(search: SimulatedSearch, sizes: list[int]) -> Table:
    """Return a table of the NDCG of models on judged test queries."""
    names = ("naive", "ips", "affine", "additive", "ratio", "dual")
    table = Table("ranker", "users", "impressions", *names, "judged")
    judged = query_values(fit(search.shown, "lambdarank", None), search.test).mean()
    cases = [(r, k, s) for r in RANKERS for k in KINDS for s in sizes]
    for ranker, kind, size in track(cases, "training"):
        log, _ = search.log(ranker, kind, size)
        data = training_data(log, search.shown).dataset
        by_correction = {
            name: query_values(fit(data, loss, options), search.test)
            for name, loss, options in corrections(log, search.shown)
        }
        naive = by_correction["naive"]
        cells = [
            with_difference(by_correction[name], naive) if name in by_correction else "too few clicks"
            for name in names[1:]
        ]
        table.add_row(ranker, kind, f"{size:,}", f"{naive.mean():.3f}", *cells, f"{judged:.3f}")
    return table


def query_values(model: Any, dataset: RankingDataset) -> Float64Array:
    """Return the metric of each query on which it is defined."""
    values = measure(model.score(dataset.matrix, 1), dataset, [METRIC])[METRIC]
    defined: Float64Array = values[~np.isnan(values)]
    return defined


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--impressions", type=float, nargs="*", default=IMPRESSIONS, help="sizes of the logs of models"
    )
    parser.add_argument(
        "--most", type=float, default=1e7, help="impressions of the largest log for propensities"
    )
    arguments = parser.parse_args()
    use_threads(1)
    search, console = SimulatedSearch.draw(), Console(width=200)
    console.print(recovery(search, int(arguments.most)))
    console.print(models(search, [int(size) for size in arguments.impressions]))


if __name__ == "__main__":
    main()
