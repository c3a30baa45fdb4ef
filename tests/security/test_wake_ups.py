"""Forged messages in Valkey: none runs code, and none ends the worker."""

import base64
import itertools
import json
import pickle
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
import redis

from core.jobs import LANES
from core.store import RUN_JOB, queue_of
from tests.security.target import Target, is_running

RAN = Path("/tmp/rankery-was-here")
PATIENCE_SECONDS = 60.0


class _Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (RAN,)


def _message(
    body: object, task: str = RUN_JOB, content_type: str = "application/json", **headers: object
) -> dict[str, Any]:
    """Write a message as Celery does."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    tag = str(uuid.uuid4())
    return {
        "body": base64.b64encode(content).decode(),
        "content-encoding": "utf-8",
        "content-type": content_type,
        "headers": {"lang": "py", "task": task, "id": tag, "root_id": tag, "retries": 0, **headers},
        "properties": {
            "correlation_id": tag,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": "QUEUE"},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": tag,
        },
    }


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in _message([["job_x"], {}, {}]).items() if key != name}


_OTHER = {"task": "os.system", "args": [f"touch {RAN}"], "kwargs": {}, "options": {}}

MESSAGES: dict[str, Any] = {
    "an unknown task": _message([[f"touch {RAN}"], {}, {}], "os.system"),
    "a task by its path": _message([[f"touch {RAN}"], {}, {}], "subprocess.check_call"),
    "a task of Celery": _message([[_OTHER, [[f"touch {RAN}"]]], {}, {}], "celery.map"),
    "a chain of Celery": _message([[], {"tasks": [_OTHER]}, {}], "celery.chain"),
    "a callback of a job": _message([["job_x"], {}, {"callbacks": [_OTHER], "chain": [_OTHER]}]),
    "an error callback of a job": _message([[], {}, {"errbacks": [_OTHER]}]),
    "pickled arguments": _message(
        pickle.dumps([[_Bomb()], {}, {}]), content_type="application/x-python-serialize"
    ),
    "YAML arguments": _message(
        f"!!python/object/apply:pathlib.Path.touch [{RAN}]".encode(), content_type="application/x-yaml"
    ),
    "arguments of an unknown type": _message(b"x", content_type="application/x-none"),
    "arguments that are not JSON": _message(b"{"),
    "deeply nested arguments": _message(b"[" * 100_000),
    "no arguments": _message([[], {}, {}]),
    "too many arguments": _message([["job_x", "job_y", "job_z"], {"more": 1}, {}]),
    "an argument that is an object": _message([[{"$ne": None}], {}, {}]),
    "an argument that is a path": _message([["../../../etc/passwd"], {}, {}]),
    "an argument with NUL": _message([["job_\0"], {}, {}]),
    "a very long argument": _message([["x" * 1_000_000], {}, {}]),
    "a body that is a number": _message(42),
    "a body that is an object": _message({"args": ["job_x"]}),
    "an invalid time": _message([["job_x"], {}, {}], eta="not a time"),
    "an invalid expiry": _message([["job_x"], {}, {}], expires="not a time"),
    "a time limit of 0": _message([["job_x"], {}, {}], timelimit=[0, 0]),
    "invalid time limits": _message([["job_x"], {}, {}], timelimit="x"),
    "no id": _message([["job_x"], {}, {}], id=None),
    "no headers": _without("headers"),
    "no body": _without("body"),
    "no content type": _without("content-type"),
    "no properties": _without("properties"),
    "a number": 42,
    "a list": [],
    "nothing": None,
    "properties of another type": _message([["job_x"], {}, {}]) | {"properties": "x"},
    "a body that is not base64": _message([["job_x"], {}, {}]) | {"body": "%%%"},
    "a body of an unknown encoding": _message([["job_x"], {}, {}])
    | {"properties": {"body_encoding": "rot13", "delivery_tag": "x", "delivery_info": {}}},
    "bytes that are not JSON": b"\x80\x04garbage\xff",
    "headers that are a list": _message([["job_x"], {}, {}]) | {"headers": []},
}


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(list(MESSAGES), id="all"),
        *(pytest.param([case], marks=pytest.mark.slow, id=case) for case in MESSAGES),
    ],
)
def test_forged_messages_do_nothing(target: Target, cases: list[str]) -> None:
    """After forged messages, the worker lives, runs only jobs of the database, and handles the next one."""
    with redis.Redis.from_url(target.broker_url) as broker:
        for queue, case in itertools.product(map(queue_of, LANES), cases):
            message = MESSAGES[case]
            broker.lpush(
                queue,
                message if isinstance(message, bytes) else json.dumps(message).replace("QUEUE", queue),
            )
        _wait_until_taken(broker)
    with target.client() as http:
        created = http.post("/v1/datasets/synthetic", json={"name": "after", "queries": 2})
    assert target.wait_for_end(created.json()["job_id"])["status"] == "succeeded"
    assert is_running(target.worker_pid)
    assert not RAN.exists()


def _wait_until_taken(broker: "redis.Redis") -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while any(broker.llen(queue_of(lane)) for lane in LANES) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(broker.llen(queue_of(lane)) for lane in LANES)
