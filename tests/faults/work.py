"""Work for the service: trainings with random choices, and the other kinds of jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from core.data.letor_writer import write_letor
from core.data.synthetic import synthetic_dataset
from tests.faults.client import Document, RetryingClient

# Documents and features are sampled for every tree.
SAMPLED = {
    "num_leaves": 15,
    "learning_rate": 0.05,
    "min_data_in_leaf": 5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "feature_fraction": 0.8,
}
_SIZES = {"train": 200, "validation": 60, "test": 60, "large": 1_000}
_UPLOADED_QUERIES = 300


@dataclass(frozen=True)
class Submission:
    """One request for a job.

    Attributes:
        name: Name; requests with the same name have the same outcome.
        path: Path of the request.
        body: Body of the request, None to send a file.
        file: File to send, None to send a body.
    """

    name: str
    path: str
    body: Document | None = None
    file: Path | None = None

    @property
    def kind(self) -> str:
        """The kind of the job."""
        return "ingest" if self.body is None else str(self.body.get("kind", "ingest"))


@dataclass(frozen=True)
class Materials:
    """Input of the jobs: datasets by name, two models, and a file to upload."""

    datasets: Mapping[str, str]
    models: tuple[str, str]
    file: Path

    @classmethod
    def make(cls, client: RetryingClient, wait: Callable[[str], Document], folder: Path) -> "Materials":
        """Create the datasets and train the models in the service.

        Args:
            client: Client of the service.
            wait: Waits for a job.
            folder: Folder of the file to upload.
        """
        sent = {
            name: client.create(
                "/v1/datasets/synthetic",
                {"queries": size, "seed": seed, "polynomial_seed": 3, "name": name},
            )
            for seed, (name, size) in enumerate(_SIZES.items())
        }
        datasets = {name: str(dataset["id"]) for name, dataset in sent.items()}
        for dataset in sent.values():
            wait(dataset["job_id"])
        trainings = [
            client.create("/v1/jobs", training(datasets, "lambdarank", iterations=30, seed=seed))
            for seed in (1, 2)
        ]
        first, second = (str(wait(job["id"])["result"]["model_id"]) for job in trainings)
        file = folder / "upload.txt"
        with file.open("wb") as letor:
            write_letor(synthetic_dataset(_UPLOADED_QUERIES, seed=99), letor)
        return cls(datasets, (first, second), file)

    def submissions(self, number: int, iterations: int = 120) -> list[Submission]:
        """Return the same requests at each call: this number of all kinds, half of them trainings."""
        kinds = islice(cycle(self._one_of_each(iterations)), number)
        return [
            Submission(f"{index} {one.name}", one.path, self._with_seed(one.body, index), one.file)
            for index, one in enumerate(kinds, 1)
        ]

    def probe(self) -> Submission:
        """Return a request for a short job that needs every server."""
        return Submission("probe", "/v1/jobs", self._measuring("rank", "test"))

    def _one_of_each(self, iterations: int) -> list[Submission]:
        losses = _losses(self.datasets, iterations)
        others = [
            Submission("ingest", "/v1/datasets/synthetic", {"queries": 800, "polynomial_seed": 4}),
            Submission(
                "evaluate", "/v1/jobs", self._measuring("evaluate", "large") | {"metrics": ["ndcg@10", "map"]}
            ),
            Submission("rank", "/v1/jobs", self._measuring("rank", "large")),
            Submission("compare", "/v1/jobs", self._comparison()),
            Submission("upload", "/v1/datasets", file=self.file),
            Submission(
                "diagnose", "/v1/jobs", self._measuring("evaluate", "test") | {"diagnostics": _DIAGNOSED}
            ),
        ]
        return [submission for pair in zip(losses, others, strict=True) for submission in pair]

    def _measuring(self, kind: str, dataset: str) -> Document:
        return {"kind": kind, "model": self.models[0], "dataset_id": self.datasets[dataset]}

    def _comparison(self) -> Document:
        return {
            "kind": "compare",
            "dataset_id": self.datasets["test"],
            "systems": [{"model": model} for model in self.models],
            "permutations": 400_000,
        }

    @staticmethod
    def _with_seed(body: Document | None, seed: int) -> Document | None:
        """Give each dataset different content, since the same content would be read only once."""
        return body if body is None or "queries" not in body else {**body, "seed": seed}


_DIAGNOSED = {"loss": {"name": "lambdarank"}, "cutoff": 10}


def training(
    datasets: Mapping[str, str], loss: str, *, iterations: int, seed: int = 42, **rest: Any
) -> Document:
    """Return a training that samples documents and features, with validation and test data."""
    return {
        "kind": "train",
        "model_name": "faults",
        "dataset_id": datasets["train"],
        "validation": {"dataset_id": datasets["validation"]},
        "test_dataset_id": datasets["test"],
        "loss": {"name": loss},
        "hyperparameters": {**SAMPLED, "num_iterations": iterations},
        "metrics": ["ndcg@5", "ndcg@10"],
        "seed": seed,
        **rest,
    }


def stopping_early(datasets: Mapping[str, str], *, iterations: int = 240) -> Document:
    """Return a training that stops when validation no longer improves."""
    body = training(datasets, "lambdarank", iterations=iterations)
    body["hyperparameters"] |= {"learning_rate": 0.3}
    body["early_stopping"] = {"metric": "ndcg@10", "rounds": 15}
    return body


def network_stopping_early(datasets: Mapping[str, str], *, iterations: int = 240) -> Document:
    """Return a training of a network with dropout that stops early."""
    body = training(datasets, "lambdarank", iterations=iterations)
    scorer = {"kind": "mlp", "hidden": [64, 32], "dropout": 0.1, "batch_documents": 64, "epochs": iterations}
    early_stopping = {"metric": "ndcg@10", "rounds": 40}
    return {**body, "hyperparameters": {}, "scorer": scorer, "early_stopping": early_stopping}


def automatic(datasets: Mapping[str, str]) -> Document:
    """Return an automatic training whose time budget is never used up."""
    return {
        "kind": "auto-train",
        "model_name": "faults",
        "dataset_id": datasets["train"],
        "test_dataset_id": datasets["test"],
        "metric": "ndcg@10",
        "budget_seconds": 36_000,
        "prefer": "best",
        "candidates": ["linear by lambdarank", "linear by ranknet", "stumps by lambdarank"],
    }


def _losses(datasets: Mapping[str, str], iterations: int) -> list[Submission]:
    every = {
        "lambdarank": training(datasets, "lambdarank", iterations=iterations),
        "early stopping": stopping_early(datasets, iterations=2 * iterations),
        "ndcg-loss2++": training(
            datasets, "ndcg-loss2++", iterations=iterations, validation={"fraction": 0.2}
        ),
        "listnet": training(datasets, "listnet", iterations=iterations, validation=None),
        "xe-ndcg": training(datasets, "xe-ndcg", iterations=iterations, diagnostics={"interval": 25}),
        "ranksvm": training(datasets, "ranksvm", iterations=iterations, metric_interval=5),
    }
    every["ndcg-loss2++"]["loss"] |= {"truncation_level": 8, "pair_selection": "random"}
    every["listnet"]["hyperparameters"] |= {"feature_fraction_bynode": 0.8, "extra_trees": True}
    every["ranksvm"]["hyperparameters"] |= {"bagging_freq": 3}
    return [Submission(f"{name}, {iterations} iterations", "/v1/jobs", body) for name, body in every.items()]
