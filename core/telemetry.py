"""OpenTelemetry traces of requests, the jobs that they submit, and the phases of these jobs.

Spans are recorded only if the extra `telemetry` is installed and the environment configures a receiver.
"""

import os
import threading
from collections.abc import Callable, Mapping

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_SERVICE_NAME = "OTEL_SERVICE_NAME"
# A receiver that hangs must not delay the end of a process.
_SHUTDOWN_SECONDS = 1.0
_W3C = TraceContextTextMapPropagator()
_LOG = structlog.stdlib.get_logger(__name__)

TRACER = trace.get_tracer("rankery")


def is_tracing_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the environment configures a receiver of traces."""
    disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    exporter = environment.get("OTEL_TRACES_EXPORTER", "otlp")
    return exporter == "otlp" and not disabled and any(map(environment.get, _ENDPOINTS))


def start_tracing(service: str) -> Callable[[], None]:
    """Send the spans of this process to the configured receiver, if any.

    Call it once in each process, after a fork, since a thread sends the spans.

    Args:
        service: Name of the service, unless `OTEL_SERVICE_NAME` is set.

    Returns:
        A function that sends the last spans, and waits for at most one second.
    """
    if not is_tracing_wanted():
        return lambda: None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        _LOG.warning("telemetry.absent", hint="pip install 'rankery-server[telemetry]'")
        return lambda: None
    resource = Resource.create({SERVICE_NAME: os.environ.get(_SERVICE_NAME, service)})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)

    def stop() -> None:
        last = threading.Thread(target=provider.shutdown, name="last-spans", daemon=True)
        last.start()
        last.join(_SHUTDOWN_SECONDS)

    return stop


def current_trace_context() -> dict[str, str] | None:
    """Return the headers of the current span (W3C Trace Context), None without a current span."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier or None


def parent_context(carrier: Mapping[str, str] | None) -> Context:
    """Return the context of the span in the headers; an empty context without these headers."""
    return _W3C.extract(carrier or {}, context=Context())
