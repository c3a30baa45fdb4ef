"""Requests a second of 100 documents, 136 features and 500 trees of 64 leaves, beside MLServer.

Two processes of each server, four connections, the same model, and for the Open Inference Protocol the same
bytes. The servers are measured in turn, several times; medians. Whoever sends is part of the measurement, the
same for all.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.progress import track
from rich.table import Table

from app.serving.models import model_key
from benchmarks.scoring import N_FEATURES, model_text
from core.store import Store, StoreSettings

DOCUMENTS = 100
CONNECTIONS = 4
PROCESSES = 2
START_SECONDS = 120.0
MLSERVER = Path(".venv-mlserver/bin/mlserver")
ARROW = "application/vnd.apache.arrow.stream"
NAMES = [f"f{column}" for column in range(N_FEATURES)]


@dataclass(frozen=True)
class Load:
    """A request that is sent again and again.

    Attributes:
        name: What the table calls it.
        ports: Of the processes that answer.
        path: Of the address.
        media_type: Of the body.
        body: What is sent.
    """

    name: str
    ports: Sequence[int]
    path: str
    media_type: str
    body: bytes

    @property
    def message(self) -> bytes:
        """The whole request."""
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {self.media_type}\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


@dataclass(frozen=True)
class Figures:
    """What was measured: requests a second, and quantiles of milliseconds."""

    rate: float
    median: float
    p99: float


class Connection:
    """A connection that sends one request after the other."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def exchange(self, message: bytes) -> bytes:
        """Send a request and return the body of its answer, which must be 200."""
        self._socket.sendall(message)
        status, length = self._file.readline(), 0
        while (line := self._file.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self._file.read(length)
        if b" 200 " not in status:
            raise SystemExit(f"{status.decode()}{body[:500].decode(errors='replace')}")
        return body

    def close(self) -> None:
        """Give it up."""
        self._file.close()
        self._socket.close()


def measure(load: Load, seconds: float) -> Figures:
    """Send for some time over all connections at once."""
    message, until = load.message, time.monotonic() + seconds
    taken: list[list[float]] = [[] for _ in range(CONNECTIONS)]

    def send(number: int) -> None:
        connection = Connection(load.ports[number % len(load.ports)])
        while time.monotonic() < until:
            started = time.perf_counter()
            connection.exchange(message)
            taken[number].append(time.perf_counter() - started)
        connection.close()

    threads = [threading.Thread(target=send, args=(number,)) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    milliseconds = np.concatenate([np.array(part) for part in taken]) * 1e3
    return Figures(len(milliseconds) / seconds, *np.quantile(milliseconds, (0.5, 0.99)).tolist())


def ask(load: Load) -> bytes:
    """Send once."""
    connection = Connection(load.ports[0])
    try:
        return connection.exchange(load.message)
    finally:
        connection.close()


@contextmanager
def processes(commands: Sequence[Sequence[str]], ports: Sequence[int], **options: Any) -> Iterator[None]:
    """Run servers until the block ends."""
    running = [subprocess.Popen(command, **options) for command in commands]
    try:
        for port in ports:
            _await(port, running)
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _await(port: int, running: Sequence["subprocess.Popen[bytes]"]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and all(process.poll() is None for process in running):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"nothing answers at port {port}")


@contextmanager
def rankery(folder: Path, text: str) -> Iterator[list[int]]:
    """Serve the model with processes of the API; yields their ports."""
    store = Store.open(StoreSettings(data_dir=folder))
    store.migrate()
    with store.begin() as tx:
        dataset = tx.datasets.add("none", {"kind": "synthetic", "queries": 1, "seed": 0})
        job = tx.jobs.add("train", {})
        model = tx.models.add(
            name="web",
            job_id=job.id,
            dataset_id=dataset.id,
            feature_names=NAMES,
            loss={},
            hyperparameters={},
            best_iteration=500,
            sha256="0" * 64,
            size_bytes=len(text),
        )
    store.artifacts.write_bytes(model_key(model.id), text.encode())
    store.close()
    ports = [_free_port() for _ in range(PROCESSES)]
    # As many requests as there can be.
    environment = {**os.environ, "RANKERY_SCORES_PER_SECOND": "0", "RANKERY_DATA_DIR": str(folder)}
    commands = [[sys.executable, "-m", "rankery", "api", "--port", str(port)] for port in ports]
    with (
        (folder / "api.log").open("wb") as log,
        processes(commands, ports, stderr=log, stdout=log, env=environment),
    ):
        yield ports


@contextmanager
def mlserver(folder: Path, text: str) -> Iterator[list[int]]:
    """Serve the model with processes of MLServer, each of which predicts by itself; yields their ports."""
    commands, ports = [], []
    for number in range(PROCESSES):
        models = folder / f"mlserver-{number}" / "web"
        models.mkdir(parents=True)
        (models / "model.bst").write_text(text)
        settings: Mapping[str, Any] = {
            "name": "web",
            "implementation": "mlserver_lightgbm.LightGBMModel",
            "parameters": {"uri": str(models / "model.bst")},
        }
        (models / "model-settings.json").write_text(json.dumps(settings))
        http, grpc, metrics = (_free_port() for _ in range(3))
        ports.append(http)
        server = {"http_port": http, "grpc_port": grpc, "metrics_port": metrics, "parallel_workers": 0}
        (models.parent / "settings.json").write_text(
            json.dumps({**server, "host": "127.0.0.1", "debug": False})
        )
        commands.append([str(MLSERVER.absolute()), "start", str(models.parent)])
    with (folder / "mlserver.log").open("wb") as log, processes(commands, ports, stderr=log, stdout=log):
        time.sleep(5)  # it listens before it has read its models
        yield ports


def loads(ours: Sequence[int], theirs: Sequence[int]) -> list[Load]:
    """Make the requests: the first two are the same bytes."""
    features = np.random.default_rng(1).normal(size=(DOCUMENTS, N_FEATURES))
    tensor = {
        "name": "features",
        "shape": list(features.shape),
        "datatype": "FP64",
        "data": features.ravel().tolist(),
    }
    protocol = json.dumps({"inputs": [tensor]}).encode()
    ids = [f"d{number}" for number in range(DOCUMENTS)]
    rows = zip(ids, features.tolist(), strict=True)
    documents = [{"id": name, "features": dict(zip(NAMES, row, strict=True))} for name, row in rows]
    named = json.dumps({"queries": [{"id": "q", "documents": documents}]}).encode()
    lists = pa.FixedSizeListArray.from_arrays(pa.array(features.ravel().astype(np.float32)), N_FEATURES)
    table = pa.table({"document_id": ids, "features": lists})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    infer, rank = "/v2/models/web/infer", "/v1/models/web/rank"
    return [
        Load("MLServer, JSON tensor", theirs, infer, "application/json", protocol),
        Load("Rankery, JSON tensor", ours, infer, "application/json", protocol),
        Load("Rankery, JSON by feature names", ours, rank, "application/json", named),
        Load("Rankery, Arrow", ours, rank, ARROW, bytes(sink.getvalue())),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each row")
    options = parser.parse_args()
    console = Console()
    with console.status("training"):
        text = model_text(500, 64)
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folder = Path(name)
        with console.status("starting the servers"):
            theirs = running.enter_context(mlserver(folder, text))
            ours = running.enter_context(rankery(folder, text))
        rows = loads(ours, theirs)
        scores = [json.loads(ask(load))["outputs"][0]["data"] for load in rows[:2]]
        measured: list[list[Figures]] = [[] for _ in rows]
        for load in rows:
            measure(load, 2.0)  # until everything is warm
        for _ in track(range(options.rounds), "measuring", console=console):
            for load, figures in zip(rows, measured, strict=True):
                figures.append(measure(load, options.seconds))
    table = Table("server and form", "KB", "requests/s", "p50 ms", "p99 ms", "times MLServer", "its p99")
    base = _medians(measured[0])
    for load, figures in zip(rows, measured, strict=True):
        found = _medians(figures)
        table.add_row(
            load.name,
            f"{len(load.body) / 1000:,.0f}",
            f"{found.rate:,.0f}",
            f"{found.median:.1f}",
            f"{found.p99:.1f}",
            f"{found.rate / base.rate:.1f}",
            f"{found.p99 / base.p99:.2f}",
        )
    console.print(table)
    console.print("equal scores" if scores[0] == scores[1] else "THE SCORES DIFFER")


def _medians(figures: Sequence[Figures]) -> Figures:
    return Figures(*(statistics.median(column) for column in zip(*map(_row, figures), strict=True)))


def _row(figures: Figures) -> tuple[float, float, float]:
    return figures.rate, figures.median, figures.p99


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


if __name__ == "__main__":
    main()
