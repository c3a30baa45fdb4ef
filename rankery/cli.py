"""The `rankery` command."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
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


class Lane(StrEnum):
    """Which jobs a worker carries out."""

    training = "training"
    quick = "quick"


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
_TREC_METRICS = ("map", "mrr", "ndcg", "ndcg@10", "precision@10", "recall@100", "bpref")
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
    from rankery.keys import require_key_beyond_loopback

    with _one_sentence_errors():
        require_key_beyond_loopback(host, data_dir)
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
    lane: Annotated[
        Lane | None,
        typer.Option(help="Jobs to carry out  [default: a process for each lane]", show_default=False),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Trainings at the same time  [default: 1]", show_default=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of one job  [default: cores // concurrency]", show_default=False),
    ] = None,
    data_dir: _DataDir = Path("rankery-data"),
) -> None:
    """Run a worker alone, which carries out the jobs; needs the same servers and storage as the API.

    Trainings and the jobs that are quick beside them, such as reading datasets and evaluating, have lanes of
    their own, so that none of the latter waits behind one of the former.
    """
    from rankery.processes import run_worker

    with _one_sentence_errors():
        run_worker(data_dir, lane and lane.value, concurrency=concurrency, threads=threads)


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


@app.command()
def evaluate(
    qrels: Annotated[
        Path,
        typer.Option(
            exists=True, dir_okay=False, readable=True, help="Judgments: TREC qrels, or any judged dataset."
        ),
    ],
    run: Annotated[
        list[Path],
        typer.Option(exists=True, dir_okay=False, readable=True, help="TREC run; several are compared."),
    ],
    metric: Annotated[list[str], typer.Option(help="Such as ndcg@10; the first decides comparisons.")] = [  # noqa: B006
        *_TREC_METRICS
    ],
    preset: Annotated[
        str, typer.Option(help="Conventions: default, lightgbm, xgboost, sklearn, trec_eval or letor.")
    ] = "trec_eval",
    only_retrieved: Annotated[
        bool,
        typer.Option("--only-retrieved", help="Leave out queries without a result, which otherwise count 0."),
    ] = False,
    permutations: Annotated[int, typer.Option(min=1_000, max=10_000_000)] = 100_000,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1)] = 42,
    per_query: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Also write each query's values to this CSV file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Measure the runs of any system by judgments, and compare them; needs no service.

    All queries of the judgments count, as with trec_eval's -c. Two runs or more are compared query by query:
    Fisher's randomisation test, the paired t-test, and Holm's correction over all pairs and metrics.
    """
    from rich.console import Console

    from rankery.evaluate import as_json, show, write_queries
    from rankery.local import evaluate_runs

    with _one_sentence_errors():
        found = evaluate_runs(
            qrels,
            run,
            list(dict.fromkeys(metric)),
            contract=preset,
            only_retrieved=only_retrieved,
            permutations=permutations,
            seed=seed,
        )
        if per_query is not None:
            write_queries(found, per_query)
        if json:
            typer.echo(as_json(found))
        else:
            show(found, Console())


keys = typer.Typer(
    help="Make, list and revoke API keys; with the service running or not.", no_args_is_help=True
)
app.add_typer(keys, name="keys")


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What people call it.")],
    scope: Annotated[
        list[str],
        typer.Option(
            help="read shows, write also submits and deletes, score ranks documents and nothing else, admin"
            " does everything; may be given several times."
        ),
    ],
    expires_in: Annotated[
        str | None, typer.Option(help="How long it is accepted: 90d, 12h, 30m.", show_default="for ever")
    ] = None,
    data_dir: _DataDir = Path("rankery-data"),
) -> None:
    """Make a key and print its secret, which is shown this once.

    The secret alone goes to standard output. From the first key on the service lets nobody in without one,
    and may listen on other addresses than loopback.
    """
    from rankery.keys import create_key as create

    with _one_sentence_errors():
        created = create(data_dir, name, scope, expires_in)
    typer.echo(f"rankery: {created.sentence}", err=True)
    typer.echo(created.secret)


@keys.command("list")
def list_keys(data_dir: _DataDir = Path("rankery-data")) -> None:
    """List all keys, newest first, without their secrets."""
    from rich.console import Console

    from rankery.keys import key_table

    with _one_sentence_errors():
        Console().print(key_table(data_dir))


@keys.command("revoke")
def revoke_key(
    id: Annotated[str, typer.Argument(help="The key's id, key_…")],
    data_dir: _DataDir = Path("rankery-data"),
) -> None:
    """Let a key in no more; a running service refuses it within a second."""
    from rankery.keys import revoke_key as revoke

    with _one_sentence_errors():
        typer.echo(f"rankery: {revoke(data_dir, id)}")


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
