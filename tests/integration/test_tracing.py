"""Traces and logs of a service from start to stop, and wake-ups without a sweep."""

import json
import signal
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from rankery.client import Client, Job
from rankery.errors import JobFailed
from tests.integration.services import Service
from tests.integration.waiting import LIMIT_SECONDS, wait_for

pytestmark = pytest.mark.long

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

OTHER_TRACE = "a" * 32


class Receiver:
    """An OTLP receiver on a free port.

    Attributes:
        url: Value of `OTEL_EXPORTER_OTLP_ENDPOINT`.
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
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the receiver."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def spans(self) -> dict[str, list[tuple[str, Span]]]:
        """Return the spans so far by trace, each with the name of its service."""
        by_trace: dict[str, list[tuple[str, Span]]] = {}
        for request in list(self._received):
            for resource in request.resource_spans:
                names = [
                    a.value.string_value for a in resource.resource.attributes if a.key == "service.name"
                ]
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        by_trace.setdefault(span.trace_id.hex(), []).append((names[0], span))
        return by_trace


@dataclass(frozen=True)
class Traced:
    """Observations of a service that has ended.

    Attributes:
        data_dir: Its data folder.
        lines: Terminal output.
        exit_code: Its exit code.
        spans: Spans by trace, each with the name of its process.
        trained: The training whose request belonged to the trace of a caller.
    """

    data_dir: Path
    lines: list[str]
    exit_code: int
    spans: dict[str, list[tuple[str, Span]]]
    trained: Job

    def log(self, part: str) -> list[str]:
        """Return the log lines of a part."""
        return (self.data_dir / "logs" / f"{part}.log").read_text().splitlines()


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """A service that logs JSON and sends its traces to a receiver, without sweeps after its start."""
    folder = tmp_path_factory.mktemp("traced")
    data_dir, receiver = folder / "data", Receiver()
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "RANKERY_LOG_FORMAT": "json",
        "RANKERY_LEASE_SECOND": "3",  # no setting: each process warns
        "RANKERY_SWEEP_SECONDS": "3600",
        "RANKERY_LEASE_SECONDS": "600",  # a worker counts as running for this time after a sweep
    }
    with Service(data_dir, environment, "--port", "0") as service:
        url = service.wait_for_url()
        # Wait for the first sweep of both lanes, which is also the last.
        wait_for(lambda: httpx.get(f"{url}/readyz?for=jobs").is_success)
        with Client(url) as client:
            trained = _train(client)
            broken = folder / "broken.txt"
            broken.write_text("2 qid:1 1:oops\n")
            with pytest.raises(JobFailed):
                client.upload_dataset(broken).wait(timeout_seconds=LIMIT_SECONDS)
        for path in ("/healthz", "/readyz", "/metrics", "/"):
            assert httpx.get(url + path).status_code == 200
        response = httpx.get(f"{url}/v1/models", headers={"traceparent": f"00-{OTHER_TRACE}-{CALLER}-01"})
        assert response.status_code == 200
        exit_code = service.end(signal.SIGTERM)
    spans = receiver.spans()
    receiver.close()
    return Traced(data_dir, service.lines, exit_code, spans, trained)


def _train(client: Client) -> Job:
    """Train a model by a request that belongs to the caller's trace."""
    dataset = client.synthetic_dataset(20, seed=1).wait(timeout_seconds=LIMIT_SECONDS)
    request = {
        "kind": "train",
        "model_name": "web",
        "dataset_id": dataset.id,
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": 3, "num_leaves": 4},
    }
    headers = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
    sent = httpx.post(f"{client.base_url}/v1/jobs", json=request, headers=headers)
    assert sent.status_code == 202, sent.text
    return client.job(sent.json()["id"]).wait(timeout_seconds=LIMIT_SECONDS)


def _attributes(span: Span) -> dict[str, Any]:
    return {
        attribute.key: getattr(attribute.value, str(attribute.value.WhichOneof("value")))
        for attribute in span.attributes
    }


def test_a_wake_up_starts_a_job(traced: Traced) -> None:
    """Without sweeps for waiting jobs, the message alone makes an idle worker run a job."""
    assert traced.trained.status == "succeeded"
    assert [attempt.ending for attempt in traced.trained.attempts] == ["succeeded"]


def test_a_request_its_job_and_the_phases_are_one_trace(traced: Traced) -> None:
    """The spans belong to the caller's trace; each is a child of its cause and has its attributes."""
    spans = {span.name: (service, span) for service, span in traced.spans[TRACE]}
    api, request = spans.pop("POST /v1/jobs")
    worker, job = spans.pop("job train")
    assert (api, worker) == ("rankery-api", "rankery-worker")
    assert (request.kind, job.kind) == (Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CONSUMER)
    assert request.parent_span_id.hex() == CALLER
    assert job.parent_span_id == request.span_id
    assert _attributes(request)["http.route"] == "/v1/jobs"
    assert _attributes(request)["http.response.status_code"] == 202
    named = _attributes(job)
    assert (named["rankery.job.id"], named["rankery.job.ending"]) == (traced.trained.id, "succeeded")
    assert job.status.code == Status.STATUS_CODE_UNSET
    phases = {phase.phase for phase in traced.trained.phases}
    assert "training" in phases
    assert set(spans) == phases
    for service, phase in spans.values():
        assert (service, phase.parent_span_id) == ("rankery-worker", job.span_id)
        assert job.start_time_unix_nano <= phase.start_time_unix_nano
        assert phase.end_time_unix_nano <= job.end_time_unix_nano


def test_log_lines_carry_the_trace(traced: Traced) -> None:
    """The log lines of the request and of its job have the trace id."""
    for part, event in (("api", "job.submitted"), ("worker", "job.started"), ("worker", "job.succeeded")):
        named = [line for line in traced.log(part) if f'"event": "{event}"' in line]
        lines = [line for line in named if traced.trained.id in line]
        assert [f'"trace_id": "{TRACE}"' in line for line in lines] == [True], lines


def test_a_job_that_fails_is_an_error(traced: Traced) -> None:
    """The span of the job has the status error; without a caller's trace, the request begins a new trace."""
    ((trace, spans),) = [
        (trace, spans)
        for trace, spans in traced.spans.items()
        if any(_attributes(span).get("rankery.job.ending") == "failed" for _, span in spans)
    ]
    assert trace != TRACE
    (job,) = [span for _, span in spans if span.name == "job ingest"]
    assert job.status.code == Status.STATUS_CODE_ERROR


def test_requests_of_monitors_have_no_trace(traced: Traced) -> None:
    """Requests for health, metrics and pages, which repeat every few seconds, have no spans."""
    assert [span.name for _, span in traced.spans[OTHER_TRACE]] == ["GET /v1/models"]
    names = {
        span.name
        for spans in traced.spans.values()
        for _, span in spans
        if span.kind == Span.SPAN_KIND_SERVER
    }
    assert names
    assert {name.split(" ")[1][:3] for name in names} == {"/v1"}


def test_every_line_is_json(traced: Traced) -> None:
    """The lines of the terminal, the API, the worker, Celery and the broker are JSON, from start to stop.

    Each process warns about a variable that is not a setting, with the name that was probably meant.
    """
    assert traced.exit_code == 0
    assert {path.stem for path in (traced.data_dir / "logs").iterdir()} == {"broker", "api", "worker"}
    events = {part: list(map(_event, traced.log(part))) for part in ("broker", "api", "worker")}
    assert any("Ready to accept connections" in event["event"] for event in events["broker"])
    for part in ("api", "worker"):
        (unknown,) = [event for event in events[part] if event["event"] == "setting.unknown"]
        assert unknown["variable"] == "RANKERY_LEASE_SECOND"
        assert unknown["hint"] == "did you mean RANKERY_LEASE_SECONDS?"
    # The log excludes the lines that Celery prints without its logger.
    assert not [event for event in events["worker"] if "shutdown (MainProcess)" in event["event"]]
    messages = [_event(line)["event"] for line in traced.lines]
    assert "rankery: RANKERY_LEASE_SECOND is not a setting: did you mean RANKERY_LEASE_SECONDS?" in messages
    assert messages[-1] == "rankery: stopping"


def _event(line: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(line)
    assert {"event", "level", "logger", "timestamp"} <= event.keys()
    return event
