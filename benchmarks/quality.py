"""Quality of every loss through the HTTP API, compared with LightGBM's built-in objective on the same files.

Usage: python -m benchmarks.quality TRAIN TEST [LOSS …]

Each job trains 500 iterations at LightGBM's settings below and is measured on the test file at every
iteration; the best iteration counts, for both systems.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from rich.console import Console
from rich.table import Table

from core.data import RankingDataset, read_dataset
from core.losses import LOSSES
from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack

METRICS = ("ndcg@5", "ndcg@10")
HYPERPARAMETERS = {"learning_rate": 0.05, "num_leaves": 31, "min_data_in_leaf": 20, "num_iterations": 500}


def built_in(train: RankingDataset, test: RankingDataset) -> dict[str, float]:
    """Return the best test metrics of LightGBM's built-in lambdarank."""
    parameters = {
        **HYPERPARAMETERS,
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [5, 10],
        "deterministic": True,
        "force_col_wise": True,
        "verbosity": -1,
    }
    curves: dict[str, Any] = {}
    data = lightgbm.Dataset(train.features, train.labels, group=np.diff(train.query_boundaries))
    valid = lightgbm.Dataset(test.features, test.labels, group=np.diff(test.query_boundaries), reference=data)
    lightgbm.train(parameters, data, valid_sets=[valid], callbacks=[lightgbm.record_evaluation(curves)])
    return {metric: max(curves["valid_0"][metric]) for metric in METRICS}


def through_http(client: Client, datasets: dict[str, str], loss: str) -> dict[str, float]:
    """Return the best test metrics of a training job."""
    job = client.submit(
        {
            "kind": "train",
            "model_name": loss.replace("+", "p"),
            "dataset_id": datasets["train"],
            "validation": {"dataset_id": datasets["test"]},
            "loss": {"name": loss},
            "hyperparameters": HYPERPARAMETERS,
            "metrics": list(METRICS),
        }
    )
    job.wait(timeout_seconds=600)
    curves = job.history().curves["validation"]
    return {metric: max(value for value in curves[metric] if value is not None) for metric in METRICS}


def main(train_path: Path, test_path: Path, losses: list[str]) -> None:
    """Print the table."""
    table = Table(
        "objective", *METRICS, title=f"best of {HYPERPARAMETERS['num_iterations']} iterations on test"
    )
    baseline = built_in(read_dataset(train_path), read_dataset(test_path))
    table.add_row("LightGBM lambdarank", *(f"{baseline[metric]:.4f}" for metric in METRICS))
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedStack(Path(folder), port=0) as stack,
        Client(stack.url) as client,
    ):
        datasets = {
            name: client.upload_dataset(path, name=name).wait(timeout_seconds=120).id
            for name, path in {"train": train_path, "test": test_path}.items()
        }
        for loss in losses:
            best = through_http(client, datasets, loss)
            table.add_row(loss, *(f"{best[metric]:.4f}" for metric in METRICS))
    Console().print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or list(LOSSES))
