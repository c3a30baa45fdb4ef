"""Requests a second of scoring with samples (`RANKERY_SCORE_LOG_SHARE`), beside those without; medians.

A process of the API for each share, 136 features and 500 trees of 64 leaves. They are measured in turn, in
short rounds; a ratio is the median of the ratios of the rounds. A second process without samples shows the
noise of the machine.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.http_load import Load, measure
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
_JSON = "application/json"


def loads(port: int) -> list[Load]:
    """Make a request of each form."""
    few, many = draw_features(DOCUMENTS), draw_features(MANY_DOCUMENTS)
    rank, infer = "/v1/models/web/rank", "/v2/models/web/infer"
    return [
        Load("100 documents, JSON", [port], rank, _JSON, json_body(few)),
        Load("100 documents, Arrow", [port], rank, ARROW, table_body(few)),
        Load("100 documents, tensor", [port], infer, _JSON, tensor_body(few)),
        Load("1,000 documents, Arrow", [port], rank, ARROW, table_body(many)),
    ]


def compare(ports: Sequence[int], seconds: float, rounds: int, console: Console) -> Table:
    """Measure servers in turn, and return their rates and how many times the first one's they are."""
    servers = [loads(port) for port in ports]
    table = Table("request", *(f"share {share}: requests/s (times 1st)" for share in SHARES))
    for forms in track(list(zip(*servers, strict=True)), "measuring", console=console):
        for load in forms:
            measure(load, 1.0)  # until everything is warm
        taken = [[measure(load, seconds).rate for load in forms] for _ in range(rounds)]
        cells = []
        for server in range(len(forms)):
            rate = statistics.median(row[server] for row in taken)
            ratio = statistics.median(row[server] / row[0] for row in taken)
            cells.append(f"{rate:,.0f} ({ratio:.3f})")
        table.add_row(forms[0].name, *cells)
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=20, help="measurements of each row")
    options = parser.parse_args()
    console = Console()
    with console.status("training"):
        models = {"web": (model_text(500, 64), NAMES)}
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folders = [Path(name) / str(number) for number in range(len(SHARES))]
        ports: list[int] = []
        with console.status("starting the servers"):
            for folder, share in zip(folders, SHARES, strict=True):
                ports += running.enter_context(rankery(folder, models, 1, RANKERY_SCORE_LOG_SHARE=share))
        table = compare(ports, options.seconds, options.rounds, console)
    console.print(table)


if __name__ == "__main__":
    main()
