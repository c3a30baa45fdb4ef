"""Requests per second of 100 documents, 136 features and 500 trees of 64 leaves, compared with MLServer.

Each server has two processes, four connections and the same model, and for the Open Inference Protocol the
same request bytes. Measurements alternate between the servers, several times; medians are printed. The cost
of the sender is part of each measurement and the same for all servers.
"""

import argparse
import hashlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.http_load import JSON, Figures, Load, ask, measure
from benchmarks.scoring import N_FEATURES, model_text
from core.store import Store, StoreSettings
from core.store.artifacts.keys import model_key
from core.types import Float64Array
from rankery.embedded.ports import free_port

DOCUMENTS, MANY_DOCUMENTS = 100, 1_000
PROCESSES = 2
HOST = "127.0.0.1"
START_SECONDS = 120.0
MLSERVER = Path(".venv-mlserver/bin/mlserver")
ARROW = "application/vnd.apache.arrow.stream"
NAMES = [f"f{column}" for column in range(N_FEATURES)]


@contextmanager
def processes(commands: Sequence[Sequence[str]], ports: Sequence[int], **options: Any) -> Iterator[None]:
    """Run servers until the block ends."""
    running = [subprocess.Popen(command, **options) for command in commands]
    try:
        for port in ports:
            _await_port(port, running)
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _await_port(port: int, running: Sequence["subprocess.Popen[bytes]"]) -> None:
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
def rankery(
    folder: Path,
    models: Mapping[str, tuple[str, Sequence[str]]],
    n_processes: int = PROCESSES,
    **settings: str,
) -> Iterator[list[int]]:
    """Serve models (text and feature names, by name) with processes of the API; yield their ports."""
    store = Store.open(StoreSettings(data_dir=folder))
    store.migrate()
    for name, (text, feature_names) in models.items():
        _add_model(store, name, text, feature_names)
    store.close()
    ports = [free_port(HOST) for _ in range(n_processes)]
    # Without rate limits.
    environment = {
        **os.environ,
        "RANKERY_SCORES_PER_SECOND": "0",
        "RANKERY_DATA_DIR": str(folder),
        **settings,
    }
    commands = [[sys.executable, "-m", "rankery", "api", "--port", str(port)] for port in ports]
    with (
        (folder / "api.log").open("wb") as log,
        processes(commands, ports, stderr=log, stdout=log, env=environment),
    ):
        yield ports


def _add_model(store: Store, name: str, text: str, feature_names: Sequence[str]) -> None:
    with store.begin() as tx:
        dataset = tx.datasets.add("none", {"kind": "synthetic", "queries": 1, "seed": 0})
        job = tx.jobs.add("train", {})
        model = tx.models.add(
            name=name,
            job_id=job.id,
            dataset_id=dataset.id,
            feature_names=list(feature_names),
            loss={},
            hyperparameters={},
            best_iteration=500,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            size_bytes=len(text),
        )
    store.artifacts.write_bytes(model_key(model.id), text.encode())


@contextmanager
def mlserver(folder: Path, text: str) -> Iterator[list[int]]:
    """Serve the model with processes of MLServer, without its worker pool; yield their ports."""
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
        http, grpc, metrics = (free_port(HOST) for _ in range(3))
        ports.append(http)
        server = {"http_port": http, "grpc_port": grpc, "metrics_port": metrics, "parallel_workers": 0}
        (models.parent / "settings.json").write_text(json.dumps({**server, "host": HOST, "debug": False}))
        commands.append([str(MLSERVER.absolute()), "start", str(models.parent)])
    with (folder / "mlserver.log").open("wb") as log, processes(commands, ports, stderr=log, stdout=log):
        time.sleep(5)  # MLServer listens before its models are loaded
        yield ports


def loads(ours: Sequence[int], theirs: Sequence[int]) -> list[Load]:
    """Return the requests; the first two have the same bytes."""
    infer, protocol = "/v2/models/web/infer", tensor_body(draw_features(DOCUMENTS))
    found = [
        Load("MLServer, JSON tensor", theirs, infer, JSON, protocol),
        Load("Rankery, JSON tensor", ours, infer, JSON, protocol),
    ]
    for n_documents in (DOCUMENTS, MANY_DOCUMENTS):
        features, rank, name = draw_features(n_documents), "/v1/models/web/rank", f"{n_documents:,} documents"
        found += [
            Load(f"Rankery, {name}, JSON", ours, rank, JSON, json_body(features)),
            Load(f"Rankery, {name}, Arrow", ours, rank, ARROW, table_body(features)),
        ]
    return found


def draw_features(n_documents: int) -> Float64Array:
    """Draw features of documents for the model."""
    return np.random.default_rng(1).normal(size=(n_documents, N_FEATURES))


def tensor_body(features: Float64Array) -> bytes:
    """Return the body of an inference request."""
    tensor = {
        "name": "features",
        "shape": features.shape,
        "datatype": "FP64",
        "data": features.ravel().tolist(),
    }
    return json.dumps({"inputs": [tensor]}).encode()


def json_body(features: Float64Array) -> bytes:
    """Return the body of a ranking request as JSON."""
    documents = [
        {"id": f"d{number}", "features": dict(zip(NAMES, row, strict=True))}
        for number, row in enumerate(features.tolist())
    ]
    return json.dumps({"queries": [{"id": "q", "documents": documents}]}).encode()


def table_body(features: Float64Array) -> bytes:
    """Return the body of a ranking request as a table of Arrow."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(features.ravel().astype(np.float32)), N_FEATURES)
    table = pa.table({"document_id": [f"d{number}" for number in range(len(features))], "features": lists})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of each measurement")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each row")
    options = parser.parse_args()
    console = Console()
    with console.status("training"):
        text = model_text(500, 64)
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folder = Path(name)
        with console.status("starting the servers"):
            theirs = running.enter_context(mlserver(folder, text))
            ours = running.enter_context(rankery(folder, {"web": (text, NAMES)}))
        rows = loads(ours, theirs)
        scores = [json.loads(ask(load))["outputs"][0]["data"] for load in rows[:2]]
        measured: list[list[Figures]] = [[] for _ in rows]
        for load in rows:
            measure(load, 2.0)  # warm up
        for _ in track(range(options.rounds), "measuring", console=console):
            for load, figures in zip(rows, measured, strict=True):
                figures.append(measure(load, options.seconds))
    table = Table("server and form", "KB", "requests/s", "p50 ms", "p99 ms", "times 1st", "p99 times 1st")
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


if __name__ == "__main__":
    main()
