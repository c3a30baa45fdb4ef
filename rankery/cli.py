"""The `rankery` command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rankery import __version__
from rankery.errors import UserError

app = typer.Typer(
    name="rankery",
    help="Train, evaluate and serve learning-to-rank models over HTTP.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_DataDir = Annotated[
    Path,
    typer.Option(envvar="RANKERY_DATA_DIR", help="Folder of the database, the artifacts and the logs."),
]
_Host = Annotated[
    str,
    typer.Option(envvar="RANKERY_HOST", help="Address to listen on; 0.0.0.0 opens it to the network."),
]
_Port = Annotated[
    int,
    typer.Option(envvar="RANKERY_PORT", min=0, max=65535, help="Port to listen on; 0 takes any free one."),
]
_Judged = typer.Option(exists=True, dir_okay=False, readable=True)


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
    """Train, evaluate and serve learning-to-rank models over HTTP."""


@app.command()
def serve(
    host: _Host = "127.0.0.1",
    port: _Port = 8000,
    data_dir: _DataDir = Path("rankery-data"),
) -> None:
    """Start the whole service on this machine: a private Redis, the API with its dashboard, and a worker.

    Nothing needs to be installed or configured beside it. It runs until Ctrl-C or SIGTERM and leaves no
    process behind. Its own Redis is used even where RANKERY_BROKER_URL is set; to bring your own servers,
    run `rankery api` and `rankery worker`.
    """
    from rankery.embedded.serve import serve as run
    from rankery.embedded.stack import EmbeddedStack

    with _one_sentence_errors():
        run(EmbeddedStack(data_dir, host, port), lambda line: typer.echo(f"rankery: {line}"))


@app.command()
def api(
    host: _Host = "127.0.0.1",
    port: _Port = 8000,
    data_dir: _DataDir = Path("rankery-data"),
) -> None:
    """Run the API and the dashboard alone; needs a Redis at RANKERY_BROKER_URL.

    The database and the artifact store are RANKERY_DATABASE_URL and RANKERY_STORAGE_URL, both inside the
    data folder unless set.
    """
    from rankery.processes import run_api

    with _one_sentence_errors():
        run_api(host, port, data_dir)


@app.command()
def worker(
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Jobs at the same time  [default: 1]", show_default=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of one job  [default: cores // concurrency]", show_default=False),
    ] = None,
    data_dir: _DataDir = Path("rankery-data"),
) -> None:
    """Run a worker alone, which carries out the jobs; needs the same servers and storage as the API."""
    from rankery.processes import run_worker

    with _one_sentence_errors():
        run_worker(data_dir, concurrency=concurrency, threads=threads)


@app.command()
def demo(
    train: Annotated[Path | None, _Judged] = None,
    validation: Annotated[Path | None, _Judged] = None,
    test: Annotated[Path | None, _Judged] = None,
    queries: Annotated[
        int, typer.Option(min=20, max=20_000, help="Synthetic training queries, where no file is given.")
    ] = 300,
) -> None:
    """Train two losses side by side, compare them on held-out queries and rank one query live.

    Runs on a service of its own in a temporary folder, which is removed at the end. Without files the data
    are the random cubic polynomials of the 2006 LambdaRank paper. With --train (LETOR or SVMlight text,
    plain or gzip), --validation defaults to a fifth of its queries, and --test to the validation file.
    """
    from rankery.demo.run import DemoFiles, run_demo

    with _one_sentence_errors():
        run_demo(DemoFiles.of(train, validation, test), queries)


@contextmanager
def _one_sentence_errors() -> Iterator[None]:
    """End with one sentence on standard error and exit code 1 where something expected went wrong."""
    try:
        yield
    except UserError as error:
        typer.echo(f"rankery: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("rankery: stopped", err=True)
        raise typer.Exit(130) from None
