"""Drift through the whole service: requests are scored over HTTP, stored, and looked at by a worker."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.integration.services import Service
from tests.integration.test_schedules import Desk

QUERIES, DOCUMENTS = 80, 6


def requests_of(features: Any, shift: float) -> list[dict[str, Any]]:
    """Return scoring requests of one query each, whose first feature is shifted."""
    moved = features.copy()
    moved[..., 0] += shift
    return [
        {
            "queries": [
                {
                    "id": f"q{number}",
                    "documents": [{"id": str(i), "features": row} for i, row in enumerate(rows)],
                }
            ]
        }
        for number, rows in enumerate(moved.tolist())
    ]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_shift_of_scored_requests_is_found(serve: Callable[..., Service], tmp_path: Path) -> None:
    """No drift in requests like the training data, and the shifted feature once they have changed."""
    service = serve(tmp_path / "data", RANKERY_SCORE_LOG_SHARE="1", RANKERY_SCORE_LOG_SECONDS="1")
    desk = Desk(service.started())
    trained_on = desk.synthetic("clicks", 1)
    training = {
        "kind": "train",
        "model_name": "web",
        "dataset_id": trained_on,
        "loss": {"name": "lambdarank"},
    }
    job = desk.ended(desk.ask("POST", "/v1/jobs", {**training, "hyperparameters": {"num_iterations": 5}}))
    assert job["status"] == "succeeded", job["problem"]
    rng = np.random.default_rng(1)
    names = desk.ask("GET", "/v1/models/web")["feature_names"]
    # As synthetic features are: uniform from -1 to 1.
    like_training = rng.uniform(-1, 1, (QUERIES, DOCUMENTS, len(names)))

    def look(shift: float) -> dict[str, Any]:
        for request in requests_of(like_training, shift):
            desk.ask("POST", "/v1/models/web/rank", request)
        time.sleep(2)
        ended = desk.ended(desk.ask("POST", "/v1/jobs", {"kind": "drift", "model": "web", "days": 1}))
        assert ended["status"] == "succeeded", ended["problem"]
        report_id = ended["result"]["drift_report_id"]
        report: dict[str, Any] = desk.ask("GET", f"/v1/drift-reports/{report_id}")
        return report

    quiet = look(0.0)
    assert (quiet["requests"], quiet["queries"]) == (QUERIES, QUERIES)
    assert quiet["verdict"] == "none", quiet["sentence"]
    loud = look(1.2)
    assert loud["verdict"] == "drift"
    assert loud["drifted_features"][0] == names[0]
    (training_comparison, previous) = loud["comparisons"]
    assert previous["verdict"] == "too_few"
    drifted = [each["name"] for each in training_comparison["features"] if each["verdict"] == "drift"]
    assert drifted == [names[0]]
    listed = desk.ask("GET", "/v1/drift-reports?model=web&verdict=drift")["items"]
    assert [each["id"] for each in listed] == [loud["id"]]
    (event,) = desk.ask("GET", "/v1/events?kind=drift.found")["items"]
    assert event["object"]["id"] == loud["id"]
