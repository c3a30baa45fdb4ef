"""Scoring requests at a constant rate during attacks, one attack at a time, on two processes of the API.

The scoring requests form an open loop: each is scheduled and timed even if earlier ones are
unanswered. Up to 64 are sent at the same time. A request fails unless status 200 arrives within ten seconds.
Scoring requests and attacks alternate between the processes, as with a load balancer. Attackers are separate
processes, which share the machine with the server and the benchmark.
"""

import argparse
import asyncio
import contextlib
import http.client
import itertools
import json
import multiprocessing
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.attack_requests import (
    ATTACKS,
    COLLIDING_FEATURES,
    WIDE_FEATURES,
    Attack,
    colliding_names,
)
from benchmarks.http_load import JSON, Load
from benchmarks.scoring import N_FEATURES, model_text
from benchmarks.serving import HOST, NAMES, rankery

RATE = 300.0
DOCUMENTS = 100
TIMEOUT_SECONDS = 10.0
CONNECTIONS = 64
TARGET_MS = 100.0
HELD_SECONDS, FREE_SECONDS = 8.0, 0.5
REST_SECONDS = 15.0  # pause in which the work of an attack ends


def attack(
    number: int, ports: Sequence[int], database: Path, seconds: float, begun: Any, outcomes: Any
) -> None:
    """Attack for some time in a separate process; put the counts of responses into `outcomes`."""
    chosen = ATTACKS[number]
    chosen.request(0)  # built in advance, so that its cost is not measured
    begun.set()
    until = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    numbers = itertools.count()
    threads = [
        threading.Thread(target=_send, args=(chosen, numbers, ports, until, counts))
        for _ in range(chosen.n_senders)
    ]
    if chosen.holds_lock:
        threads.append(threading.Thread(target=_hold_lock, args=(database, until)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcomes.put(counts)


def _send(
    chosen: Attack, numbers: Iterator[int], ports: Sequence[int], until: float, counts: Counter[str]
) -> None:
    connections = itertools.cycle([http.client.HTTPConnection(HOST, port, timeout=60) for port in ports])
    while time.monotonic() < until:
        connection, (method, path, body, headers) = next(connections), chosen.request(next(numbers))
        due = time.monotonic() + chosen.pace_seconds
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            answer.read()
            counts[str(answer.status)] += 1
            due += float(answer.headers.get("Retry-After", 0))
        except (OSError, http.client.HTTPException) as error:
            counts[type(error).__name__] += 1
            connection.close()
        time.sleep(max(0.0, min(due, until) - time.monotonic()))


def _hold_lock(database: Path, until: float) -> None:
    with contextlib.closing(sqlite3.connect(database, timeout=60, isolation_level=None)) as holder:
        while time.monotonic() < until:
            holder.execute("BEGIN IMMEDIATE")
            time.sleep(max(0.0, min(HELD_SECONDS, until - time.monotonic())))
            holder.execute("ROLLBACK")
            time.sleep(FREE_SECONDS)


@dataclass
class ScoringClient:
    """Sender of scoring requests at scheduled times, each as soon as a connection is free."""

    ports: Sequence[int]
    message: bytes
    milliseconds: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    _free: dict[int, list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]] = field(init=False)
    _free_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONNECTIONS))

    def __post_init__(self) -> None:
        self._free = {port: [] for port in self.ports}

    async def run(self, rate: float, seconds: float) -> None:
        """Send at a rate, and wait for all answers."""
        started = time.monotonic() + 0.1
        async with asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                due = started + number / rate
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                group.create_task(self._score(due, self.ports[number % len(self.ports)]))
        for _, writer in itertools.chain.from_iterable(self._free.values()):
            writer.close()

    async def _score(self, due: float, port: int) -> None:
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + TIMEOUT_SECONDS):
                async with self._free_slots:
                    status = await self._exchange(port)
        except (OSError, EOFError, TimeoutError) as error:
            status = type(error).__name__
        self.milliseconds.append((time.monotonic() - due) * 1e3)
        if status != "200":
            self.failures[status] += 1

    async def _exchange(self, port: int) -> str:
        free = self._free[port]
        reader, writer = free.pop() if free else await asyncio.open_connection(HOST, port)
        try:
            writer.write(self.message)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
            headers = dict(line.split(": ", 1) for line in head[1:] if line)
            await reader.readexactly(int(headers["content-length"]))
        except BaseException:
            writer.close()
            raise
        free.append((reader, writer))
        return head[0].split()[1]


def scoring_message() -> bytes:
    """Return a scoring request of a hundred documents, their features as arrays."""
    features = np.random.default_rng(1).normal(size=(DOCUMENTS, N_FEATURES)).round(4).tolist()
    documents = [{"id": f"d{number}", "features": row} for number, row in enumerate(features)]
    body = json.dumps({"queries": [{"id": "q", "documents": documents}]}).encode()
    return Load("", [], "/v1/models/web/rank", JSON, body).message


def small_model(n_features: int) -> str:
    """Train two small trees on very many features."""
    random = np.random.default_rng(0)
    features = random.normal(size=(60, n_features)).astype(np.float32)
    parameters = {"objective": "regression", "num_leaves": 4, "min_data_in_leaf": 5, "verbose": -1}
    data = lightgbm.Dataset(features, features[:, 0])
    return str(lightgbm.train(parameters, data, 2).model_to_string())


def measure(
    ports: Sequence[int], rate: float, seconds: float, number: int | None, database: Path
) -> tuple[ScoringClient, str]:
    """Measure for some time during an attack; return the measurements and the counts of its responses."""
    scorer = ScoringClient(ports, scoring_message())
    if number is None:
        asyncio.run(scorer.run(rate, seconds))
        return scorer, ""
    context = multiprocessing.get_context("spawn")
    begun, outcomes = context.Event(), context.Queue()
    arguments = (number, ports, database, seconds + 2, begun, outcomes)
    attacker = context.Process(target=attack, args=arguments, daemon=True)
    attacker.start()
    begun.wait()
    time.sleep(1)
    asyncio.run(scorer.run(rate, seconds))
    counts = outcomes.get(timeout=120)
    attacker.join()
    return scorer, ", ".join(f"{number:,} × {status}" for status, number in counts.most_common())


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of each measurement")
    parser.add_argument("--rate", type=float, default=RATE, help="scoring requests a second")
    parser.add_argument(
        "--trees", type=int, default=500, help="number of trees of 64 leaves in the scored model"
    )
    options = parser.parse_args()
    console = Console()
    with console.status("training"):
        wide = [f"f{number}" for number in range(WIDE_FEATURES)]
        models = {
            "web": (model_text(options.trees, 64), NAMES),
            "wide": (small_model(WIDE_FEATURES), wide),
            "colliding": (small_model(COLLIDING_FEATURES), colliding_names()),
        }
    table = Table("attack", "requests", "failed", "p50 ms", "p99 ms", "responses to the attack")
    with (
        tempfile.TemporaryDirectory() as name,
        # All requests come from one client, so rate limits are off.
        rankery(Path(name), models, RANKERY_READS_PER_SECOND="0", RANKERY_WRITES_PER_SECOND="0") as ports,
    ):
        database = Path(name) / "rankery.db"
        measure(ports, options.rate / 10, 3.0, None, database)  # warm up
        for number in (None, *range(len(ATTACKS))):
            label = "no attack" if number is None else ATTACKS[number].name
            with console.status(f"measuring: {label}"):
                scorer, answers = measure(ports, options.rate, options.seconds, number, database)
            table.add_row(label, *_row(scorer), answers)
            time.sleep(REST_SECONDS)
    console.print(table)


def _row(scorer: ScoringClient) -> tuple[str, ...]:
    median, p99 = np.quantile(scorer.milliseconds, (0.5, 0.99)).tolist()
    failed = ", ".join(f"{number:,} × {status}" for status, number in scorer.failures.most_common()) or "0"
    return f"{len(scorer.milliseconds):,}", failed, f"{median:.1f}", f"{p99:.1f}{' !' * (p99 > TARGET_MS)}"


if __name__ == "__main__":
    main()
