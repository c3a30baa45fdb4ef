"""`rankery demo`: train, compare and serve two losses on a temporary service."""

import gzip
import random
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rankery.client import Client, Dataset, Job
from rankery.client.schemas.answers import Interval
from rankery.client.schemas.requests import LossName
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
_LIVE_CANDIDATES = 25
_GZIP = b"\x1f\x8b"
_MAX_DOCUMENTS = 100


@dataclass(frozen=True)
class FirstQuery:
    """One query and its candidate documents.

    Attributes:
        features: Values in the model's feature order, by document.
        labels: Graded relevance by document, where judged.
    """

    id: str
    features: dict[str, list[float]]
    labels: dict[str, float]


def first_query(path: Path, n_features: int) -> FirstQuery:
    """Read the first query of LETOR text that the service has already accepted.

    Args:
        path: Plain or gzip-compressed.
        n_features: Number of features of the model; higher features are ignored, absent ones are 0.

    Raises:
        UserError: The file can no longer be read as LETOR text.
    """
    features: dict[str, list[float]] = {}
    labels: dict[str, float] = {}
    first_id: str | None = None
    try:
        with _text(path) as lines:
            for line in lines:
                words = line.partition("#")[0].split()
                if not words:
                    continue
                query_id = words[1].removeprefix("qid:")
                first_id = first_id or query_id
                if query_id != first_id or len(features) == _MAX_DOCUMENTS:
                    break
                document = f"d{len(features) + 1}"
                features[document] = _values(words[2:], n_features)
                labels[document] = float(words[0])
    except (OSError, ValueError, IndexError, EOFError) as error:
        raise UserError(f"{path.name} cannot be read again: {error}") from error
    return FirstQuery(first_id or "", features, labels)


def _text(path: Path) -> TextIO:
    with path.open("rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
    if is_gzip:
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return path.open(encoding="utf-8", errors="replace")


def _values(words: list[str], n_features: int) -> list[float]:
    values = [0.0] * n_features
    for word in words:
        number, _, value = word.partition(":")
        if 1 <= int(number) <= n_features:
            values[int(number) - 1] = float(value)
    return values


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
        self._rank_live(jobs[LOSSES[-1]].made("model_id"), files)

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
            ready[path] = self._wait_for(self._client.upload_dataset(path))
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

    def _rank_live(self, model_id: str, files: DemoFiles) -> None:
        model = self._client.model(model_id)
        names = model.feature_names
        path = files.test or files.validation or files.train
        query = _random_query(len(names)) if path is None else first_query(path, len(names))
        documents = [{"id": name, "features": features} for name, features in query.features.items()]
        answer = self._client.rank(model_id, [{"id": query.id, "documents": documents}], _SHOWN_DOCUMENTS)
        self._screen.say(f"POST /v1/models/{model.reference}/rank with {len(documents)} documents:")
        self._screen.ranking(answer.queries[0].ranking, query.labels)


def _random_query(n_features: int) -> FirstQuery:
    """Draw an unjudged query like those of the synthetic data."""
    draw = random.Random(2006)  # noqa: S311 - features of a demo
    features = {
        f"d{number}": [draw.uniform(-1, 1) for _ in range(n_features)]
        for number in range(1, _LIVE_CANDIDATES + 1)
    }
    return FirstQuery("1", features, {})
