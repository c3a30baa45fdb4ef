"""Request bodies with very many mistakes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from app import ApiSettings
from core.errors import InputProblem
from core.store import Model
from tests.app.conftest import TestClient

MANY = 200_000


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings with the default limit of request bodies, which is larger than in other tests."""
    return settings.model_copy(update={"max_rank_bytes": ApiSettings().max_rank_bytes})


@pytest.mark.long
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
def test_no_more_problems_are_made_than_are_listed(
    client: TestClient, add_model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch, features: Any
) -> None:
    """Otherwise a body could occupy the processor for seconds and delay other callers."""
    add_model("web")
    pointers: list[str] = []
    initialise = InputProblem.__init__

    def initialise_and_record(problem: InputProblem, pointer: str, detail: str) -> None:
        pointers.append(pointer)
        initialise(problem, pointer, detail)

    monkeypatch.setattr(InputProblem, "__init__", initialise_and_record)
    body = json.dumps({"queries": [{"id": "q", "documents": [{"id": "d", "features": features}]}]})
    answer = client.post("/v1/models/web/rank", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith("/queries/0/documents/0/features")
    assert len(pointers) <= 2 * len(answer.json()["errors"])
