"""CPU milliseconds of a scoring request with and without samples (`RANKERY_SCORE_LOG_SHARE`).

Each share has one process of the API; the model has 136 features and 500 trees of 64 leaves. Requests
alternate between the processes, in short rounds. The time is CPU time of all threads of a process, so that
other work on the machine has little effect. Numbers in parentheses are multiples of the first process. The
noise is shown by a second process without samples. `--beside FOLDER` also measures the API of another
checkout.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.http_load import JSON, Connection, Load
from benchmarks.scoring import model_text
from benchmarks.serving import (
    ARROW,
    DOCUMENTS,
    MANY_DOCUMENTS,
    NAMES,
    draw_features,
    json_body,
    rankery,
    table_body,
    tensor_body,
)

SHARES = ("0", "0", "0.01", "1")
_REQUESTS_PER_ROUND = 20
_WARM_UP = 50


class Server:
    """A process of the API.

    Args:
        name: Name in the table.
        port: Port of the API.
        process: The process.
    """

    def __init__(self, name: str, port: int, process: psutil.Process) -> None:
        self.name = name
        self.cpu_seconds = 0.0
        self._port = port
        self._process = process

    def ask(self, message: bytes, times: int) -> None:
        """Send a request several times, and add up the CPU time of the process."""
        before = self._process.cpu_times()
        connection = Connection(self._port)  # an idle connection would be closed between the turns
        for _ in range(times):
            connection.exchange(message)
        connection.close()
        after = self._process.cpu_times()
        self.cpu_seconds += after.user - before.user + after.system - before.system


def loads() -> list[Load]:
    """Return one request in each format."""
    few, many = draw_features(DOCUMENTS), draw_features(MANY_DOCUMENTS)
    rank, infer = "/v1/models/web/rank", "/v2/models/web/infer"
    return [
        Load("100 documents, JSON", [], rank, JSON, json_body(few)),
        Load("100 documents, Arrow", [], rank, ARROW, table_body(few)),
        Load("100 documents, tensor", [], infer, JSON, tensor_body(few)),
        Load("1,000 documents, Arrow", [], rank, ARROW, table_body(many)),
    ]


def compare(servers: Sequence[Server], rounds: int, console: Console) -> Table:
    """Send requests to the servers, alternating, and return a table of times."""
    table = Table("request", *(f"{server.name}: ms (times 1st)" for server in servers))
    for load in track(loads(), "measuring", console=console):
        for server in servers:
            server.ask(load.message, _WARM_UP)
            server.cpu_seconds = 0.0
        for _ in range(rounds):
            for server in servers:
                server.ask(load.message, _REQUESTS_PER_ROUND)
        each = [1_000 * server.cpu_seconds / (rounds * _REQUESTS_PER_ROUND) for server in servers]
        table.add_row(load.name, *(f"{taken:.2f} ({taken / each[0]:.3f})" for taken in each))
    return table


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=40, help="rounds of 20 requests to each process")
    parser.add_argument("--beside", type=Path, help="another checkout whose API is measured as well")
    options = parser.parse_args()
    console = Console()
    with console.status("training"):
        models = {"web": (model_text(500, 64), NAMES)}
    checkouts = [("", Path.cwd())] + ([("beside, ", options.beside)] if options.beside else [])
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        servers: list[Server] = []
        with console.status("starting the servers"):
            for share in SHARES:
                for prefix, checkout in checkouts:
                    known = set(psutil.Process().children())
                    folder = Path(name) / str(len(servers))
                    settings = {"RANKERY_SCORE_LOG_SHARE": share, "PYTHONPATH": str(checkout.absolute())}
                    (port,) = running.enter_context(rankery(folder, models, 1, **settings))
                    (process,) = set(psutil.Process().children()) - known
                    servers.append(Server(f"{prefix}share {share}", port, process))
        table = compare(servers, options.rounds, console)
    console.print(table)


if __name__ == "__main__":
    os.environ["PYTHONSAFEPATH"] = "1"  # import the checkout of PYTHONPATH, not the current folder
    main()
