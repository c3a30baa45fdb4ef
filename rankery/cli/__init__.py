"""The `rankery` command: verbs of every day, and nouns with verbs, a family a file."""

from collections.abc import Callable
from typing import Annotated

import typer

from rankery import __version__
from rankery.cli.click_jobs import click_logs
from rankery.cli.compare import compare
from rankery.cli.dataset_transfers import datasets
from rankery.cli.doctor import doctor
from rankery.cli.drift import drift
from rankery.cli.endings import OneSentenceGroup
from rankery.cli.evaluate import evaluate
from rankery.cli.events import audit, events
from rankery.cli.export import export
from rankery.cli.gates import gates
from rankery.cli.jobs import jobs
from rankery.cli.keys import keys
from rankery.cli.lifecycle import projects, storage, trash
from rankery.cli.mlflow import mlflow
from rankery.cli.models import aliases, models
from rankery.cli.papers import experiments, papers
from rankery.cli.rank import rank
from rankery.cli.results import comparisons, evaluations, inspections, rankings
from rankery.cli.schedules import schedules
from rankery.cli.serving import api, demo, health, rank_worker, serve, warm_up, worker
from rankery.cli.studies import studies
from rankery.cli.train import train
from rankery.cli.tune import tune
from rankery.cli.webhooks import webhooks

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

    `rankery VERB` for everyday work, `rankery NOUN VERB` for what a service keeps: `rankery models list`.

    Exit codes: 0 done; 1 refused or failed, in one sentence on standard error; 2 the command line is not
    understood; 3 the gate of an alias refused a version; 130 interrupted. With --json, standard output holds
    JSON and nothing else; where a command failed, its problem.
    """


# By panel of the help: commands of one word with their lines of it.
_VERBS: dict[str, dict[Callable[..., None], str]] = {
    "Everyday": {
        serve: "Start the whole service on this machine.",
        demo: "Train and compare two losses, as an example.",
        doctor: "Check judged files before they are uploaded.",
        train: "Train a model from a file or a dataset.",
        tune: "Search hyperparameters by many trainings.",
        evaluate: "Measure a model or TREC runs.",
        compare: "Compare models and rankings, query by query.",
        rank: "Order the documents of a file by a model.",
        export: "Write a model for another engine.",
    },
    "Processes and images": {
        api: "Run the API and the dashboard alone.",
        worker: "Run a worker alone.",
        rank_worker: "Run a worker of a Dask cluster.",
        warm_up: "Compile the kernels ahead.",
    },
}
# Their lines are their verbs.
_NOUNS: dict[str, dict[str, typer.Typer]] = {
    "Data and models": {
        "datasets": datasets,
        "click-logs": click_logs,
        "models": models,
        "aliases": aliases,
        "gates": gates,
        "mlflow": mlflow,
    },
    "Jobs and results": {
        "jobs": jobs,
        "evaluations": evaluations,
        "comparisons": comparisons,
        "rankings": rankings,
        "inspections": inspections,
        "studies": studies,
        "papers": papers,
        "experiments": experiments,
    },
    "Operation": {
        "schedules": schedules,
        "drift": drift,
        "projects": projects,
        "trash": trash,
        "storage": storage,
        "events": events,
        "webhooks": webhooks,
        "keys": keys,
        "audit": audit,
    },
    "Processes and images": {"health": health},
}

for _panel in dict.fromkeys((*_VERBS, *_NOUNS)):
    for _verb, _line in _VERBS.get(_panel, {}).items():
        app.command(rich_help_panel=_panel, short_help=_line)(_verb)
    for _name, _noun in _NOUNS.get(_panel, {}).items():
        _verbs = ", ".join(str(command.name) for command in _noun.registered_commands)
        app.add_typer(_noun, name=_name, rich_help_panel=_panel, short_help=_verbs)
