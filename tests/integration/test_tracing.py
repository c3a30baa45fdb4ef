"""Traces of a service, as a receiver of OpenTelemetry's protocol gets them."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import JobFailed

pytestmark = pytest.mark.long

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Receiver:
    """An OTLP receiver on a port of its own.

    Attributes:
        url: What `OTEL_EXPORTER_OTLP_ENDPOINT` is set to.
    """

    def __init__(self) -> None:
        received: list[ExportTraceServiceRequest] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._received = received
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        """Stop it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def spans(self) -> dict[str, list[tuple[str, Span]]]:
        """Return the spans so far by their trace, each with the service that it comes from."""
        found: dict[str, list[tuple[str, Span]]] = {}
        for request in list(self._received):
            for resource in request.resource_spans:
                names = [
                    a.value.string_value for a in resource.resource.attributes if a.key == "service.name"
                ]
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        found.setdefault(span.trace_id.hex(), []).append((names[0], span))
        return found


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    """A receiver."""
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def service(receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """A service that sends its traces to the receiver."""
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "RANKERY_LOG_FORMAT": "json",
    }
    with EmbeddedStack(tmp_path_factory.mktemp("traced"), environment=environment) as stack:
        yield stack


@pytest.fixture(scope="module")
def trained(service: EmbeddedStack) -> Job:
    """A training whose request belongs to a caller's trace."""
    headers = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
    request = {
        "kind": "train",
        "model_name": "web",
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": 3, "num_leaves": 4},
    }
    with Client(service.url) as client:
        dataset = client.synthetic_dataset(20, seed=1).wait(timeout_seconds=200)
        sent = httpx.post(
            f"{service.url}/v1/jobs", json=request | {"dataset_id": dataset.id}, headers=headers
        )
        assert sent.status_code == 202, sent.text
        return client.job(sent.json()["id"]).wait(timeout_seconds=200)


def wait_for(found: Callable[[], Any]) -> Any:
    """Wait until something is found, and return it."""
    deadline = time.monotonic() + 60
    while not (it := found()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return it


def _trace_with(receiver: Receiver, name: str, trace: str) -> dict[str, tuple[str, Span]]:
    spans = receiver.spans().get(trace, [])
    by_name = {span.name: (service, span) for service, span in spans}
    return by_name if name in by_name else {}


def _attributes(span: Span) -> dict[str, Any]:
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes}


def test_a_request_its_job_and_the_phases_are_one_trace(receiver: Receiver, trained: Job) -> None:
    """It is the caller's trace; each span is below the one that caused it, and says what it is of."""
    spans = wait_for(lambda: _trace_with(receiver, "job train", TRACE))
    api, request = spans.pop("POST /v1/jobs")
    worker, job = spans.pop("job train")
    assert (api, worker) == ("rankery-api", "rankery-worker")
    assert (request.kind, job.kind) == (Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CONSUMER)
    assert request.parent_span_id.hex() == CALLER
    assert job.parent_span_id == request.span_id
    assert _attributes(request)["http.route"] == "/v1/jobs"
    assert _attributes(request)["http.response.status_code"] == 202
    told = _attributes(job)
    assert (told["rankery.job.id"], told["rankery.job.ending"]) == (trained.id, "succeeded")
    assert job.status.code == Status.STATUS_CODE_UNSET
    phases = {phase.phase for phase in trained.phases}
    assert "training" in phases
    assert set(spans) == phases
    for service, phase in spans.values():
        assert (service, phase.parent_span_id) == ("rankery-worker", job.span_id)
        assert job.start_time_unix_nano <= phase.start_time_unix_nano
        assert phase.end_time_unix_nano <= job.end_time_unix_nano


def test_log_lines_carry_the_trace(service: EmbeddedStack, trained: Job) -> None:
    """Those of the request and those of its job."""
    for part, event in (("api", "job.submitted"), ("worker", "job.started"), ("worker", "job.succeeded")):
        log = (service.data_dir / "logs" / f"{part}.log").read_text().splitlines()
        lines = [line for line in log if f'"event": "{event}"' in line and trained.id in line]
        assert [f'"trace_id": "{TRACE}"' in line for line in lines] == [True], lines


def test_a_job_that_fails_is_an_error(receiver: Receiver, service: EmbeddedStack, tmp_path: Path) -> None:
    """Its span says so, and begins a trace with the request that nobody else's trace was named for."""
    broken = tmp_path / "broken.txt"
    broken.write_text("2 qid:1 1:oops\n")
    with Client(service.url) as client, pytest.raises(JobFailed):
        client.upload_dataset(broken).wait(timeout_seconds=100)

    def failed() -> list[tuple[str, list[tuple[str, Span]]]]:
        return [
            (trace, spans)
            for trace, spans in receiver.spans().items()
            if any(_attributes(span).get("rankery.job.ending") == "failed" for _, span in spans)
        ]

    ((trace, spans),) = wait_for(failed)
    assert trace != TRACE
    (job,) = [span for _, span in spans if span.name == "job ingest"]
    assert job.status.code == Status.STATUS_CODE_ERROR


def test_what_monitors_ask_is_no_trace(receiver: Receiver, service: EmbeddedStack) -> None:
    """Neither health, metrics nor pages, which are asked for every few seconds."""
    for path in ("/healthz", "/readyz", "/metrics", "/"):
        assert httpx.get(service.url + path).status_code == 200
    asked = httpx.get(f"{service.url}/v1/models", headers={"traceparent": f"00-{'a' * 32}-{CALLER}-01"})
    assert asked.status_code == 200
    wait_for(lambda: _trace_with(receiver, "GET /v1/models", "a" * 32))
    names = {span.name for spans in receiver.spans().values() for _, span in spans if span.kind == 2}
    assert names
    assert {name.split(" ")[1][:3] for name in names} == {"/v1"}
