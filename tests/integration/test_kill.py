"""Kill the whole service at work, then its parts: no process is left, and no job is lost."""

import os
import random
import re
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from rankery.client import Client
from rankery.errors import ServiceUnreachable
from tests.integration.processes import wait_for_process, wait_until_none
from tests.integration.requests import train_job
from tests.integration.services import PARTS, Service
from tests.integration.waiting import wait_for

# None is a moment during the training; `make test-kill` uses random moments.
KILLS = int(os.environ.get("RANKERY_TEST_KILLS", "0"))
MOMENTS = range(KILLS) if KILLS else (None,)
LATEST_SECONDS = 14.0
LIMIT_SECONDS = 150.0
ITERATIONS = 1_000


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_killing_the_service_leaves_nothing_running_and_loses_nothing(
    serve: Callable[..., Service], tmp_path: Path, moment: int | None
) -> None:
    """After SIGKILL no process is left, the database is intact, and a new service continues.

    The new service keeps its address when its parts are killed, and runs jobs that are submitted afterwards.
    """
    data_dir, temporary = tmp_path / "data", tmp_path / "temporary"
    temporary.mkdir()
    service = serve(data_dir, TMPDIR=str(temporary))
    job_id = _work_to_training(service) if moment is None else _work_until(service, moment)
    service.popen.kill()
    service.wait_for_end()

    assert wait_until_none(data_dir, 2.0) == {}
    assert list(temporary.iterdir()) == []
    _check_database(data_dir / "rankery.db")
    data_dir.mkdir(exist_ok=True)
    dump = data_dir / "dump.rdb"
    dump.write_bytes(b"REDIS9999 of a later version")
    again = serve(data_dir)
    with Client(again.wait_for_url()) as client:
        if job_id is None:
            job_id = _submit(client, time.monotonic() + LIMIT_SECONDS)
        assert job_id is not None
        done = client.job(job_id).wait(timeout_seconds=LIMIT_SECONDS)
        if moment is None:
            assert [attempt.ending for attempt in done.attempts] == ["lost", "succeeded"]
        assert done.history().iterations == list(range(1, ITERATIONS + 1))
        assert client.model("killed").id == done.made("model_id")
        assert client.model("killed").version == 1
        assert done.ranking().queries().first()
        _kill_parts(again)
        # Wait until the restarted worker has reported that it is ready.
        wait_for(lambda: _is_ready(client.base_url))
        assert client.synthetic_dataset(10, seed=1).wait(timeout_seconds=LIMIT_SECONDS).status == "ready"
    # A dump that a server of another version left in the data folder is neither read nor changed.
    assert dump.read_bytes() == b"REDIS9999 of a later version"
    assert again.end(signal.SIGINT) == 0
    assert wait_until_none(data_dir, 0.0) == {}
    assert not (data_dir / "temporary").exists()


def _work_to_training(service: Service) -> str:
    """Submit a training and wait until it runs; return the job."""
    with Client(service.wait_for_url()) as client:
        job = client.job(_submit(client, time.monotonic() + LIMIT_SECONDS))
        wait_for(lambda: job.refresh().iteration)
        return job.id


def _work_until(service: Service, moment: int) -> str | None:
    """Submit a training and wait until the moment; return the job, None if it was not submitted in time.

    The moments divide the first seconds into equal parts, so that a few cover start, reading and training.
    """
    until = time.monotonic() + (moment + random.random()) * LATEST_SECONDS / KILLS
    job_id, url = None, service.url(until - time.monotonic())
    if url is not None:
        with Client(url) as client, suppress(TimeoutError, ServiceUnreachable):
            job_id = _submit(client, until)
    time.sleep(max(0.0, until - time.monotonic()))
    return job_id


def _submit(client: Client, until: float) -> str:
    ids = {}
    for seed, name in enumerate(("train", "validation", "test")):
        dataset = client.synthetic_dataset(30, seed=seed, name=name)
        remaining_seconds = max(0.0, until - time.monotonic())
        ids[name] = dataset.wait(timeout_seconds=remaining_seconds).id
    request = train_job(ids, model_name="killed", num_iterations=ITERATIONS)
    return client.submit(request).id


def _kill_parts(service: Service) -> None:
    """Kill each part, and wait until it is restarted."""
    for name, words in PARTS.items():
        killed = wait_for_process(service.data_dir, words)
        os.kill(killed, signal.SIGSEGV)
        death = f"rankery: the {name} process ended unexpectedly (killed by SIGSEGV)"
        line = wait_for(partial(_line, service, death))
        assert re.search(r"it restarts in 0\.5 s \(log: .*\.log\)$", line)
        wait_for(partial(_is_another, service, words, killed))


def _line(service: Service, start: str) -> str | None:
    return next((line for line in service.lines if line.startswith(start)), None)


def _is_another(service: Service, words: str, killed: int) -> bool:
    return wait_for_process(service.data_dir, words) != killed


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").is_success
    except httpx.HTTPError:
        return False


def _check_database(path: Path) -> None:
    if path.exists():
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
