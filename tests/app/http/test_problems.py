"""Errors as RFC 9457 problems."""

from collections.abc import Iterator

import numpy as np
import pytest
from fastapi import FastAPI

import core
from app.http.problems import KINDS, kind_of
from core.errors import NotFound, RankeryError, StoreUnavailable
from tests.app.conftest import TestClient


def _subclasses(cls: type[RankeryError]) -> Iterator[type[RankeryError]]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


ERRORS_OF_CORE = [
    error for error in _subclasses(RankeryError) if error.__module__.partition(".")[0] == core.__name__
]


@pytest.mark.parametrize("error", ERRORS_OF_CORE)
def test_every_error_of_core_has_a_status(error: type[RankeryError]) -> None:
    """Every error type or one of its base classes is in the table `KINDS`."""
    assert any(base in KINDS for base in error.__mro__)


def test_a_subclass_takes_the_kind_of_its_nearest_base() -> None:
    """The table is looked up along the method resolution order."""

    class NoSuchArtifact(NotFound):
        pass

    assert kind_of(NoSuchArtifact("artifact", "x")) is KINDS[NotFound]
    assert kind_of(RankeryError()) is None


def test_slugs_are_unique() -> None:
    """Each kind of problem has a distinct type."""
    slugs = [kind.slug for kind in KINDS.values()]
    assert len(slugs) == len(set(slugs))


def test_an_unknown_path_is_a_problem(client: TestClient) -> None:
    """The caller never gets an error in the framework's format; the detail has the path."""
    response = client.get("/v1/nothing")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {
        "type": "/problems/no-such-path",
        "title": "There is nothing at this path",
        "status": 404,
        "detail": "there is nothing at /v1/nothing; /docs lists all paths",
    }


def test_the_problem_of_an_unknown_id_names_the_missing_object(client: TestClient) -> None:
    """The answer is 404, and its detail has the kind and the id."""
    body = client.get("/v1/jobs/job_1").json()
    assert (body["type"], body["status"]) == ("/problems/not-found", 404)
    assert body["detail"] == "there is no job 'job_1'"


@pytest.mark.parametrize("path", ["/v1/jobs/a%00b", "/v1/models/a%00b", "/v1/rankings/%00"])
def test_a_path_with_nul_is_not_found(client: TestClient, path: str) -> None:
    """PostgreSQL refuses NUL in text; the answer is 404 instead of an internal error."""
    assert client.get(path).status_code == 404


def test_a_wrong_method_gets_all_allowed_methods(client: TestClient) -> None:
    """405 has an Allow header with every method of the path, even if several routes have that path."""
    response = client.put("/v1/jobs", json={})
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD, POST"
    assert client.post("/v1/datasets/ds_1/download").headers["allow"] == "GET, HEAD"
    assert client.put("/v1/uploads").headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert response.json()["type"] == "/problems/method-not-allowed"


def test_an_internal_error_has_an_id_but_no_detail(application: FastAPI, client: TestClient) -> None:
    """An unknown exception is a 500 without detail; its request id identifies the log line."""

    def fail() -> None:
        raise RuntimeError("the password is 1234")

    application.add_api_route("/v1/fail", fail)
    response = client.get("/v1/fail", headers={"X-Request-ID": "r-17"})
    assert response.status_code == 500
    assert response.json() == {
        "type": "/problems/internal-error",
        "title": "Internal error",
        "status": 500,
    }
    assert response.headers["x-request-id"] == "r-17"


def test_several_mistakes_are_reported_together(client: TestClient) -> None:
    """Each mistake is listed, and the detail counts them and quotes the first."""
    problem = client.post("/v1/datasets/synthetic", json={"queries": 0, "seed": -1}).json()
    assert [error["pointer"] for error in problem["errors"]] == ["/queries", "/seed"]
    assert problem["detail"].startswith("2 problems; the first is /queries: ")


def test_too_little_memory_is_not_an_internal_error(client: TestClient, application: FastAPI) -> None:
    """The answer is 503 and names the lack of memory."""

    @application.get("/v1/everything")
    async def take() -> int:
        return int(np.empty(2**55)[0])

    response = client.get("/v1/everything")
    assert (response.status_code, response.json()["type"]) == (503, "/problems/not-ready")
    assert "memory" in response.json()["detail"]


def test_a_caller_knows_when_to_retry_while_the_database_does_not_answer(
    client: TestClient, application: FastAPI
) -> None:
    """The answer is 503 with `Retry-After`, like other answers to requests that may succeed later."""

    @application.get("/v1/everything")
    def read() -> None:
        raise StoreUnavailable("the database is not available")

    response = client.get("/v1/everything")
    assert (response.status_code, response.json()["type"]) == (503, "/problems/store-unavailable")
    assert response.headers["retry-after"] == "1"
