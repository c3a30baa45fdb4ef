"""What came out of trainings, and what to do with it next."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from rankery.cli.endings import FAILED
from rankery.cli.evaluate import evaluation_tables
from rankery.cli.findings import findings_table
from rankery.cli.jobs import ending
from rankery.cli.printing import number, plain, say, table, titled
from rankery.cli.session import Session

if TYPE_CHECKING:
    from rankery.client import Evaluation, Job, Model


def documents(jobs: "Sequence[Job]") -> Any:
    """Return what programs are told of trainings: one document, or a list of those of a grid."""
    made = [_document(job) for job in jobs]
    return made[0] if len(made) == 1 else made


def show_training(session: Session, job: "Job") -> None:
    """Print how good a model is, and the next commands."""
    model = job.model()
    evaluation = job.evaluation() if (job.result or {}).get("evaluation_id") else None
    session.show(_document(job, model, evaluation), *_pictures(session, job, model, evaluation))


def show_grid(session: Session, jobs: "Sequence[Job]", varied: Sequence[str]) -> None:
    """Print the models of a grid side by side; the exit code is 1 where a training failed.

    Args:
        session: Of the service.
        jobs: The trainings, which have ended.
        varied: What the grid goes through.
    """
    models = {job.id: job.model() for job in jobs if job.status == "succeeded"}
    judged = [(data, metric) for data in ("validation", "test") for metric in _metrics(jobs, models, data)]
    headings = [f"{data} {metric}" for data, metric in judged]
    shown = table("model", *varied, "trees", *headings, right=("trees", *headings))
    for job in jobs:
        model = models.get(job.id)
        settings = [plain(_settings(job).get(name, "")) for name in varied]
        if model is None:
            say(ending(job))
            shown.add_row(job.status, *settings)
            continue
        values = (number(_value(job, model, data, metric)) for data, metric in judged)
        shown.add_row(f"{model.name}:{model.version}", *settings, plain(model.best_iteration), *values)
    session.show([_document(job, models.get(job.id)) for job in jobs], shown)
    if len(models) < len(jobs):
        raise typer.Exit(FAILED)


def _document(
    job: "Job", model: "Model | None" = None, evaluation: "Evaluation | None" = None
) -> dict[str, Any]:
    return {"job": job, "model": model, "evaluation": evaluation}


def _pictures(
    session: Session, job: "Job", model: "Model", evaluation: "Evaluation | None"
) -> Iterator[RenderableType]:
    reference = f"{model.name}:{model.version}"
    seconds = (
        ""
        if job.started_at is None or job.finished_at is None
        else (f" in {(job.finished_at - job.started_at).total_seconds():.0f} s")
    )
    yield f"[bold]{plain(reference)}[/bold]: {model.best_iteration:,} trees{seconds}"
    warnings = [found.model_dump() for found in job.findings or () if found.severity != "info"]
    if warnings:
        yield from ("", findings_table(warnings))
    yield from [_latest(job)] if evaluation is None else evaluation_tables(evaluation)
    yield "Next:"
    for words in (
        f"models show {reference}",
        f"rank {reference} documents.csv",
        f"compare {reference} OTHER --dataset {(job.spec.get('test_dataset_id') or 'test.txt')}",
        f"models promote {reference}",
        f"export {reference} --format lightgbm -o {model.name}-{model.version}.model.txt",
    ):
        yield f"  {plain(session.command(words))}"


def _latest(job: "Job") -> RenderableType:
    """Show the values of the best iteration, a column for each data."""
    metrics: Mapping[str, Mapping[str, float | None]] = job.metrics or {}
    shown = table("metric", *metrics, right=list(metrics))
    for metric in dict.fromkeys(name for values in metrics.values() for name in values):
        shown.add_row(
            metric, *(number(values[metric]) if metric in values else "" for values in metrics.values())
        )
    return titled("mean over queries, at the best iteration", shown)


def _settings(job: "Job") -> dict[str, Any]:
    loss = {f"loss.{name}": value for name, value in job.spec["loss"].items() if name != "name"}
    return {"loss": job.spec["loss"]["name"], **loss, **job.spec["hyperparameters"]}


def _metrics(jobs: "Sequence[Job]", models: "Mapping[str, Model]", data: str) -> list[str]:
    found = [_values(job, models[job.id], data) for job in jobs if job.id in models]
    return list(dict.fromkeys(name for values in found for name in values))


def _values(job: "Job", model: "Model", data: str) -> Mapping[str, Any]:
    return (model.metrics if data == "test" else (job.metrics or {}).get(data)) or {}


def _value(job: "Job", model: "Model", data: str, metric: str) -> float | None:
    return _values(job, model, data).get(metric)
