"""`rankery warm-up` and `rankery health`: what images and their probes run."""

from enum import StrEnum
from typing import Annotated

import typer

from rankery.cli.options import DEFAULT_DATA_DIR, DataDir, Host, Port
from rankery.cli.printing import say
from rankery.cli.serving import Lane

health = typer.Typer(help="Ask whether a part of the service on this machine works, as probes do.")

Live = Annotated[
    bool, typer.Option("--live", help="Only whether the process goes on, whatever it waits for.")
]


class Purpose(StrEnum):
    """What is to work."""

    scoring = "scoring"
    jobs = "jobs"
    everything = "everything"


def warm_up() -> None:
    """Compile the kernels ahead, in as many processes as there are processors, so that no start waits.

    They are kept in NUMBA_CACHE_DIR, else beside the installed package. What is compiled already is left
    alone, and two commands at once share the work.

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
        Purpose, typer.Option("--for", help="What is to work: scoring needs no broker and no worker.")
    ] = Purpose.scoring,
    live: Live = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
) -> None:
    """Ask the API of this machine whether it is ready; exit code 1 where it is not.

    Example: `rankery health api --for jobs`
    """
    from rankery.health import check_api

    check_api(host, port, None if purpose is Purpose.everything else purpose.value, live=live)
    say("the API is alive" if live else f"the API is ready for {purpose.value}", err=False)


@health.command("worker")
def health_of_worker(
    lane: Annotated[
        Lane | None, typer.Option(help="Its lane  [default: both of them]", show_default=False)
    ] = None,
    live: Live = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Ask the worker of this machine whether it carries out jobs; exit code 1 where it does not.

    Nothing is imported but what reads a file, and no server is asked.

    Example: `rankery health worker --lane training --live`
    """
    from rankery.health import check_worker

    check_worker(data_dir, list(Lane) if lane is None else [lane], live=live)
    say("the worker is alive" if live else "the worker is ready", err=False)
