"""Speed and NDCG@10 of quantised gradients, goss and dart compared with exact gradients.

Data are synthetic loads, and pairs of files for training and test. The time of an iteration is processor
time, on one thread by default, as the median of all iterations. NDCG differences are tested by Fisher's
randomisation test over the test queries, pooled over seeds by their means.
"""

import argparse
import statistics
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.loads import LOADS
from core.data import RankingDataset, read_dataset
from core.data.feature_alignment import align_features
from core.evaluation.randomisation import randomisation_p_values
from core.metrics import parse_metric
from core.scoring import Forest
from core.training import train, training_spec
from core.types import Float64Array
from core.warm_up import warm_up

EXACT = "exact gradients"
METHODS: dict[str, dict[str, Any]] = {
    EXACT: {},
    "quantised, 4 steps, rounded at random": {"use_quantized_grad": True},
    "quantised, 16 steps, rounded at random": {"use_quantized_grad": True, "num_grad_quant_bins": 16},
    "quantised, 4 steps, nearest, leaves renewed": {
        "use_quantized_grad": True,
        "stochastic_rounding": False,
        "quant_train_renew_leaf": True,
    },
    "quantised, 16 steps, nearest, leaves renewed": {
        "use_quantized_grad": True,
        "stochastic_rounding": False,
        "quant_train_renew_leaf": True,
        "num_grad_quant_bins": 16,
    },
    "goss": {"data_sample_strategy": "goss"},
    "dart": {"boosting": "dart"},
}


@dataclass
class Measurements:
    """Measurements of one training method.

    Attributes:
        milliseconds: Processor time of each iteration of all trainings, without first iterations.
        values: (n_queries,) NDCG@10 of the test queries, one array for each training.
    """

    milliseconds: list[float] = field(default_factory=list)
    values: list[Float64Array] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Return the median time of an iteration."""
        return statistics.median(self.milliseconds)

    @property
    def mean(self) -> Float64Array:
        """Return the mean of each query over the trainings, where NDCG is defined."""
        values = np.mean(self.values, axis=0)
        return np.asarray(values[np.isfinite(values)])


def measure(
    name: str,
    data: tuple[RankingDataset, RankingDataset],
    hyperparameters: dict[str, Any],
    seeds: int,
    threads: int,
) -> Table:
    """Train with every method, once per seed, and return a comparison with exact gradients."""
    found = {method: Measurements() for method in METHODS}
    for seed in track(range(seeds), name, transient=True):
        for method, options in METHODS.items():
            spec = training_spec(
                {
                    "loss": {"name": "lambdarank"},
                    # Queries are resampled, so that seeds show the variance of exact gradients, too.
                    "hyperparameters": hyperparameters | {"query_fraction": 0.9} | options,
                    "metrics": ["ndcg@10"],
                    "metric_interval": hyperparameters["num_iterations"],
                    "seed": seed,
                }
            )
            moments: list[float] = []
            ranker = train(
                spec,
                data[0],
                on_iteration=lambda *_, at=moments: at.append(time.process_time()),
                threads=threads,
            )
            found[method].milliseconds += (1e3 * np.diff(moments)).tolist()
            test = data[1]
            scores = Forest.parse(ranker.model_text).score(test.features, threads)
            found[method].values.append(parse_metric("ndcg@10")(scores, test.labels, test.query_boundaries))
    return _table(name, data, seeds, found)


def _table(
    name: str, data: tuple[RankingDataset, RankingDataset], seeds: int, found: dict[str, Measurements]
) -> Table:
    table = Table(title=f"{name}: {data[0].n_documents:,} documents, {seeds} seeds")
    for column in ("method", "ms an iteration", "speed-up", "NDCG@10", "difference", "p"):
        table.add_column(column, justify="left" if column == "method" else "right")
    exact = found[EXACT]
    for method, measured in found.items():
        differences = measured.mean - exact.mean
        (p,) = randomisation_p_values(differences[:, None], 10_000)
        table.add_row(
            method,
            f"{measured.median:.1f}",
            f"{exact.median / measured.median:.2f}",
            f"{measured.mean.mean():.4f}",
            "" if method == EXACT else f"{differences.mean():+.4f}",
            "" if method == EXACT else f"{p:.3f}",
        )
    return table


def main() -> None:
    """Measure loads and files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="pairs: TRAIN TEST …")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--load", choices=[load.name for load in LOADS], nargs="*", default=["W"])
    arguments = parser.parse_args()
    warm_up()
    console = Console(width=130)
    for load in LOADS:
        if load.name in arguments.load:
            data = load.dataset(0), replace(load, n_queries=load.n_queries // 3).dataset(1)
            hyperparameters = {"num_iterations": arguments.iterations, "num_leaves": 64}
            console.print(
                measure(
                    f"{load.name} ({load.like})", data, hyperparameters, arguments.seeds, arguments.threads
                )
            )
    for train_file, test_file in zip(arguments.files[::2], arguments.files[1::2], strict=True):
        training = read_dataset(train_file)
        data = training, align_features(read_dataset(test_file), training.feature_names)
        hyperparameters = {"num_iterations": arguments.iterations, "num_leaves": 15, "min_data_in_leaf": 5}
        console.print(
            measure(
                str(train_file.parent.name), data, hyperparameters, 10 * arguments.seeds, arguments.threads
            )
        )


if __name__ == "__main__":
    main()
