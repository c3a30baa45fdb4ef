"""Each scoring request has one reader, which reports mistakes as FastAPI does."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI

from app import ApiSettings
from app.http import problems
from app.http.bodies import JsonRequest
from app.http.route import JsonRoute, Router
from app.http.services import Services, register
from app.scoring.candidates import CandidateReader
from app.scoring.json_reader import JsonReader
from app.scoring.limits import scoring_request
from app.scoring.routes import choose_reader
from app.scoring.schemas import RankRequest
from app.scoring.tables import MEDIA_TYPE, ArrowReader
from core.store import Model, Store, WakeUps
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded

JSON = "application/json"


def document(features: Any, **members: Any) -> dict[str, Any]:
    """Return a document."""
    return {"id": "d", "features": features, **members}


def request_of(*documents: Any, **members: Any) -> dict[str, Any]:
    """Return a body with one query."""
    return {"queries": [{"id": "q", "documents": documents}], **members}


BODIES: list[Any] = [
    b"",
    b"{",
    b"\xff",
    b'{"queries": NaN}',
    b"[" * 300,
    *(None, 3, "text", [], {}, {"queries": None}, {"queries": []}, {"queries": [3]}, {"queries": {"a": 1}}),
    request_of(document([1.0]), top_k=0),
    request_of(document([1.0]), top_k=3.0),
    request_of(document([1.0]), explain="yes", more=1),
    request_of(document(3), document([True]), document({"bm25": [1, "a"]}), {"id": 3}),
    request_of(*[document("none")] * 300),
]


@pytest.mark.parametrize(("media_type", "kind"), [(JSON, JsonReader), (MEDIA_TYPE, ArrowReader)])
def test_the_media_type_chooses_the_reader(media_type: str, kind: type[CandidateReader]) -> None:
    """The readers are for JSON and for Arrow tables."""

    async def receive() -> Any:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    scope = {"type": "http", "headers": [(b"content-type", media_type.encode())], "query_string": b""}
    request = JsonRequest(scope, receive, max_bytes=100)
    assert type(asyncio.run(choose_reader(request))) is kind


class Bounded(JsonRoute):
    """A route of FastAPI with the bounds of scoring requests."""

    bounded = staticmethod(scoring_request)


@pytest.fixture
def validating(settings: ApiSettings, store: Store) -> TestClient:
    """An application in which FastAPI validates the body."""
    router, application = Router(route_class=Bounded), FastAPI()

    @router.post("/validate")
    async def validate(body: RankRequest) -> None:
        """Accept a body."""

    application.router.routes.extend(router.routes)
    register(application, Services(settings, store, WakeUps(settings.broker_url)))
    problems.install(application)
    return TestClient(application)


@pytest.mark.parametrize("name", ["web", "none"])
def test_mistakes_are_reported_as_fastapi_reports_them(
    client: TestClient, validating: TestClient, add_model: Callable[..., Model], name: str
) -> None:
    """The answer equals FastAPI's byte for byte, even if the model is unknown."""
    add_model("web")
    for body in BODIES:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        expected = validating.post("/validate", content=content, headers={"content-type": JSON})
        answer = client.post(f"/v1/models/{name}/rank", content=content, headers={"content-type": JSON})
        assert (answer.status_code, answer.content) == (422, expected.content), content[:100]


def test_an_unknown_model_is_reported_before_a_bad_table(client: TestClient) -> None:
    """The answer is 404, although the content is not a valid table."""
    answer = client.post("/v1/models/none/rank", content=b"?", headers={"content-type": MEDIA_TYPE})
    assert answer.status_code == 404
