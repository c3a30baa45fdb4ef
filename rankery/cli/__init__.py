"""The `rankery` command, a noun a file."""

from typing import Annotated

import typer

from rankery import __version__
from rankery.cli.audit import audit
from rankery.cli.compare import compare
from rankery.cli.dataset_transfers import download_dataset, import_datasets
from rankery.cli.datasets import datasets
from rankery.cli.deletions import delete, storage, trash
from rankery.cli.demo import demo
from rankery.cli.doctor import doctor
from rankery.cli.drift import drift
from rankery.cli.endings import OneSentenceGroup
from rankery.cli.evaluate import evaluate
from rankery.cli.events import events
from rankery.cli.export import export
from rankery.cli.gates import gates
from rankery.cli.inspections import importance, inspect
from rankery.cli.jobs import jobs
from rankery.cli.keys import keys
from rankery.cli.labels import describe, label, projects, tags
from rankery.cli.mlflow import mlflow
from rankery.cli.models import models
from rankery.cli.papers import papers
from rankery.cli.probes import health, warm_up
from rankery.cli.rank import rank
from rankery.cli.schedules import schedules
from rankery.cli.serving import api, rank_worker, serve, worker
from rankery.cli.train import train
from rankery.cli.tune import tune
from rankery.cli.webhooks import webhooks

_SERVICE, _DATA, _MODELS, _OPERATION = "The service", "Data", "Models", "Operation"

app = typer.Typer(
    name="rankery",
    cls=OneSentenceGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rankery {__version__}")
        raise typer.Exit


@app.callback()
def rankery(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Train, evaluate and serve learning-to-rank models over HTTP.

    Exit codes: 0 done; 1 refused or failed, in one sentence on standard error; 2 the command line is not
    understood; 3 the gate of an alias refused a version; 130 interrupted. With --json, standard output holds
    JSON and nothing else; where a command failed, its problem.
    """


for _command in (serve, api, worker, rank_worker, demo, warm_up):
    app.command(rich_help_panel=_SERVICE)(_command)
app.add_typer(health, rich_help_panel=_SERVICE, name="health")
app.add_typer(keys, rich_help_panel=_SERVICE, name="keys")
for _command in (train, tune, rank, evaluate, compare, inspect, importance, export):
    app.command(rich_help_panel=_MODELS)(_command)
app.add_typer(models, rich_help_panel=_MODELS, name="models")
app.add_typer(jobs, rich_help_panel=_MODELS, name="jobs")
app.add_typer(papers, rich_help_panel=_MODELS, name="papers")
app.add_typer(mlflow, rich_help_panel=_MODELS, name="mlflow")
app.add_typer(datasets, rich_help_panel=_DATA, name="datasets")
datasets.command("import")(import_datasets)
datasets.command("download")(download_dataset)
app.command(rich_help_panel=_DATA)(doctor)
app.add_typer(gates, rich_help_panel=_MODELS, name="gates")
app.add_typer(schedules, rich_help_panel=_OPERATION, name="schedules")
app.add_typer(drift, rich_help_panel=_OPERATION, name="drift")
app.add_typer(webhooks, rich_help_panel=_OPERATION, name="webhooks")
for _command in (events, tags, label, describe, projects, delete, storage, audit):
    app.command(rich_help_panel=_OPERATION)(_command)
app.add_typer(trash, rich_help_panel=_OPERATION, name="trash")
