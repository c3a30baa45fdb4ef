"""Queries with incoherent gradients while LambdaRank and Lambda-eX train: Marcuzzi et al. 2023, Figure 3.

As in the paper's Istella collections nearly all documents are irrelevant, so that truncation drops most
pairs. Trees have the paper's settings, and the gradient of each tree is diagnosed.
"""

import argparse
import os
import statistics
import time
from collections.abc import Mapping
from types import MappingProxyType

import lightgbm
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.loads import Load
from core.data import RankingDataset
from core.diagnostics import incoherent_queries, strictly_incoherent_queries
from core.losses import Loss, make_loss
from core.metrics import parse_metric
from core.ranges import use_threads
from core.training import Hyperparameters
from core.types import Float32Array, Float64Array

HYPERPARAMETERS = Hyperparameters(learning_rate=0.05, num_leaves=64, min_data_in_leaf=20)  # paper's Table 4
LOAD = Load("S", "Istella-F, sparser", 600, 600, 20, (0.99, 0.004, 0.003, 0.002, 0.001))
SHOWN = (1, 3, 10, 30, 100, 300, 1_000)  # logarithmic, like the axis of the paper's figure


def losses(cutoff: int) -> Mapping[str, Loss]:
    """Return LambdaRank with the truncation of the paper, and Lambda-eX with every pair selection."""
    truncated = {
        f"τ = {cutoff}": make_loss("lambdarank", truncation_level=cutoff),
        f"τ = {cutoff + 3}": make_loss("lambdarank", truncation_level=cutoff + 3),
        "τ = ∞": make_loss("lambdarank"),
    }
    extended = {
        f"eX {selection}": make_loss("lambdarank", truncation_level=cutoff, pair_selection=selection)
        for selection in ("static", "random", "all", "all-static", "all-random")
    }
    return MappingProxyType({**truncated, **extended})


class DiagnosedTraining:
    """A training, with the shares of queries with incoherent gradients at each tree.

    Attributes:
        booster: The trained model.
        incoherent: Share of queries incoherent by definition 3.1, before each tree.
        strictly: Share of queries where a false top-k document is pushed harder than a missed one, see
            `strictly_incoherent_queries`.
        seconds: Seconds of each computation of the gradient.
    """

    def __init__(self, loss: Loss, dataset: RankingDataset, cutoff: int, trees: int, threads: int) -> None:
        self._objective = loss.prepare(dataset.labels, dataset.query_boundaries)
        self._dataset = dataset
        self._cutoff = cutoff
        self.incoherent: list[float] = []
        self.strictly: list[float] = []
        self.seconds: list[float] = []
        parameters = HYPERPARAMETERS.lightgbm(seed=1, threads=threads)
        data = lightgbm.Dataset(dataset.features, dataset.labels, params=parameters)
        self.booster = lightgbm.Booster(parameters, data)
        for _ in range(trees):
            self.booster.update(fobj=self._gradients)

    def _gradients(self, scores: Float64Array, _: lightgbm.Dataset) -> tuple[Float32Array, Float32Array]:
        started = time.perf_counter()
        gradient, hessian = self._objective(scores, len(self.strictly))
        self.seconds.append(time.perf_counter() - started)
        judged = (gradient, scores, self._dataset.labels, self._dataset.query_boundaries)
        self.incoherent.append(float(incoherent_queries(*judged).mean()))
        self.strictly.append(float(strictly_incoherent_queries(*judged, self._cutoff).mean()))
        return gradient, hessian


def compare(console: Console, cutoff: int, trees: int, threads: int) -> None:
    """Train every loss; print the shares of incoherent queries by tree, and the metrics of the models."""
    train, test = LOAD.dataset(1), LOAD.dataset(2)
    ndcg = parse_metric(f"ndcg@{cutoff}")
    shown = [tree for tree in SHOWN if tree < trees] + [trees]
    columns = ("loss", *(f"tree {tree}" for tree in shown))
    strictly = Table(*columns, "mean", title=f"% of queries: a false top-{cutoff} document pushed harder")
    incoherent = Table(*columns, "mean", title="% of queries incoherent by definition 3.1, any two documents")
    quality = Table("loss", f"NDCG@{cutoff} on test", "ms a gradient", "seconds", title="The models")
    for name, loss in losses(cutoff).items():
        started = time.perf_counter()
        diagnosed = DiagnosedTraining(loss, train, cutoff, trees, threads)
        for table, shares in ((strictly, diagnosed.strictly), (incoherent, diagnosed.incoherent)):
            at = [shares[tree - 1] for tree in shown]
            table.add_row(name, *(f"{100 * share:.2f}" for share in (*at, statistics.fmean(shares))))
        scores = np.asarray(diagnosed.booster.predict(test.features, num_threads=threads))
        mean = np.nanmean(ndcg(scores, test.labels, test.query_boundaries))
        milliseconds = 1_000 * statistics.median(diagnosed.seconds)
        quality.add_row(name, f"{mean:.4f}", f"{milliseconds:.2f}", f"{time.perf_counter() - started:.1f}")
    for table in (strictly, incoherent, quality):
        console.print(table)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cutoff", type=int, default=5)
    parser.add_argument("--trees", type=int, default=100)
    options = parser.parse_args()
    threads = os.cpu_count() or 1
    use_threads(threads)
    console = Console()
    shares = ", ".join(f"{label}: {100 * share:.1f} %" for label, share in enumerate(LOAD.label_shares))
    console.print(f"{LOAD.n_queries} queries × {LOAD.n_per_query} documents; labels {shares}")
    compare(console, options.cutoff, options.trees, threads)


if __name__ == "__main__":
    main()
