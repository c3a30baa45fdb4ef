"""The `rankery` command, a noun a file."""

from typing import Annotated

import typer

from rankery import __version__
from rankery.cli.demo import demo
from rankery.cli.doctor import doctor
from rankery.cli.endings import OneSentenceGroup
from rankery.cli.evaluate import evaluate
from rankery.cli.keys import keys
from rankery.cli.serving import api, serve, worker

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


app.command(rich_help_panel=_SERVICE)(serve)
app.command(rich_help_panel=_SERVICE)(api)
app.command(rich_help_panel=_SERVICE)(worker)
app.add_typer(keys, name="keys", rich_help_panel=_SERVICE)
app.command(rich_help_panel=_SERVICE)(demo)
app.command(rich_help_panel=_DATA)(doctor)
app.command(rich_help_panel=_MODELS)(evaluate)
