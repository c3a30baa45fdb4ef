"""Schedules by a real clock: real processes, due each minute."""

import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.services import Service

LIMIT_SECONDS = 150.0
MINUTE = timedelta(minutes=1)


def wait_for(ready: Callable[[], Any], seconds: float = LIMIT_SECONDS) -> Any:
    """Return the first answer that is not empty."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = ready()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"nothing came in {seconds} s")


class Desk:
    """What a user asks a service for."""

    def __init__(self, url: str) -> None:
        self._url = url

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request that must be answered well."""
        answer = httpx.request(method, self._url + path, json=body, timeout=30)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def synthetic(self, name: str, seed: int) -> str:
        """Make a dataset, which must become ready."""
        body = {"name": name, "queries": 60, "seed": seed, "polynomial_seed": 3}
        dataset_id: str = self.ask("POST", "/v1/datasets/synthetic", body)["id"]
        wait_for(lambda: self.ask("GET", f"/v1/datasets/{dataset_id}")["status"] == "ready")
        return dataset_id

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        """Wait for the end of a job."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] = self.ask("GET", f"/v1/jobs/{job['id']}")
            return found if found["status"] in ("succeeded", "failed", "cancelled") else None

        found: dict[str, Any] = wait_for(look)
        return found

    def runs(self, schedule_id: str) -> list[dict[str, Any]]:
        """Return the runs, oldest first."""
        items: list[dict[str, Any]] = self.ask("GET", f"/v1/schedules/{schedule_id}/runs")["items"]
        return items[::-1]


def moment(text: str) -> datetime:
    """Read a time of an answer."""
    return datetime.fromisoformat(text)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_model_is_trained_and_promoted_at_the_minute_and_missed_minutes_have_one_run(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    """Each minute by the clock once; two minutes without a service, of whatever end, are one run."""
    service = serve(tmp_path / "data")
    desk = Desk(service.started())
    training = {"kind": "train", "model_name": "web", "loss": {"name": "lambdarank"}, "metrics": ["ndcg@5"]}
    small = {"num_iterations": 5, "num_leaves": 7, "min_data_in_leaf": 5}
    training["hyperparameters"] = small
    clicks, judged = desk.synthetic("clicks", 1), desk.synthetic("judged", 2)
    first = desk.ended(desk.ask("POST", "/v1/jobs", {**training, "dataset_id": clicks}))
    assert first["status"] == "succeeded", first["problem"]
    desk.ask("PUT", "/v1/models/web/aliases/champion", {"version": 1})
    gate = {"dataset_id": judged, "metric": "ndcg@5", "permutations": 1000, "max_slice_drop": 1.0}
    desk.ask("PUT", "/v1/models/web/aliases/champion/gate", gate)
    newest = desk.synthetic("clicks", 3)
    better = {**training, "hyperparameters": {**small, "num_iterations": 30}, "dataset": "clicks"}
    made = desk.ask(
        "POST",
        "/v1/schedules",
        {"name": "minutely", "cron": "* * * * *", "job": better, "promote": {"alias": "champion"}},
    )
    due = moment(made["next_run_at"])
    assert due - datetime.now(UTC) <= MINUTE

    def first_run() -> dict[str, Any] | None:
        runs = desk.runs(made["id"])
        return runs[0] if runs and runs[0]["finished_at"] else None

    run = wait_for(first_run)
    assert run["status"] == "promoted", run
    assert moment(run["due_at"]) == due
    assert timedelta() <= moment(run["started_at"]) - due < timedelta(seconds=5)
    assert run["datasets"] == {"train": newest}
    assert desk.ask("GET", "/v1/models/web@champion")["id"] == run["model_id"]

    service.popen.send_signal(signal.SIGKILL if os.environ.get("RANKERY_TEST_KILLS") else signal.SIGTERM)
    service.ended()
    stopped_at = datetime.now(UTC)
    # Until after the second due minute from now.
    missed = (stopped_at.replace(second=0, microsecond=0) + MINUTE, stopped_at + 2 * MINUTE)
    time.sleep(max(0.0, (missed[0] + MINUTE - datetime.now(UTC)).total_seconds() + 2))
    known = serve(tmp_path / "data")
    desk = Desk(known.started())
    started_at = datetime.now(UTC)

    def later_run() -> dict[str, Any] | None:
        later = [run for run in desk.runs(made["id"]) if moment(run["due_at"]) >= missed[0]]
        return later[0] if later and later[0]["finished_at"] else None

    run = wait_for(later_run)
    assert run["missed_since"] is not None
    assert moment(run["missed_since"]) == missed[0]
    assert moment(run["due_at"]) >= missed[0] + MINUTE
    assert moment(run["due_at"]) <= started_at
    assert run["status"] in ("promoted", "refused"), run
    dues = [moment(run["due_at"]) for run in desk.runs(made["id"])]
    assert len(dues) == len(set(dues))
    assert not [at for at in dues if missed[0] <= at < moment(run["due_at"])]
    desk.ask("PATCH", f"/v1/schedules/{made['id']}", {"enabled": False})
    assert known.end(signal.SIGTERM)[0] == 0
