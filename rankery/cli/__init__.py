"""The `rankery` command, a noun a file."""

from typing import Annotated

import typer

from rankery import __version__
from rankery.cli.compare import compare
from rankery.cli.datasets import datasets
from rankery.cli.demo import demo
from rankery.cli.doctor import doctor
from rankery.cli.endings import OneSentenceGroup
from rankery.cli.evaluate import evaluate
from rankery.cli.export import export
from rankery.cli.jobs import jobs
from rankery.cli.keys import keys
from rankery.cli.mlflow import mlflow
from rankery.cli.models import models
from rankery.cli.papers import papers
from rankery.cli.probes import health, warm_up
from rankery.cli.rank import rank
from rankery.cli.serving import api, rank_worker, serve, worker
from rankery.cli.train import train
from rankery.cli.tune import tune

_SERVICE, _DATA, _MODELS = "The service", "Data", "Models"

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
    understood; 130 interrupted. With --json, standard output holds JSON and nothing else.
    """


for _command in (serve, api, worker, rank_worker, demo, warm_up):
    app.command(rich_help_panel=_SERVICE)(_command)
app.add_typer(health, rich_help_panel=_SERVICE, name="health")
app.add_typer(keys, rich_help_panel=_SERVICE, name="keys")
for _command in (train, tune, rank, evaluate, compare, export):
    app.command(rich_help_panel=_MODELS)(_command)
app.add_typer(models, rich_help_panel=_MODELS, name="models")
app.add_typer(jobs, rich_help_panel=_MODELS, name="jobs")
app.add_typer(papers, rich_help_panel=_MODELS, name="papers")
app.add_typer(mlflow, rich_help_panel=_MODELS, name="mlflow")
app.add_typer(datasets, rich_help_panel=_DATA, name="datasets")
app.command(rich_help_panel=_DATA)(doctor)
