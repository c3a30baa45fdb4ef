"""The `rankery` command: everyday verbs, and nouns with verbs; one module for each group of commands."""

from typing import Annotated

import typer

from rankery import __version__
from rankery.cli.commands import RankeryGroup

app = typer.Typer(
    name="rankery",
    cls=RankeryGroup,
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

    `rankery VERB` for everyday work, `rankery NOUN VERB` for objects of a service: `rankery models list`.

    Exit codes: 0 done; 1 refused or failed, with one sentence on standard error; 2 invalid command line;
    3 the gate of an alias refused a version; 130 interrupted. With --json, standard output holds only JSON:
    the result, or the problem if the command failed.
    """
