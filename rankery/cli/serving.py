"""Commands that run the processes of the service, the demo, and the health probes."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rankery.cli.options import DEFAULT_DATA_DIR, DataDir, Host, Port, file_option
from rankery.cli.printing import say

health = typer.Typer(help="Check whether the API or the worker on this machine works, for health probes.")

Live = Annotated[
    bool, typer.Option("--live", help="Check only that the process is alive, not that it is ready.")
]


_ApiHost = Annotated[str, typer.Option(envvar="RANKERY_HOST", help="Address that the API listens on.")]
_ApiPort = Annotated[
    int, typer.Option(envvar="RANKERY_PORT", min=0, max=65535, help="Port that the API listens on.")
]
# Passed by `rankery serve`.
_Descriptors = Annotated[list[int] | None, typer.Option(min=0, hidden=True, help="Listening socket to use.")]


class Lane(StrEnum):
    """Job lane of a worker."""

    training = "training"
    quick = "quick"


class Purpose(StrEnum):
    """Function of the API that a readiness probe checks."""

    scoring = "scoring"
    jobs = "jobs"
    everything = "everything"


def serve(host: Host = "127.0.0.1", port: Port = 8000, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Start the whole service on this machine: a private Valkey, the API with its dashboard, and a worker.

    No other software needs to be installed or configured. The service runs until Ctrl-C or SIGTERM and stops
    all its processes. Commands with the same data folder connect to it. The private Valkey is used even if
    RANKERY_BROKER_URL is set; to use your own servers, run `rankery api` and `rankery worker`.

    Example: `rankery serve --port 0 --data-dir /srv/rankery`
    """
    from rankery.embedded.serve import serve as run
    from rankery.embedded.stack import EmbeddedStack
    from rankery.keys import require_key_beyond_loopback
    from rankery.processes import capture_output, unknown_variables
    from rankery.server_package import require_server_package

    require_server_package()
    capture_output()
    require_key_beyond_loopback(host, data_dir)
    for name, hint in unknown_variables().items():
        say(f"{name} is not a setting: {hint}")
    run(EmbeddedStack(data_dir, host, port), lambda line: say(line, err=False))


def demo(
    train: Annotated[Path | None, file_option("Judged training data.")] = None,
    validation: Annotated[Path | None, file_option("Data that select the best iteration.")] = None,
    test: Annotated[Path | None, file_option("Data on which the losses are compared.")] = None,
    queries: Annotated[
        int,
        typer.Option(min=20, max=20_000, help="Number of synthetic training queries, if no file is given."),
    ] = 300,
) -> None:
    """Train with two losses, compare the models on held-out queries and rank one query live.

    Runs on a separate service in a temporary folder, which is removed at the end. Without files the data come
    from the random cubic polynomials of the 2006 LambdaRank paper. With --train, a file in any format of
    `rankery datasets upload`, --validation defaults to a fifth of its queries, and --test to the validation
    data.

    Example: `rankery demo --train train.txt --test test.txt`
    """
    from rankery.demo.run import DemoFiles, run_demo

    run_demo(DemoFiles.of(train, validation, test), queries)


def api(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    descriptor: _Descriptors = None,
) -> None:
    """Run only the API and the dashboard; needs a Valkey or Redis at RANKERY_BROKER_URL.

    The database and the artifact store are RANKERY_DATABASE_URL and RANKERY_STORAGE_URL, both inside the
    data folder unless set.

    Example: `RANKERY_BROKER_URL=redis://redis:6379/0 rankery api --host 0.0.0.0`
    """
    from rankery.processes import run_api

    run_api(host, port, data_dir, descriptor or ())


def worker(
    lane: Annotated[
        Lane | None,
        typer.Option(help="Lane of jobs to run  [default: a process for each lane]", show_default=False),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Trainings at the same time  [default: 1]", show_default=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of one job  [default: cores // concurrency]", show_default=False),
    ] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Run only a worker, which executes the jobs; needs the same servers and storage as the API.

    Trainings and quick jobs, such as reading datasets and evaluating, have separate lanes, so that quick jobs
    do not wait behind trainings.

    Example: `rankery worker --lane training --concurrency 2`
    """
    from rankery.processes import run_worker

    run_worker(data_dir, lane and lane.value, concurrency=concurrency, threads=threads)


def rank_worker(
    scheduler: Annotated[
        str | None,
        typer.Option(help="Dask scheduler  [default: RANKERY_DASK_SCHEDULER]", show_default=False),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Threads for reading files; trainings use those of their job  [default: cores]",
            show_default=False,
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(help="Memory for reading files, such as 8GiB; beyond it, data spill to disk")
    ] = "auto",
    host: Annotated[
        str | None,
        typer.Option(
            help="Address for other machines  [default: that of the scheduler's network]", show_default=False
        ),
    ] = None,
) -> None:
    """Run a worker of a Dask cluster for ranks of distributed trainings and for reading dataset files.

    Certificates are RANKERY_DASK_TLS_CA_FILE, RANKERY_DASK_TLS_CERT_FILE and RANKERY_DASK_TLS_KEY_FILE. The
    worker needs no database and no broker. Start one on each machine: the number of workers is the largest
    number of ranks of a training.

    Example: `rankery rank-worker --scheduler tls://scheduler:8786`
    """
    from rankery.processes import run_rank_worker

    run_rank_worker(scheduler, threads=threads, memory=memory, host=host, say=say)


def warm_up() -> None:
    """Compile the Numba kernels ahead of time, so that the service starts without waiting for them.

    As many processes run as processors and memory allow. The cache is NUMBA_CACHE_DIR, else a folder beside
    the installed package, or the user's cache folder if that one cannot be written. Cached kernels are not
    compiled again, and commands that run at the same time share the work.

    Example: `NUMBA_CACHE_DIR=/var/cache/rankery rankery warm-up`
    """
    from rankery.embedded.compilation_progress import compilation_progress
    from rankery.processes import compile_kernels

    with compilation_progress() as report:
        folder = compile_kernels(report)
    say(f"all kernels are compiled in {folder}", err=False)


@health.command("api")
def health_of_api(
    purpose: Annotated[
        Purpose, typer.Option("--for", help="Function to check: scoring needs no broker and no worker.")
    ] = Purpose.scoring,
    live: Live = False,
    host: _ApiHost = "127.0.0.1",
    port: _ApiPort = 8000,
) -> None:
    """Check whether the API of this machine is ready; the exit code is 1 if it is not.

    Example: `rankery health api --for jobs`
    """
    from rankery.health import check_api

    check_api(host, port, None if purpose is Purpose.everything else purpose.value, live=live)
    say("the API is alive" if live else f"the API is ready for {purpose.value}", err=False)


@health.command("worker")
def health_of_worker(
    lane: Annotated[
        Lane | None, typer.Option(help="Lane of the worker  [default: both lanes]", show_default=False)
    ] = None,
    live: Live = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Check whether the worker of this machine accepts jobs; the exit code is 1 if it does not.

    The check reads the health file of the worker and connects to no server.

    Example: `rankery health worker --lane training --live`
    """
    from rankery.health import check_worker

    check_worker(data_dir, list(Lane) if lane is None else [lane], live=live)
    say("the worker is alive" if live else "the worker is ready", err=False)
