"""The lines of a service whose log is in JSON."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankery.client import Client
from rankery.errors import JobFailed
from tests.integration.services import Service

pytestmark = pytest.mark.long

ENVIRONMENT = {"RANKERY_LOG_FORMAT": "json", "RANKERY_LEASE_SECOND": "3"}


def test_every_line_is_json(serve: Callable[..., Service], tmp_path: Path) -> None:
    """Those of the terminal, of the API, of the worker, of Celery and of the broker, from start to end.

    A variable that is no setting is warned of by each process, with the name that was probably meant.
    """
    service = serve(tmp_path / "data", **ENVIRONMENT)
    broken = tmp_path / "broken.txt"
    broken.write_text("2 qid:1 1:oops\n")
    with Client(service.started()) as client:
        client.synthetic_dataset(10, seed=1).wait(timeout_seconds=200)
        with pytest.raises(JobFailed):
            client.upload_dataset(broken).wait(timeout_seconds=100)
    assert service.end(signal.SIGTERM)[0] == 0
    logs = {path.stem: path.read_text().splitlines() for path in (tmp_path / "data" / "logs").iterdir()}
    assert logs.keys() == {"broker", "api", "worker"}
    events = {part: [_event(line) for line in lines] for part, lines in logs.items()}
    assert any("Ready to accept connections" in event["event"] for event in events["broker"])
    for part in ("api", "worker"):
        (unknown,) = [event for event in events[part] if event["event"] == "setting.unknown"]
        assert unknown["variable"] == "RANKERY_LEASE_SECOND"
        assert unknown["hint"] == "did you mean RANKERY_LEASE_SECONDS?"
    said = [_event(line)["event"] for line in service.lines]
    assert "rankery: RANKERY_LEASE_SECOND is no setting: did you mean RANKERY_LEASE_SECONDS?" in said
    assert said[-1] == "rankery: stopping"


def _event(line: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(line)
    assert {"event", "level", "logger", "timestamp"} <= event.keys()
    return event
