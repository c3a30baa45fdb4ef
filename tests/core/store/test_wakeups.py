"""Wake-up messages, through a real broker and without one."""

import base64
import json
import logging
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import redis

from core.store import RUN_JOB, WakeUps
from tests.servers import running_broker
from tests.servers.process import reserved_port


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    """A separate broker for the test; the value is its URL."""
    with running_broker(tmp_path) as server:
        yield server.url


def test_a_message_names_the_task_and_the_job(broker: str) -> None:
    """A wake-up is a Celery message with the task's name and the job's id, in the queue of the job's lane."""
    wakeups = WakeUps(broker)
    assert wakeups.fault() is None
    assert wakeups.send("job_1", "train") is True
    wakeups.close()
    with redis.Redis.from_url(broker) as client:
        raw = cast("bytes", client.lpop("rankery.training"))
        assert client.keys("celery-task-meta-*") == []
    message: dict[str, Any] = json.loads(raw)
    assert message["headers"]["task"] == RUN_JOB == "rankery.run_job"
    assert message["headers"]["ignore_result"] is True
    assert message["content-type"] == "application/json"
    assert json.loads(base64.b64decode(message["body"]))[0] == ["job_1"]


def test_without_a_broker_a_wake_up_fails_soon(caplog: pytest.LogCaptureFixture) -> None:
    """Without a broker, a wake-up fails within five seconds, with a warning that names the job."""
    with reserved_port() as port:
        wakeups = WakeUps(f"redis://127.0.0.1:{port}/0")
        began = time.monotonic()
        with caplog.at_level(logging.WARNING):
            assert wakeups.send("job_1", "train") is False
        assert wakeups.fault() == "refuses connections"
        assert time.monotonic() - began < 5
        assert "job_1" in caplog.text
        wakeups.close()


@pytest.mark.long
def test_a_hanging_broker_delays_a_call_by_less_than_five_seconds() -> None:
    """A broker that takes connections but never answers costs less than five seconds a call."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        wakeups = WakeUps(f"redis://127.0.0.1:{listener.getsockname()[1]}/0")
        for act, answer in (
            (wakeups.fault, "does not answer in time"),
            (lambda: wakeups.send("job_1", "train"), False),
        ):
            began = time.monotonic()
            assert act() == answer
            assert time.monotonic() - began < 5
        wakeups.close()


def test_wake_ups_are_sent_after_lost_connections(tmp_path: Path, broker: str) -> None:
    """After the broker has closed its connections, one of the next three wake-ups is sent at the latest."""
    wakeups = WakeUps(broker)
    assert wakeups.send("job_1", "train")
    with redis.Redis.from_url(broker) as client:
        client.client_kill_filter(_type="normal", skipme=True)
    assert any(wakeups.send("job_2", "train") for _ in range(3))
    wakeups.close()


@pytest.mark.long
def test_the_first_message_imports_no_module_of_the_broker_client() -> None:
    """Celery, Kombu and redis are imported before, since that would block an event loop."""
    code = (
        "import sys; from core.store.wakeups import WakeUps; wake_ups = WakeUps('redis://127.0.0.1:1/0')\n"
        "wake_ups.warm_up(); before = set(sys.modules); wake_ups.send('job_1', 'train')\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not [name for name in found.stdout.split() if name.split(".")[0] in ("kombu", "redis", "celery")]
