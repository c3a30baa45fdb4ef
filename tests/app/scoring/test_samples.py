"""Scored requests that are kept."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.settings import ApiSettings
from core.store import Model
from tests.app.conftest import TestClient

BODY = {
    "queries": [
        {"id": "q", "documents": [{"id": "a", "features": {"bm25": 0.5}}, {"id": "b", "features": {}}]}
    ]
}


@pytest.fixture(params=[0.0, 1.0])
def settings(settings: ApiSettings, request: pytest.FixtureRequest) -> ApiSettings:
    """None of the requests are kept, or all."""
    return settings.model_copy(update={"score_log_share": request.param, "score_log_bytes": 2_000})


def test_what_was_scored_is_kept(
    client: TestClient, settings: ApiSettings, add_model: Callable[[str], Model]
) -> None:
    """With features, scores and the model; as much as there is room for, and nothing unless it is wanted."""
    model = add_model("web")
    answers = []
    for number in range(30):
        headers = {"X-Request-ID": f"r{number}"}
        answers.append(client.post("/v1/models/web/rank", json=BODY, headers=headers).json())
    folder = settings.data_dir / "scored"
    client.__exit__(None, None, None)
    if not settings.score_log_share:
        assert not folder.exists()
        return
    files: list[Path] = sorted(folder.iterdir())
    assert sum(file.stat().st_size for file in files) <= 2_000
    last = json.loads(files[0].read_text().splitlines()[-1])
    assert last["request_id"] == "r29"
    assert last["model"] == {"id": model.id, "name": "web", "version": 1}
    (query,) = last["queries"]
    assert [document["features"] for document in query["documents"]] == [[0.5, None, None], [None] * 3]
    ranked = {document["id"]: document["score"] for document in answers[-1]["queries"][0]["ranking"]}
    assert {document["id"]: document["score"] for document in query["documents"]} == ranked
    client.__enter__()
