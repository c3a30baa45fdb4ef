"""The whole service killed at random moments: nothing may be left running, nothing may be lost."""

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rankery.client import Client
from rankery.errors import ServiceUnreachable
from tests.integration.processes import wait_until_none
from tests.integration.requests import train_job
from tests.integration.services import Service

KILLS = int(os.environ.get("RANKERY_TEST_KILLS", "1"))
LATEST_SECONDS = 14.0
LIMIT_SECONDS = 150.0
ITERATIONS = 120


@pytest.mark.parametrize("moment", range(KILLS))
def test_killing_the_service_leaves_nothing_running_and_loses_nothing(
    serve: Callable[..., Service], tmp_path: Path, moment: int
) -> None:
    """After SIGKILL at any moment no process lives on, the database is whole, and a new service goes on."""
    data_dir, temporary = tmp_path / "data", tmp_path / "temporary"
    temporary.mkdir()
    # Each kill has its own part of the first seconds, so that a few cover start, reading and training.
    seconds = (moment + random.random()) * LATEST_SECONDS / KILLS
    service = serve(data_dir, TMPDIR=str(temporary))
    until = time.monotonic() + seconds
    job_id = _work(service, until)
    time.sleep(max(0.0, until - time.monotonic()))
    service.popen.kill()
    service.ended()

    assert wait_until_none(data_dir, 2.0) == {}
    assert list(temporary.iterdir()) == []
    _check_database(data_dir / "rankery.db")
    again = serve(data_dir)
    with Client(again.started()) as client:
        if job_id is None:
            job_id = _submit(client, time.monotonic() + LIMIT_SECONDS)
        assert job_id is not None
        done = client.job(job_id).wait(timeout_seconds=LIMIT_SECONDS)
        assert done.history().iterations == list(range(1, ITERATIONS + 1))
        assert client.model("killed").id == done.made("model_id")
        assert client.model("killed").version == 1
        assert done.ranking().queries().first()
    assert again.end(signal.SIGTERM)[0] == 0
    assert not (data_dir / "temporary").exists()


def _work(service: Service, until: float) -> str | None:
    """Keep the service busy as far as it comes until the moment; return the training job if it got one."""
    url = service.url(until - time.monotonic())
    if url is None:
        return None
    with Client(url) as client:
        try:
            return _submit(client, until)
        except (TimeoutError, ServiceUnreachable):
            return None


def _submit(client: Client, until: float) -> str:
    ids = {}
    for seed, name in enumerate(("train", "validation", "test")):
        dataset = client.synthetic_dataset(30, seed=seed, name=name)
        left = max(0.0, until - time.monotonic())
        ids[name] = dataset.wait(timeout_seconds=left).id
    request = train_job(ids, model_name="killed", num_iterations=ITERATIONS)
    return client.submit(request).id


def _check_database(path: Path) -> None:
    if path.exists():
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
