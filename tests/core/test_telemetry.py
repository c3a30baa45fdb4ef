"""Variables that decide whether traces are sent, and processes without a receiver or the package."""

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from core.telemetry import current_trace_context, is_tracing_wanted, parent_context

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
# The receiver refuses connections, and the span is sent when the process ends.
RECORD = """
import sys
from core.telemetry import TRACER, current_trace_context, start_tracing
stop = start_tracing("test")
with TRACER.start_as_current_span("work"):
    print(current_trace_context()["traceparent"])
stop()
"""


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (ENDPOINT | {"OTEL_SDK_DISABLED": "TRUE"}, False),
        (ENDPOINT | {"OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_opentelemetrys_variables_turn_traces_on_and_off(
    environment: Mapping[str, str], wanted: bool
) -> None:
    """Traces are sent where OpenTelemetry's own variables name a receiver and nothing turns them off."""
    assert is_tracing_wanted(environment) == wanted


def test_nothing_is_recorded_by_default() -> None:
    """Without a receiver there is no span that a job could belong to."""
    assert current_trace_context() is None
    assert dict(parent_context(None)) == {}
    assert dict(parent_context({"traceparent": "no such thing"})) == {}


@pytest.mark.long
def test_an_unreachable_receiver_does_not_stop_a_process() -> None:
    """Spans are still recorded, and the process ends."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", RECORD],
        env=os.environ | ENDPOINT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("00-")


@pytest.mark.long
def test_an_absent_package_is_named() -> None:
    """Without the extra, a line in the log has the command that installs it, and the process continues."""
    absent = "import sys; sys.modules['opentelemetry.sdk'] = None\nfrom core.telemetry import start_tracing\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", absent + "start_tracing('test')()"],
        env=os.environ | ENDPOINT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "pip install 'rankery-server[telemetry]'" in done.stdout
