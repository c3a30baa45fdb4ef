"""Fixtures for pages with recorded answers; with RANKERY_TEST_RECORD, they record a service's answers."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from core.store import Store
from tests.browser.prepared import Json, Prepared
from tests.browser.recorded import answers
from tests.browser.recorded.answers import HOW_TO_RECORD, Recording
from tests.browser.recorded.server import TEST_HEADER, RecordedApi
from tests.browser.visit import Visit

_QUIET_MS = 3_000
RECORDING = bool(os.environ.get("RANKERY_TEST_RECORD"))
Make = Callable[[Store], str]
OnRecord = Callable[[str, Make], str]


@dataclass
class RecordedResults(Prepared):
    """Results that a service created while the tests were recorded.

    Attributes:
        pages_url: URL that the pages send their requests to; `get` uses it, too.
    """

    pages_url: str = ""

    def get(self, path: str) -> Json:
        """Send a GET request to the API of the pages."""
        return self._answer(self._client.get(self.pages_url + path))

    def post(self, path: str, **body: Any) -> Json:
        """Send a POST request to the service; fail if the answers are not being recorded."""
        assert RECORDING, f"not on record: POST {path} {body}; {HOW_TO_RECORD}"
        return super().post(path, **body)


@pytest.fixture(scope="package")
def upstream(request: pytest.FixtureRequest) -> str | None:
    """The URL of the service that is recorded; None if the recordings answer."""
    return request.getfixturevalue("live_url") if RECORDING else None


@pytest.fixture(scope="package")
def recorded_api(chromium_path: str, upstream: str | None) -> Iterator[RecordedApi]:
    """Serve the pages once for all tests."""
    with RecordedApi(upstream) as api:
        yield api


@pytest.fixture(scope="package")
def service_url(recorded_api: RecordedApi) -> str:
    """The URL of the pages, whose API answers from the recording."""
    return recorded_api.url


@pytest.fixture(scope="package")
def recordings() -> dict[str, Recording]:
    """The recordings by module."""
    return answers.load()


@pytest.fixture(scope="module")
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Iterator[Recording]:
    """The recorded answers of a module, saved only if no test of the module fails."""
    module = request.path.stem.removeprefix("test_")
    failed_before = request.session.testsfailed
    recording = Recording() if RECORDING else recordings.get(module, Recording())
    yield recording
    if RECORDING and request.session.testsfailed == failed_before:
        recordings[module] = recording
        answers.save(recordings)


@pytest.fixture
def visit(
    request: pytest.FixtureRequest, recorded_api: RecordedApi, recording: Recording, visit: Visit
) -> Iterator[Visit]:
    """Open a page whose API gives the answers that were recorded for this test."""
    name = request.node.name
    number = recorded_api.begin({} if RECORDING else recording.tests.get(name, {}))
    visit.page.set_extra_http_headers({TEST_HEADER: number})
    yield visit
    if RECORDING:
        visit.settle()
        count = -1
        while count < len(recorded_api.answers):  # until the page sends no further request
            count = len(recorded_api.answers)
            visit.page.wait_for_timeout(_QUIET_MS)
        recording.tests[name] = recorded_api.answers
    assert recorded_api.missing == [], HOW_TO_RECORD


@pytest.fixture(scope="module")
def prepared(recorded_api: RecordedApi, upstream: str | None, recording: Recording) -> Iterator[Prepared]:
    """Results that a service has made for the tests of a module, read through the API of the pages."""
    prepared = RecordedResults(upstream or "", recording.made, pages_url=recorded_api.url)
    yield prepared
    prepared.close()


@pytest.fixture
def on_record(request: pytest.FixtureRequest, recording: Recording) -> OnRecord:
    """Return a function that takes the name and the creator of a recorded job, and returns the job's id."""

    def recorded_id(name: str, make: Make) -> str:
        if RECORDING and name not in recording.made:
            recording.made[name] = make(request.getfixturevalue("store"))
        return recording.made[name]

    return recorded_id
