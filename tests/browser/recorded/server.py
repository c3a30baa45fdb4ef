"""A server of the dashboard's real pages, whose API replays a recording or records a service."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType

import httpx
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from app import dashboard
from app.http.caching import conditional
from tests.browser.recorded.answers import HOW_TO_RECORD, Answer, key_of
from tests.servers.process import free_port

TEST_HEADER = "x-recorded-test"


@dataclass
class RecordedApi:
    """A server of the pages in a thread, with the answers of one test at a time.

    Attributes:
        upstream: URL of the service that answers and is recorded; None if the recording answers.
        answers: Answers of the current test, by request.
        missing: Requests that are not on record.
        test: Number of the test; a page sends it as `TEST_HEADER`. A late request from the page of an earlier
            test is rejected by this number.
    """

    upstream: str | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    test: int = 0

    def __post_init__(self) -> None:
        application = FastAPI()
        application.state.trash_days = 7.0
        application.include_router(dashboard.router)
        dashboard.mount_static(application)
        application.add_api_route("/healthz", _healthy)
        application.add_api_route("/v1/events", _no_events)
        application.add_api_route("/v1/{path:path}", self._answer, methods=["GET", "POST", "PUT", "DELETE"])
        self._port = free_port()
        config = uvicorn.Config(application, port=self._port, log_level="error", timeout_graceful_shutdown=0)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def begin(self, answers: dict[str, Answer]) -> str:
        """Start the next test with its answers, and return the value of its `TEST_HEADER`."""
        self.test += 1
        self.answers = answers
        self.missing = []
        return str(self.test)

    @property
    def url(self) -> str:
        """The URL of the pages."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> "RecordedApi":
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
            assert self._thread.is_alive(), "the server does not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join()

    async def _answer(self, request: Request) -> Response:
        if request.headers.get(TEST_HEADER, str(self.test)) != str(self.test):
            return Response(status_code=HTTPStatus.GONE)
        query = request.url.query
        target = request.url.path + (f"?{query}" if query else "")
        body = await request.body()
        key = key_of(request.method, target, body)
        if self.upstream is not None:
            self.answers[key] = await self._ask(self.upstream, request, target, body)
        answer = self.answers.get(key)
        if answer is None:
            self.missing.append(key)
            detail = f"not on record: {key}; {HOW_TO_RECORD}"
            return JSONResponse({"title": "Not on record", "detail": detail}, HTTPStatus.NOT_IMPLEMENTED)
        content = json.dumps(answer.body) if answer.is_json else answer.body or ""
        headers = {"content-disposition": answer.disposition} if answer.disposition else {}
        # Send an ETag as the service does: a page renders again when an answer changes.
        return conditional(request, Response(content, answer.status, headers, answer.media_type or None))

    async def _ask(self, upstream: str, request: Request, target: str, body: bytes) -> Answer:
        sent = {
            name: value
            for name, value in request.headers.items()
            if name in {"accept", "content-type", "idempotency-key"}
        }
        async with httpx.AsyncClient(timeout=60.0) as client:
            response = await client.request(request.method, upstream + target, content=body, headers=sent)
        media_type = response.headers.get("content-type", "").partition(";")[0]
        is_json = media_type.endswith("json")
        return Answer(
            request.method,
            target,
            response.status_code,
            media_type,
            response.json() if is_json else response.text,
            response.headers.get("content-disposition", ""),
        )


async def _healthy() -> dict[str, str]:
    return {"status": "ok"}


async def _no_events(request: Request) -> Response:
    """Keep the stream open without events: a recording does not change."""

    async def silence() -> AsyncIterator[str]:
        yield ": recorded\n\n"
        while not await request.is_disconnected():
            await asyncio.sleep(1)

    return StreamingResponse(silence(), media_type="text/event-stream")
