"""Latency of dashboards that poll a running training, at 200 requests per second.

The pollers form an open loop: a late response delays no other poller, and the next request of a poller is
timed from its scheduled time. Each poller has one connection, stores the ETags of responses, and assembles
the learning curves from `history?after=…`, so that lost or repeated iterations are detected.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack

TIMEOUT_SECONDS = 300.0
TARGET_SECONDS = 0.050


@dataclass(frozen=True)
class Answer:
    """An HTTP response."""

    status: int
    etag: str | None
    body: bytes


@dataclass
class Connection:
    """One kept-alive HTTP/1.1 connection; opened again after an error."""

    host: str
    port: int
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, etag: str | None) -> Answer:
        """Send one GET and read its response."""
        try:
            return await self._exchange(path, etag)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _exchange(self, path: str, etag: str | None) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self._streams
        condition = f"If-None-Match: {etag}\r\n" if etag else ""
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n{condition}\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(head[0].split()[1]), headers.get("etag"), body)


@dataclass
class Figures:
    """Measured seconds, statuses and faults of all pollers."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, seconds: float, outcome: str) -> None:
        """Count one request."""
        self.seconds.setdefault(what, []).append(seconds)
        self.statuses[outcome] += 1


@dataclass
class Poller:
    """A simulated page that polls one job, its learning curves and, less often, the list of jobs."""

    connection: Connection
    job_id: str
    figures: Figures
    iterations: list[int] = field(default_factory=list)
    furthest: int = 0
    _etags: dict[str, str] = field(default_factory=dict)

    async def run(self, moments: Sequence[float]) -> None:
        """Send one request at each moment of the monotonic clock."""
        for what, due in zip(self._rounds(), moments, strict=False):
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await self.poll(what, due)

    async def poll(self, what: str, due: float) -> None:
        """Send one request and process its response."""
        path = self._path(what)
        try:
            answer = await self.connection.get(path, self._etags.get(path))
        except (OSError, EOFError, asyncio.IncompleteReadError) as error:
            self.figures.add(what, time.monotonic() - due, type(error).__name__)
            return
        self.figures.add(what, time.monotonic() - due, str(answer.status))
        if answer.status == 200:
            if answer.etag:
                self._etags[path] = answer.etag
            self._record(what, json.loads(answer.body))

    def _rounds(self) -> Iterator[str]:
        while True:
            yield from ("job", "history", "job", "history", "jobs")

    def _path(self, what: str) -> str:
        after = self.iterations[-1] if self.iterations else 0
        return {
            "job": f"/v1/jobs/{self.job_id}",
            "history": f"/v1/jobs/{self.job_id}/history?after={after}",
            "jobs": "/v1/jobs?limit=20",
        }[what]

    def _record(self, what: str, document: Any) -> None:
        if what == "job":
            iteration = (document["progress"] or {}).get("iteration") or 0
            if iteration < self.furthest:
                self.figures.faults["progress went back"] += 1
            self.furthest = max(self.furthest, iteration)
        elif what == "history":
            self.iterations += document["iterations"]


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second, over all pollers")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pollers", type=int, default=50)
    parser.add_argument("--queries", type=int, default=500, help="queries of the training")
    arguments = parser.parse_args()
    console = Console()
    with (
        tempfile.TemporaryDirectory(prefix="rankery-bench-") as name,
        EmbeddedStack(Path(name)) as stack,
        Client(stack.url) as client,
    ):
        job = _start_training(console, client, arguments.queries)
        parts = urlsplit(stack.url)
        figures = Figures()
        pollers = [
            Poller(Connection(str(parts.hostname), parts.port or 80), job.id, figures)
            for _ in range(arguments.pollers)
        ]
        asyncio.run(_load(console, pollers, arguments.rate, arguments.seconds))
        still_running = job.refresh().status == "running"
        job.cancel()
        _wait_for_end(job)
        _check(pollers, job.history().iterations)
        _print(console, figures, arguments.rate, arguments.seconds)
        console.print(
            f"iterations of the training: {pollers[0].iterations[-1] if pollers[0].iterations else 0}"
            f" seen, still running at the end: {'yes' if still_running else 'no'}"
        )


def _start_training(console: Console, client: Client, queries: int) -> Job:
    """Return a running training that lasts longer than the measurement; it is cancelled afterwards."""
    with console.status("starting a training"):
        parts = [
            client.synthetic_dataset(size, seed=seed, name=name)
            for seed, (name, size) in enumerate({"train": queries, "validation": queries // 4}.items())
        ]
        train, validation = (part.wait(timeout_seconds=TIMEOUT_SECONDS).id for part in parts)
        job = client.submit(
            {
                "kind": "train",
                "model_name": "bench",
                "dataset_id": train,
                "validation": {"dataset_id": validation},
                "loss": {"name": "lambdarank"},
                "hyperparameters": {"num_iterations": 100_000, "learning_rate": 0.01},
            }
        )
        while not job.refresh().iteration:
            time.sleep(0.1)
    return job


async def _load(console: Console, pollers: list[Poller], rate: float, seconds: float) -> None:
    started = time.monotonic() + 0.5
    interval = len(pollers) / rate
    schedules = [
        [started + number / rate + turn * interval for turn in range(int(seconds / interval))]
        for number in range(len(pollers))
    ]
    bar = Progress(
        TextColumn("polling"), BarColumn(), TimeRemainingColumn(), console=console, refresh_per_second=2
    )
    with bar:
        running = asyncio.gather(*(p.run(moments) for p, moments in zip(pollers, schedules, strict=True)))
        task = bar.add_task("polling", total=seconds)
        while not running.done():
            bar.update(task, completed=time.monotonic() - started)
            await asyncio.wait({running}, timeout=1.0)
        await running
    for poller in pollers:
        poller.connection.close()


def _wait_for_end(job: Job) -> None:
    while job.refresh().status == "running":
        time.sleep(0.1)


def _check(pollers: list[Poller], recorded: list[int]) -> None:
    faults = pollers[0].figures.faults
    if recorded != list(range(1, len(recorded) + 1)):
        faults["iterations missing in the service"] += 1
    for poller in pollers:
        if poller.iterations != recorded[: len(poller.iterations)]:
            faults["a poller's curve has gaps or repeats"] += 1


def _print(console: Console, figures: Figures, rate: float, seconds: float) -> None:
    table = Table("request", "number", "p50 ms", "p90 ms", "p99 ms", "max ms")
    every = [seconds for values in figures.seconds.values() for seconds in values]
    for what, values in [*figures.seconds.items(), ("all", every)]:
        marks = np.quantile(values, [0.5, 0.9, 0.99, 1.0]) * 1000
        table.add_row(what, f"{len(values):,}", *(f"{mark:.1f}" for mark in marks))
    console.print(table)
    total = sum(figures.statuses.values())
    shares = ", ".join(f"{status}: {n / total:.1%}" for status, n in sorted(figures.statuses.items()))
    met = float(np.quantile(every, 0.99)) < TARGET_SECONDS
    console.print(f"{total / seconds:.0f} requests a second of {rate:.0f}; answers {shares}")
    console.print(f"p99 below {TARGET_SECONDS * 1000:.0f} ms: {'yes' if met else 'NO'}")
    console.print(f"lost or repeated progress: {dict(figures.faults) or 'none'}")


if __name__ == "__main__":
    main()
