"""Milliseconds of `/rank` alone, with logged rankings, and with interleaved lists of two models.

100 documents of 136 features and 500 trees of 64 leaves, in one process. Rows with a user have a new one in
each request, except the row `/rank, interleaved, same user again`. Requests are sequential and alternate
between the rows, which share the noise of the machine.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.http_load import JSON, Connection, Load, ask
from benchmarks.scoring import model_text
from benchmarks.serving import DOCUMENTS, NAMES, draw_features, json_body, rankery

_USER = "user-00000000"
_RANK = "/v1/models/web/rank"
_WARM = 50


def loads(port: int) -> dict[str, Load]:
    """Return the requests by name; the first is the baseline."""
    body = json.loads(json_body(draw_features(DOCUMENTS)))
    models = {"name": "bench", "models": ["web", "other"]}
    connection = Connection(port)
    interleaving = _create_interleaving(connection, models)
    connection.close()
    query = {**body["queries"][0]}
    lists = f"/v1/interleavings/{interleaving}/lists"
    shown = {**body, "interleaving": interleaving}
    bodies: Mapping[str, tuple[str, object]] = {
        "/rank": (_RANK, body),
        "/rank, logged": (_RANK, {**body, "keep": True, "user": _USER, "session": _USER}),
        "/rank by the other model as well": (_RANK, body),
        "/rank, interleaved, new users": (_RANK, {**shown, "user": _USER}),
        "/rank, interleaved, same user again": (_RANK, {**shown, "user": "always the same"}),
        "/lists, new users": (lists, {"query": query, "user": _USER}),
    }
    return {
        name: Load(name, [port], path, JSON, json.dumps(content).encode())
        for name, (path, content) in bodies.items()
    }


def _create_interleaving(connection: Connection, body: Mapping[str, object]) -> str:
    load = Load("", [], "/v1/interleavings", JSON, json.dumps(body).encode())
    return str(json.loads(connection.exchange(load.message, b" 201 "))["id"])


def measure(rows: Mapping[str, Load], requests: int, console: Console) -> dict[str, list[float]]:
    """Return the milliseconds of each request by row."""
    taken: dict[str, list[float]] = {name: [] for name in rows}
    connections = {name: Connection(load.ports[0]) for name, load in rows.items()}
    other = Load("", rows["/rank"].ports, "/v1/models/other/rank", JSON, rows["/rank"].body).message
    for number in track(range(_WARM + requests), "measuring", console=console):
        for name, load in rows.items():
            message = load.message.replace(_USER.encode(), f"user-{number:08}".encode())
            started = time.perf_counter()
            connections[name].exchange(message)
            if "other model" in name:
                connections[name].exchange(other)
            if number >= _WARM:
                taken[name].append(1e3 * (time.perf_counter() - started))
    for connection in connections.values():
        connection.close()
    return taken


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=3_000, help="requests of each row")
    parser.add_argument("--trees", type=int, default=500)
    options = parser.parse_args()
    console = Console()
    with console.status("training"):
        text = model_text(options.trees, 64)
    settings = {"RANKERY_RANKING_LOG_SHARE": "1", "RANKERY_READS_PER_SECOND": "0"}
    settings["RANKERY_WRITES_PER_SECOND"] = "0"
    models = {"web": (text, NAMES), "other": (text, NAMES)}
    with (
        tempfile.TemporaryDirectory() as folder,
        rankery(Path(folder), models, 1, **settings) as (port,),
    ):
        for name in models:
            ask(Load("", [port], f"/v1/models/{name}/rank", JSON, json_body(draw_features(1))))
        taken = measure(loads(port), options.requests, console)
    table = Table("request", "p50 ms", "p99 ms", "p50 added ms", "p99 added ms")
    base = np.quantile(taken["/rank"], (0.5, 0.99))
    for name, milliseconds in taken.items():
        found = np.quantile(milliseconds, (0.5, 0.99))
        table.add_row(name, *(f"{number:.2f}" for number in (*found, *(found - base))))
    console.print(table)


if __name__ == "__main__":
    main()
