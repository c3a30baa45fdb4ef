"""Recorded responses match the API's current schemas."""

import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.routing import Match

from app.application import create_app
from app.settings import ApiSettings
from tests.browser.recorded import answers
from tests.browser.recorded.answers import HOW_TO_RECORD, Answer

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def routes() -> list[APIRoute]:
    """The routes of the API, which is built without being started."""
    return [route for route in create_app(ApiSettings()).routes if isinstance(route, APIRoute)]


def test_every_answer_conforms_to_the_api(routes: list[APIRoute]) -> None:
    """The response model reproduces the recorded body, and the route accepts the recorded parameters."""
    lines = {
        module: {answer.line(): answer for answer in recording.answers()}
        for module, recording in answers.load().items()
    }
    recorded = {line: answer for by_line in lines.values() for line, answer in by_line.items()}
    assert len(recorded) > 100
    faults = {line: found for line, answer in recorded.items() if (found := [*_faults(answer, routes)])}
    modules = [module for module, by_line in lines.items() if by_line.keys() & faults.keys()]
    assert [*faults.values()] == [], f"{HOW_TO_RECORD} {' '.join(modules)}"


def test_every_recorded_test_exists() -> None:
    """The recording has no answers for tests that were removed."""
    folder = answers.FILE.parent
    for module, recording in answers.load().items():
        source = (folder / f"test_{module}.py").read_text()
        functions = set(re.findall(r"^def (test_\w+)", source, re.MULTILINE))
        assert {test.partition("[")[0] for test in recording.tests} <= functions, module


def _faults(answer: Answer, routes: list[APIRoute]) -> Iterator[str]:
    """Yield the differences between a recorded answer and the current API."""
    split = urlsplit(answer.target)
    name = f"{answer.method} {answer.target}"
    scope = {"type": "http", "method": answer.method, "path": split.path, "headers": []}
    route = next((route for route in routes if route.matches(scope)[0] == Match.FULL), None)
    if route is None:
        yield f"{name}: there is no such route"
        return
    known = {parameter.alias for parameter in get_flat_params(route.dependant)}
    if unknown := {parameter for parameter, _ in parse_qsl(split.query)} - known:
        yield f"{name}: unknown parameters {sorted(unknown)}"
    if answer.status >= 400:
        if answer.media_type != PROBLEM or answer.body["status"] != answer.status:
            yield f"{name}: no problem document"
    elif answer.is_json and route.response_model is not None:
        yield from (f"{name}: {fault}" for fault in _schema_differences(answer, route))


def _schema_differences(answer: Answer, route: APIRoute) -> Iterator[str]:
    adapter = TypeAdapter(route.response_model)
    try:
        read = adapter.validate_python(answer.body, by_alias=True, by_name=True)
        current = json.loads(adapter.dump_json(read, by_alias=True))
    except ValidationError as error:
        yield str(error)
        return
    yield from _json_differences(answer.body, current, "")


def _json_differences(recorded: object, current: object, place: str) -> Iterator[str]:
    """Yield the paths where two JSON values differ."""
    if isinstance(recorded, dict) and isinstance(current, dict):
        for name in recorded.keys() | current.keys():
            if name not in recorded or name not in current:
                yield f"{place}/{name} is {'new' if name in current else 'gone'}"
            else:
                yield from _json_differences(recorded[name], current[name], f"{place}/{name}")
    elif isinstance(recorded, list) and isinstance(current, list) and len(recorded) == len(current):
        for index, (one, other) in enumerate(zip(recorded, current, strict=True)):
            yield from _json_differences(one, other, f"{place}/{index}")
    elif recorded != current:
        yield f"{place} was {recorded!r}, is {current!r}"
