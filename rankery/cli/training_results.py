"""Print the results of trainings and the next commands."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from rankery.cli.connection import ServiceConnection
from rankery.cli.evaluate import evaluation_tables
from rankery.cli.exit_codes import FAILED
from rankery.cli.findings import findings_table
from rankery.cli.jobs import ending
from rankery.cli.measures import leaderboard
from rankery.cli.printing import number, plain, say, table, titled
from rankery.errors import RankeryApiError
from rankery.verbosity import is_quiet

if TYPE_CHECKING:
    from rankery.client import Dataset, Evaluation, Job, Model
    from rankery.client.schemas.answers import Finding
    from rankery.client.views.job import CandidateView

_NOT_FOUND = 404
_ONE_LABEL = "one-label-dataset"
_CLICK_CORRECTION = "click-correction"
_AUTOMATIC = "auto-train"
_BY_EPOCHS = frozenset({"linear", "mlp"})
_DATASET_ROLES = ("train", "validation", "test")


@dataclass(frozen=True)
class TrainingResult:
    """A submitted or finished training, with its model and evaluation.

    Attributes:
        model: Model of the training; None unless it succeeded.
        evaluation: Evaluation of the model on the test data; None without test data.
        candidates: Candidates of an automatic training, the best first.
        is_best: Whether it is the best training of its grid by the validation data, the first of ties; None
            outside a grid.
    """

    job: "Job"
    model: "Model | None" = None
    evaluation: "Evaluation | None" = None
    candidates: "Sequence[CandidateView]" = ()
    is_best: bool | None = None

    @property
    def reference(self) -> str:
        """Reference `name:version` of the model, or the status of the job if there is no model."""
        return self.job.status if self.model is None else self.model.reference

    def settings(self) -> dict[str, Any]:
        """Return all settings of the training that a grid can vary, by name."""
        spec = self.job.spec
        loss = {f"loss.{name}": value for name, value in spec["loss"].items() if name != "name"}
        scorer = spec.get("scorer") or {}
        prefixed = {f"scorer.{name}": value for name, value in scorer.items()}
        own = spec["hyperparameters"] | scorer
        chosen = {
            "loss": spec["loss"]["name"],
            "scorer": scorer.get("kind", "trees"),
            "seed": spec.get("seed"),
        }
        return {**own, **chosen, **loss, **prefixed}

    @property
    def iterations(self) -> str:
        """Unit of the iterations: `trees`, or `epochs` for linear scorers and networks."""
        return "epochs" if (self.job.spec.get("scorer") or {}).get("kind") in _BY_EPOCHS else "trees"

    def values(self, data: str) -> Mapping[str, float | None]:
        """Return the mean of each metric on the validation or test data, at the best iteration."""
        if self.model is None:
            return {}
        return (self.model.metrics if data == "test" else (self.job.metrics or {}).get(data)) or {}

    def document(self) -> dict[str, Any]:
        """Return the objects of the training to print as JSON, by name."""
        document: dict[str, Any] = {"job": self.job, "model": self.model, "evaluation": self.evaluation}
        document |= {"candidates": self.candidates} if self.candidates else {}
        return document | ({} if self.is_best is None else {"best": self.is_best})


def show_submitted(session: ServiceConnection, jobs: "Sequence[Job]") -> None:
    """Print submitted trainings without waiting for them: one job, or the list of a grid."""
    for dataset in _datasets(session, jobs):
        if _serious_findings(dataset):
            say(f"{dataset.name} has errors or warnings, shown by `{session.command(_doctor(dataset))}`")
    documents = [TrainingResult(job).document() for job in jobs]
    waiting = session.command(f"jobs wait {' '.join(job.id for job in jobs)}")
    session.show(documents[0] if len(documents) == 1 else documents, f"Wait for it with `{waiting}`.")


def show_training(session: ServiceConnection, job: "Job") -> None:
    """Print the findings in the data of a training, the metrics of its model, and the next commands."""
    evaluation = job.evaluation() if (job.result or {}).get("evaluation_id") else None
    trained = TrainingResult(
        job, job.model(), evaluation, job.leaderboard() if job.kind == _AUTOMATIC else ()
    )
    datasets = _datasets(session, [job])
    document = trained.document() | {"datasets": [_dataset_document(dataset) for dataset in datasets]}
    session.show(document, *_training_report(session, trained, datasets))


def show_grid(
    session: ServiceConnection, jobs: "Sequence[Job]", varied: Sequence[str], *, repeated: bool = False
) -> None:
    """Print the models of a grid side by side and name the best; exit with code 1 if a training failed.

    For repeated trainings, print means and spreads and name no best model, which would be a chance result.

    Args:
        varied: Parameters that the grid varies.
        repeated: Whether each point of the grid was trained several times.
    """
    trained = [TrainingResult(job, job.model() if job.status == "succeeded" else None) for job in jobs]
    for one in trained:
        if one.model is None:
            say(ending(one.job), always=True)
    metric = _deciding_metric(jobs)
    winner = None if repeated else _best(session, trained, metric)
    datasets = _datasets(session, jobs)
    shown = [*varied, "seed"] if repeated and "seed" not in varied else varied
    blocks = [*_findings(datasets, trained), _side_by_side(trained, shown)]
    if repeated:
        blocks.append(_spread(trained, varied))
    elif winner is None:
        blocks.append("Without validation data no best model is selected; test metrics must not select one.")
    else:
        chosen = ", ".join(f"{name}={winner.settings().get(name)}" for name in varied)
        value = number(winner.values("validation").get(metric))
        blocks.append(
            f"[bold]{plain(winner.reference)}[/bold] is the best by validation {plain(metric)}, {value}:"
            f" {plain(chosen)}"
        )
        blocks += _next_commands(session, winner, datasets)
    session.show(
        [
            TrainingResult(one.job, one.model, is_best=one is winner).document()
            | {"datasets": [_dataset_document(dataset) for dataset in datasets]}
            for one in trained
        ],
        *blocks,
    )
    if any(one.model is None for one in trained):
        raise typer.Exit(FAILED)


def _training_report(
    session: ServiceConnection, trained: TrainingResult, datasets: "Sequence[Dataset]"
) -> Iterator[RenderableType]:
    job, model, evaluation = trained.job, trained.model, trained.evaluation
    yield from _findings(datasets, [trained], () if evaluation is None else evaluation.findings or ())
    seconds = (
        ""
        if job.started_at is None or job.finished_at is None
        else (f" in {(job.finished_at - job.started_at).total_seconds():.0f} s")
    )
    if job.conclusion is not None:
        yield f"[bold]{plain(trained.reference)}[/bold]: {plain(job.conclusion.sentence)}"
        yield leaderboard(trained.candidates, job.spec["metric"])
    else:
        iterations = "" if model is None else plain(model.best_iteration)
        unit = trained.iterations.removesuffix("s") if iterations == "1" else trained.iterations
        yield f"[bold]{plain(trained.reference)}[/bold]: {iterations} {unit}{seconds}"
    if (job.result or {}).get("cross_validation"):
        yield _folds((job.result or {})["cross_validation"], trained.iterations)
    if evaluation is not None:
        yield from evaluation_tables(evaluation)
    elif job.conclusion is None:
        yield _best_iteration_table(job)
    for finding in job.findings or ():
        if finding.code == _CLICK_CORRECTION and finding.severity == "info":  # warnings are above
            yield plain(finding.title)
    yield from _next_commands(session, trained, datasets)


def _next_commands(
    session: ServiceConnection, trained: TrainingResult, datasets: "Sequence[Dataset]"
) -> Iterator[RenderableType]:
    """Yield suggestions for the next commands, first those that show findings; none with --quiet."""
    if is_quiet():
        return
    reference, job = trained.reference, trained.job
    if session.is_embedded:
        serve = plain(session.command("serve"))
        yield f"The service of this command stops with it; start a permanent one with `{serve}`."
    doubtful = [_doctor(dataset) for dataset in datasets if _serious_findings(dataset)]
    doubtful += [f"jobs show {job.id}"] if _serious_findings(job) else []
    if doubtful:
        yield "Next, check the findings before you rely on these metrics:"
        yield from (f"  {plain(session.command(words))}" for words in doubtful)
    yield "Then:" if doubtful else "Next:"
    test = job.spec.get("test_dataset_id") or "test.txt"
    name = reference.replace(":", "-")
    for words in (
        f"models show {reference}",
        f"rank {reference} documents.csv",
        f"compare {reference} OTHER --dataset {test}",
        f"models promote {reference}",
        f"export {reference} --format {_export_options(trained.model, name)}",
    ):
        yield f"  {plain(session.command(words))}"


def _export_options(model: "Model | None", name: str) -> str:
    """Return the options of `rankery export` for the stored format of a model."""
    are_trees = model is None or model.scorer is None or model.scorer["kind"] == "trees"
    return f"lightgbm -o {name}.model.txt" if are_trees else f"safetensors -o {name}.safetensors"


def _datasets(session: ServiceConnection, jobs: "Sequence[Job]") -> "list[Dataset]":
    """Return the distinct datasets of trainings, without deleted ones.

    If a training learns from a click log, the finding that all labels are equal is left out of its dataset.
    """
    ids: dict[str, None] = {}
    of_logs = {job.spec["dataset_id"] for job in jobs if (job.spec.get("clicks") or {}).get("log")}
    for job in jobs:
        held_out = (job.spec.get("validation") or {}).get("dataset_id")
        named = (job.spec["dataset_id"], held_out, job.spec.get("test_dataset_id"))
        ids |= dict.fromkeys(one for one in named if one)
    found = []
    for dataset_id in ids:
        try:
            dataset = session.client.dataset(dataset_id)
        except RankeryApiError as error:
            if error.status != _NOT_FOUND:
                raise
            continue
        if dataset_id in of_logs:
            used = [finding for finding in dataset.findings or () if finding.code != _ONE_LABEL]
            dataset = dataset.model_copy(update={"findings": used})
        found.append(dataset)
    return found


def _doctor(dataset: "Dataset") -> str:
    return f"datasets doctor {dataset.id}"


def _dataset_document(dataset: "Dataset") -> dict[str, Any]:
    return {"id": dataset.id, "name": dataset.name, "findings": dataset.findings or []}


def _serious_findings(source: "Dataset | Job") -> list[dict[str, Any]]:
    """Return the errors and warnings among the findings of a dataset or a job."""
    return [
        finding.model_dump(mode="json") for finding in source.findings or () if finding.severity != "info"
    ]


def _findings(
    datasets: "Sequence[Dataset]", trained: Sequence[TrainingResult], of_evaluation: "Sequence[Finding]" = ()
) -> Iterator[RenderableType]:
    """Yield the errors and warnings of each dataset and of the trainings, under headings with their names.

    A finding of several trainings is shown once. Findings of the evaluation are left out: they are shown
    below its numbers.
    """
    titles_of_evaluation = {finding.title for finding in of_evaluation}
    for dataset in datasets:
        if findings := _serious_findings(dataset):
            yield from (f"[bold]{plain(dataset.name)}[/bold]:", findings_table(findings))
    by_title: dict[str, dict[str, Any]] = {}
    trainings_by_title: dict[str, list[str]] = {}
    for one in trained:
        name = one.job.id if one.model is None else one.reference
        for finding in _serious_findings(one.job):
            if finding["title"] not in titles_of_evaluation:
                by_title.setdefault(finding["title"], finding)
                trainings_by_title.setdefault(finding["title"], []).append(name)
    by_heading: dict[str, list[dict[str, Any]]] = {}
    for title, trainings in trainings_by_title.items():
        heading = f"training{'s' if len(trainings) > 1 else ''} {', '.join(trainings)}"
        by_heading.setdefault(heading, []).append(by_title[title])
    for heading, group in by_heading.items():
        yield from (f"[bold]{plain(heading)}[/bold]:", findings_table(group))


def _best_iteration_table(job: "Job") -> RenderableType:
    """Return a table of the values of the best iteration, with one column for each dataset."""
    metrics: Mapping[str, Mapping[str, float | None]] = {
        data: values for data, values in (job.metrics or {}).items() if data in _DATASET_ROLES
    }
    shown = table("metric", *metrics, right=list(metrics))
    for metric in dict.fromkeys(name for values in metrics.values() for name in values):
        shown.add_row(
            metric, *(number(values[metric]) if metric in values else "" for values in metrics.values())
        )
    return titled("mean over queries, at the best iteration", shown)


def _folds(validation: Mapping[str, Any], iterations: str) -> RenderableType:
    """Return a table of cross-validation folds, with the means over all queries and over the folds."""
    folds, pooled, over_folds = (
        validation["cross_validation"]["folds"],
        validation["metrics"],
        validation["cross_validation"]["over_folds"],
    )
    right = ("queries", iterations, *pooled)
    shown = table("fold", *right, right=right)
    for fold in folds:
        values = (number(fold["metrics"][name]) for name in pooled)
        shown.add_row(plain(fold["fold"]), f"{fold['queries']:,}", plain(fold["best_iteration"]), *values)
    median = plain(validation["cross_validation"]["best_iteration"])
    shown.add_row(
        "all queries", f"{validation['queries']:,}", median, *map(_interval, pooled.values()), style="bold"
    )
    shown.add_row("mean over folds", "", "", *(_interval(over_folds.get(name)) for name in pooled))
    return titled("cross-validation: each query by a model that was not trained on it; 95% intervals", shown)


def _interval(summary: Mapping[str, float | None] | None) -> str:
    if summary is None or summary["mean"] is None:
        return "–"
    if summary["lower"] is None:
        return number(summary["mean"])
    return f"{number(summary['mean'])} ({number(summary['lower'])} to {number(summary['upper'])})"


def _side_by_side(trained: Sequence[TrainingResult], varied: Sequence[str]) -> RenderableType:
    judged = [
        (data, metric)
        for data in ("validation", "test")
        for metric in dict.fromkeys(name for one in trained for name in one.values(data))
    ]
    headings = [f"{data} {metric}" for data, metric in judged]
    iterations = " or ".join(sorted({one.iterations for one in trained}, reverse=True))
    shown = table("model", *varied, iterations, *headings, right=(iterations, *headings))
    for one in trained:
        settings = [plain(one.settings().get(name, "")) for name in varied]
        if one.model is None:
            shown.add_row(one.reference, *settings)
            continue
        values = (number(one.values(data).get(metric)) for data, metric in judged)
        shown.add_row(plain(one.reference), *settings, plain(one.model.best_iteration), *values)
    return shown


def _spread(trained: Sequence[TrainingResult], varied: Sequence[str]) -> RenderableType:
    """Return a table of the mean, standard deviation and range of each metric over repeated trainings."""
    groups: dict[tuple[str, ...], list[TrainingResult]] = {}
    for one in trained:
        if one.model is not None:
            groups.setdefault(tuple(plain(one.settings().get(name, "")) for name in varied), []).append(one)
    columns = ("trainings", "mean", "standard deviation", "min", "max")
    shown = table(*varied, "data", "metric", *columns, right=columns)
    for settings, repeats in groups.items():
        for data in ("validation", "test"):
            for metric in dict.fromkeys(name for one in repeats for name in one.values(data)):
                values = [value for one in repeats if (value := one.values(data).get(metric)) is not None]
                if len(values) > 1:
                    statistics = (fmean(values), stdev(values), min(values), max(values))
                    shown.add_row(*settings, data, plain(metric), str(len(values)), *map(number, statistics))
    return titled("over repeated trainings; differences below the standard deviation may be chance", shown)


def _deciding_metric(jobs: "Sequence[Job]") -> str:
    """Return the metric that selects the best iteration and the best training of a grid; "" if none."""
    return next((job.main_metric.name for job in jobs if job.main_metric), "")


def _best(
    session: ServiceConnection, trained: Sequence[TrainingResult], metric: str
) -> TrainingResult | None:
    """Return the training with the best validation value, the first of ties; None without validation."""
    values = [(one, value) for one in trained if (value := one.values("validation").get(metric)) is not None]
    if not values:
        return None
    described = session.client.request("GET", "/v1/metrics").json()["items"]
    name = metric.partition("@")[0]
    less = any(one["name"] == name and not one["higher_is_better"] for one in described)
    return max(values, key=lambda pair: -pair[1] if less else pair[1])[0]
