"""`rankery demo`: train, compare and serve two losses on a temporary service."""

import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankery.client import Client, Dataset, Job, Query
from rankery.client.schemas.answers import Interval
from rankery.client.schemas.requests import LossName
from rankery.companion_files import query_sizes_beside
from rankery.demo.screen import Mean, Screen
from rankery.embedded.compilation_progress import compilation_progress
from rankery.embedded.process import terminable
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import UserError
from rankery.processes import compile_demo_kernels
from rankery.server_package import require_server_package

LOSSES: tuple[LossName, ...] = ("lambdarank", "ndcg-loss2++")
METRICS = tuple(f"ndcg@{cutoff}" for cutoff in range(1, 11))
_ITERATIONS = 100
_STOP_ROUNDS = 30
_HELD_OUT = 0.2
_SHOWN_DOCUMENTS = 10
_MAX_DOCUMENTS = 100


def candidates_of(query: Query, feature_names: Collection[str]) -> list[dict[str, Any]]:
    """Return the documents of a query with the features of a model, as candidates."""
    values = {
        name: query.feature_values(index)
        for index, name in enumerate(query.feature_names)
        if name in feature_names
    }
    return [
        {"id": document.document_id, "features": {name: column[row] for name, column in values.items()}}
        for row, document in enumerate(query.documents)
    ]


@dataclass(frozen=True)
class DemoFiles:
    """The user's judged files; `train` is None for synthetic data.

    Attributes:
        validation: Validation file, to select the best iteration; a fifth of the training queries if None.
        test: Test file, to compare the models; the validation data are used if None.
    """

    train: Path | None = None
    validation: Path | None = None
    test: Path | None = None

    @classmethod
    def of(cls, train: Path | None, validation: Path | None, test: Path | None) -> "DemoFiles":
        """Check that the files are consistent.

        Raises:
            UserError: Validation or test data were given without training data.
        """
        if train is None and (validation or test):
            raise UserError("--validation and --test need --train, the data to learn from")
        return cls(train, validation, test)


@dataclass(frozen=True)
class _Datasets:
    train_id: str
    validation_id: str | None
    test_id: str | None
    evaluated_on: str


def run_demo(files: DemoFiles, queries: int) -> None:
    """Run the demo, then stop its processes and remove its files.

    Args:
        files: The user's own data, or none.
        queries: Number of synthetic training queries without files.

    Raises:
        UserError: The demo failed; the message has the cause.
    """
    require_server_package()
    screen = Screen()
    with (
        terminable(),
        tempfile.TemporaryDirectory(prefix="rankery-demo-", ignore_cleanup_errors=True) as folder,
    ):
        with compilation_progress() as report:
            compile_demo_kernels(report)
        screen.say("starting a private Valkey, the API and a worker")
        environment = {"RANKERY_COMPILE_AHEAD": "false"}
        with EmbeddedStack(Path(folder), environment=environment) as stack, Client(stack.url) as client:
            screen.say(f"dashboard while this runs: {stack.url}")
            _Demo(stack, client, screen).run(files, queries)
        screen.say("stopped; all temporary files are removed")


class _Demo:
    def __init__(self, stack: EmbeddedStack, client: Client, screen: Screen) -> None:
        self._stack = stack
        self._client = client
        self._screen = screen

    def run(self, files: DemoFiles, queries: int) -> None:
        datasets = self._synthetic(queries) if files.train is None else self._uploaded(files, files.train)
        jobs = {loss: self._train(loss, datasets) for loss in LOSSES}
        results: dict[str, Mapping[str, Mean]] = {
            loss: self._means(job, datasets) for loss, job in jobs.items()
        }
        self._screen.compare(results, METRICS, datasets.evaluated_on)
        self._compare([job.made("model_id") for job in jobs.values()], datasets)
        self._rank_live(jobs[LOSSES[-1]].made("model_id"), datasets)

    def _synthetic(self, queries: int) -> _Datasets:
        self._screen.say("generating synthetic queries")
        sizes = {"train": queries, "validation": max(1, queries // 2), "test": queries}
        sent = [
            self._client.synthetic_dataset(size, seed=seed, polynomial_seed=1, name=f"demo-{name}")
            for seed, (name, size) in enumerate(sizes.items(), start=1)
        ]
        train, validation, test = (self._wait_for(dataset) for dataset in sent)
        return _Datasets(train, validation, test, f"{queries} test queries")

    def _uploaded(self, files: DemoFiles, train: Path) -> _Datasets:
        paths = [path for path in (train, files.validation, files.test) if path is not None]
        ready = {}
        for path in dict.fromkeys(paths):
            self._screen.say(f"uploading and reading {path.name}")
            sizes = query_sizes_beside(path)
            dataset = self._client.upload_dataset(path, query_sizes={"file": sizes} if sizes else None)
            ready[path] = self._wait_for(dataset)
        validation_id = ready[files.validation] if files.validation else None
        if files.test is not None:
            return _Datasets(ready[train], validation_id, ready[files.test], files.test.name)
        if files.validation is not None:
            evaluated_on = f"{files.validation.name} (no --test: it also selected the best iteration)"
            return _Datasets(ready[train], validation_id, validation_id, evaluated_on)
        evaluated_on = "a held-out fifth of the queries (no --test: it also selected the best iteration)"
        return _Datasets(ready[train], None, None, evaluated_on)

    def _wait_for(self, dataset: Dataset) -> str:
        return dataset.wait(lambda _: self._stack.check(), progress=False).id

    def _train(self, loss: LossName, datasets: _Datasets) -> Job:
        job = self._client.train(
            loss.replace("+", "p"),
            datasets.train_id,
            loss,
            validation=datasets.validation_id or _HELD_OUT,
            test=datasets.test_id,
            hyperparameters={"num_iterations": _ITERATIONS},
            metrics=METRICS,
            early_stopping={"metric": "ndcg@10", "rounds": _STOP_ROUNDS},
        )
        with self._screen.training(loss) as show:

            def on_progress(job: Job) -> None:
                self._stack.check()
                show(job)

            return job.wait(on_progress, progress=False)

    def _means(self, job: Job, datasets: _Datasets) -> Mapping[str, Mean]:
        if datasets.test_id is not None:
            return job.evaluation().metrics
        return {metric: Interval(mean=mean) for metric, mean in (job.metrics or {})["validation"].items()}

    def _compare(self, model_ids: list[str], datasets: _Datasets) -> None:
        if datasets.test_id is None:
            return
        job = self._client.compare(datasets.test_id, model_ids, metrics=["ndcg@10", "mrr", "map"])
        job.wait(lambda _: self._stack.check(), progress=False)
        self._screen.say(job.comparison().sentence)

    def _rank_live(self, model_id: str, datasets: _Datasets) -> None:
        model = self._client.model(model_id)
        dataset = self._client.dataset(datasets.test_id or datasets.validation_id or datasets.train_id)
        (first,) = dataset.queries().first(1)
        query = dataset.query(first.query_id, limit=_MAX_DOCUMENTS)
        documents = candidates_of(query, model.feature_names)
        answer = self._client.rank(
            model_id, [{"id": query.query_id, "documents": documents}], _SHOWN_DOCUMENTS
        )
        self._screen.say(f"POST /v1/models/{model.reference}/rank with {len(documents)} documents:")
        labels = {document.document_id: document.label for document in query.documents}
        self._screen.ranking(answer.queries[0].ranking, labels)
