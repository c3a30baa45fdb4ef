"""Bodies that are wrong in a great many places."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from app import ApiSettings
from core.store import Model
from tests.app.conftest import TestClient

MANY = 200_000
LIMIT_SECONDS = 0.4


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Those of a service, which takes larger requests than other tests do."""
    return settings.model_copy(update={"max_rank_bytes": ApiSettings().max_rank_bytes})


@pytest.mark.parametrize(
    "features",
    [
        {f"x{number}": 1.0 for number in range(MANY)},
        {f"x{number}": True for number in range(MANY)},
        [True] * MANY,
        ["a"] * MANY,
    ],
    ids=["unknown", "wrong types", "booleans", "texts"],
)
def test_a_body_is_refused_in_little_time(
    client: TestClient, add_model: Callable[[str], Model], features: Any
) -> None:
    """No more problems are made than are kept, with what the first of them is."""
    add_model("web")
    body = json.dumps({"queries": [{"id": "q", "documents": [{"id": "d", "features": features}]}]})
    began = time.process_time()
    answer = client.post("/v1/models/web/rank", content=body, headers={"Content-Type": "application/json"})
    spent_seconds = time.process_time() - began
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith("/queries/0/documents/0/features")
    assert spent_seconds < LIMIT_SECONDS
