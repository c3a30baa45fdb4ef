"""Deletion of 10,000 jobs and 1,000 models by a filter, while pollers request the list of jobs.

The pollers form an open loop: each request is timed from its scheduled time, and late responses delay none.
Every transaction of the deletion invalidates cached responses. Afterwards the disk usage must have fallen by
the estimate of the dry run and of `GET /v1/storage`, without orphaned or missing artifacts.

Then the service is killed with SIGKILL at a random moment of each of N deletions (`--kills N`, default 10),
started again, and checked: each job must exist with all its results, or not at all. Every third of these
deletions moves the objects to the trash.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.polling import Connection
from core.store import Store, StoreSettings
from core.store.lifecycle.inventory import take_inventory
from rankery.embedded.stack import EmbeddedStack
from tests.integration.lifecycle_records import RecordCounts, fill, inconsistencies, wait_for_deletions

TARGET_SECONDS = 30.0
TARGET_POLL_SECONDS = 0.100
SETTLE_SECONDS = 60.0
SELECTION: dict[str, Any] = {"filter": {"older_than_days": 30}, "with_results": True}


@dataclass
class Polls:
    """Seconds of each request by path, and the failed requests."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    failed: int = 0


@contextmanager
def polling(url: str, job_id: str, rate: float) -> Iterator[Polls]:
    """Poll jobs during the block, from a thread of this process."""
    polls, ended = Polls(), threading.Event()
    paths = ("/v1/jobs?limit=50", f"/v1/jobs/{job_id}")
    thread = threading.Thread(target=lambda: asyncio.run(_poll(url, paths, rate, polls, ended)))
    thread.start()
    try:
        yield polls
    finally:
        ended.set()
        thread.join()


async def _poll(url: str, paths: tuple[str, ...], rate: float, polls: Polls, ended: threading.Event) -> None:
    parts = urlsplit(url)
    connections = [Connection(str(parts.hostname), parts.port or 80) for _ in range(8)]
    began, tasks = time.monotonic(), set()
    turn = 0
    while not ended.is_set():
        due = began + turn / rate
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        free = connections.pop() if connections else Connection(str(parts.hostname), parts.port or 80)
        task = asyncio.create_task(_ask(free, connections, paths[turn % len(paths)], due, polls))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        turn += 1
    await asyncio.gather(*tasks)
    for connection in connections:
        connection.close()


async def _ask(free: Connection, idle: list[Connection], path: str, due: float, polls: Polls) -> None:
    try:
        answer = await free.get(path, None)
        polls.failed += answer.status != 200
    except (OSError, EOFError):
        polls.failed += 1
    polls.seconds.setdefault(path.partition("?")[0], []).append(time.monotonic() - due)
    idle.append(free)


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--rate", type=float, default=20.0, help="requests of the pollers a second")
    parser.add_argument("--kills", type=int, default=10, help="deletions that are killed; 0 for none")
    parser.add_argument("--killed-jobs", type=int, default=3_000, help="jobs of each of these deletions")
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="rankery-bench-") as name:
        _measure(console, Path(name) / "data", RecordCounts(arguments.jobs, arguments.models), arguments.rate)
        shutil.rmtree(Path(name) / "data")
        if arguments.kills:
            counts = RecordCounts(arguments.killed_jobs, arguments.killed_jobs // 3)
            _kill_campaign(console, Path(name), counts, arguments.kills)


def _open_filled_store(folder: Path, counts: RecordCounts) -> tuple[Store, StoreSettings]:
    settings = StoreSettings(data_dir=folder)
    store = Store.open(settings)
    store.migrate()
    fill(store, settings, counts)
    return store, settings


def _measure(console: Console, folder: Path, counts: RecordCounts, rate: float) -> None:
    with console.status(f"recording {counts.jobs:,} jobs and {counts.models:,} models"):
        store, settings = _open_filled_store(folder, counts)
    with EmbeddedStack(folder) as stack, httpx.Client(base_url=stack.url, timeout=300) as client:
        before, on_disk = _storage(client), _bytes_on_disk(settings)
        job_id = client.get("/v1/jobs?limit=1").json()["items"][0]["id"]
        with polling(stack.url, job_id, rate) as quiet:
            time.sleep(10)
        began = time.monotonic()
        estimated = _delete(client, dry_run=True)
        previewed = time.monotonic() - began
        with polling(stack.url, job_id, rate) as busy:
            began = time.monotonic()
            done = _delete(client, dry_run=False, permanently=True)
            took = time.monotonic() - began
        after = _storage(client)
        freed = on_disk - _bytes_on_disk(settings)
        _wait_until_settled(store)
    wrong = inconsistencies(store, settings, counts)
    inventory = take_inventory(store)
    wrong += [*inventory.missing, *inventory.damaged, *inventory.orphaned]
    store.close()
    _print_polls(console, {"before": quiet, "during": busy})
    listed = before["total_bytes"] - after["total_bytes"]
    console.print(f"deleted {done['deleted']} in {took:.1f} s, after a dry run of {previewed:.1f} s")
    console.print(f"below {TARGET_SECONDS:.0f} s: {_yes_no(took < TARGET_SECONDS)}")
    console.print(
        f"bytes: dry run {estimated['size_bytes']:,}, deletion {done['size_bytes']:,}, storage {listed:,},"
        f" disk {freed:,}; equal: {_yes_no(estimated['size_bytes'] == done['size_bytes'] == listed == freed)}"
    )
    console.print(
        f"counts equal those of the dry run: {_yes_no(estimated['deleted'] == done['deleted'])}; complete:"
        f" {_yes_no(done['complete'])}; nothing half-deleted or orphaned: {_yes_no(not wrong)}"
    )
    for fault in wrong[:10]:
        console.print(f"  {fault}")


def _wait_until_settled(store: Store) -> None:
    if not wait_for_deletions(store, SETTLE_SECONDS):
        raise TimeoutError(f"objects are still being deleted after {SETTLE_SECONDS:.0f} s")


def _kill_campaign(console: Console, folder: Path, counts: RecordCounts, kills: int) -> None:
    with console.status(f"recording {counts.jobs:,} jobs for each of {kills} kills"):
        store, _ = _open_filled_store(folder / "prepared", counts)
        store.close()
    table = Table("kill", "after s", "jobs left", "recent jobs left", "in the trash", "faults")
    for number in range(kills):
        shutil.copytree(folder / "prepared", folder / "killed")
        table.add_row(str(number + 1), *_kill(folder / "killed", counts, to_trash=number % 3 == 2))
        shutil.rmtree(folder / "killed")
    console.print(table)


def _kill(folder: Path, counts: RecordCounts, *, to_trash: bool) -> tuple[str, ...]:
    """Kill the service at a random moment of a deletion; restart it and return the remaining objects."""
    settings = StoreSettings(data_dir=folder)
    with EmbeddedStack(folder) as stack:
        deletion = threading.Thread(target=lambda: _delete_until_killed(stack.url, to_trash=to_trash))
        deletion.start()
        seconds = random.uniform(0.2, 4.0)
        time.sleep(seconds)
        for pid in stack.processes.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        deletion.join()
    store = Store.open(settings)
    with EmbeddedStack(folder) as stack:
        _wait_until_settled(store)
        with httpx.Client(base_url=stack.url, timeout=60) as client:
            kinds = {kind["kind"]: kind for kind in _storage(client)["kinds"]}
    wrong = inconsistencies(store, settings, counts)
    store.close()
    left, trashed = kinds["jobs"]["objects"], kinds["jobs"]["trash_objects"]
    found = "; ".join(wrong[:3]) or "none"
    return (f"{seconds:.1f}", f"{left:,}", f"{counts.recent_jobs:,}", f"{trashed:,}", found)


def _delete_until_killed(url: str, *, to_trash: bool) -> None:
    with httpx.Client(base_url=url, timeout=60) as client, suppress(httpx.HTTPError):
        _delete(client, dry_run=False, permanently=not to_trash)
        client.post("/v1/trash/empty", json={"all": True})


def _delete(client: httpx.Client, **options: bool) -> dict[str, Any]:
    answer = client.post("/v1/jobs/delete", json=SELECTION | options).raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def _storage(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/v1/storage?refresh=true").raise_for_status().json()
    return found


def _bytes_on_disk(settings: StoreSettings) -> int:
    files = Path(urlsplit(settings.storage_url).path).rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


def _print_polls(console: Console, polls: dict[str, Polls]) -> None:
    table = Table("deletion", "request", "number", "p50 ms", "p90 ms", "p99 ms", "max ms", "failed")
    for when, found in polls.items():
        for path, values in sorted(found.seconds.items()):
            marks = np.quantile(values, [0.5, 0.9, 0.99, 1.0]) * 1000
            shown = path if path.count("/") < 3 else "/v1/jobs/{job_id}"
            table.add_row(when, shown, f"{len(values):,}", *(f"{m:.1f}" for m in marks), str(found.failed))
    console.print(table)
    lists = polls["during"].seconds["/v1/jobs"]
    met = float(np.quantile(lists, 0.99)) < TARGET_POLL_SECONDS
    console.print(f"p99 of the list of jobs below {TARGET_POLL_SECONDS * 1000:.0f} ms: {_yes_no(met)}")


def _yes_no(is_met: bool) -> str:
    return "yes" if is_met else "NO"


if __name__ == "__main__":
    main()
