"""Permitted and escaped content of log lines."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import structlog

from core.logs import LogFormat, log_formatter

FORGED = "2026-01-05T10:00:00.000000Z [info     ] admitted [rankery.access] key_id=key_1"
# Each of these ends or rewrites a line in some terminal, editor or log collector.
BREAKS = [
    "\n",
    "\r\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1b[2K\x1b[1A",
    "\x85",
    "\u2028",
    "\u2029",
    "\x00",
    "\u202e",
    "\udc85",
]

Logged = Callable[[LogFormat], tuple[logging.Logger, io.StringIO]]


@pytest.fixture
def logged() -> Iterator[Logged]:
    """A function that returns a logger, and the stream in memory to which it writes in a log format."""
    logger = logging.getLogger("tests.logs")
    logger.propagate = False
    logger.setLevel(logging.INFO)

    def make(log_format: LogFormat) -> tuple[logging.Logger, io.StringIO]:
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        handler.setFormatter(log_formatter(log_format, stream))
        logger.handlers = [handler]
        return logger, stream

    yield make
    logger.handlers = []
    structlog.reset_defaults()


# A program with output besides log messages: from libraries, from Python itself, and of an error.
PROGRAM_WITH_OUTPUT = """
import os, sys, threading, warnings
from core.logs import capture_output
capture_output()
print("printed\\nin two lines")
sys.stderr.write("written")
thread = threading.Thread(target=lambda: print("by a thread", file=sys.stderr))
thread.start()
thread.join()
sys.stderr.write(" in parts\\n")
warnings.warn("warned of")
import lightgbm
import numpy as np
lightgbm.train({"no_such": 1}, lightgbm.Dataset(np.eye(9), np.arange(9)), 1)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise ValueError("raised")
"""


@pytest.mark.long
def test_a_process_prints_nothing_but_json() -> None:
    """Each printed line, warning and error of any thread is one log message, which includes the traceback."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM_WITH_OUTPUT],
        env=os.environ | {"RANKERY_LOG_FORMAT": "json"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in lines)
    by_event = {line["event"]: line for line in lines}
    assert by_event["printed"]["logger"] == by_event["in two lines"]["logger"] == "stdout"
    assert by_event["written in parts"]["level"] == by_event["by a thread"]["level"] == "warning"
    assert any("UserWarning: warned of" in event for event in by_event)
    assert any(event.startswith("[LightGBM]") for event in by_event)
    raised = [line["exception"] for line in lines if line["event"] == "unhandled exception"]
    assert "ZeroDivisionError" in raised[0]
    assert "ValueError: raised" in raised[1]


@pytest.mark.parametrize("line_break", BREAKS)
def test_no_value_begins_a_line(logged: Logged, line_break: str) -> None:
    """On a console, line breaks in a value, an event or a message of a library are escaped."""
    logger, stream = logged("console")
    ours = structlog.stdlib.get_logger("tests.logs")
    hostile = f"x{line_break}{FORGED}"
    ours.info("request", path=hostile)
    ours.info(hostile)
    ours.info("request", path=[hostile], at={"a": hostile})
    logger.info("Invalid HTTP request: %s", hostile)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 4
    assert all(line[:4].isdigit() and "\x1b" not in line for line in lines)
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("line_break", BREAKS)
def test_a_json_message_is_one_line(logged: Logged, line_break: str) -> None:
    """Line breaks and other characters are escaped as ASCII, and parsing restores them."""
    _, stream = logged("json")
    hostile = f"x{line_break}{FORGED}"
    structlog.stdlib.get_logger("tests.logs").info("request", path=hostile)
    (line,) = stream.getvalue().splitlines()
    assert line.isascii()
    assert json.loads(line)["path"] == hostile


def test_no_value_passes_for_another_field(logged: Logged) -> None:
    """On a console a value with spaces or equals signs is quoted."""
    _, stream = logged("console")
    structlog.stdlib.get_logger("tests.logs").info("request", path="/x status=200", agent='"a')
    assert "path='/x status=200'" in stream.getvalue()
    assert "agent='\"a'" in stream.getvalue()


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_traceback_forges_nothing(logged: Logged, log_format: LogFormat) -> None:
    """The lines of a traceback, and of the error message in it, are indented below the log message."""
    logger, stream = logged(log_format)
    try:
        raise ValueError(f"bad\n{FORGED}\r{FORGED}")
    except ValueError:
        logger.exception("job failed")
    lines = stream.getvalue().splitlines()
    assert "ValueError: bad" in stream.getvalue()
    assert len(lines) == 1 or all(line.startswith("    ") for line in lines[1:])


def test_local_variables_are_not_shown(logged: Logged) -> None:
    """A traceback has places in the code, without values of variables."""
    logger, stream = logged("console")
    hidden = "".join(["rather ", "private"])
    try:
        raise ValueError(len(hidden))
    except ValueError:
        logger.exception("job failed")
    assert "rather private" not in stream.getvalue()


@pytest.mark.parametrize("log_format", ["console", "json"])
@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("cannot connect to postgresql://rankery:hunter2@db/rankery", "hunter2"),
        ("cannot connect to postgresql://rankery:hunt@er2@db:5432/rankery", "er2"),
        ("cannot connect to postgresql://rankery:hun/ter2@db/rankery", "ter2"),
        ("Connected to redis://:s3cr3t@redis:6379/0", "s3cr3t"),
        ("the key rk_" + "A" * 43 + " is unknown", "A" * 43),
        ("headers: {'authorization': 'Bearer abcdefgh12345678'}", "abcdefgh12345678"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("{'cookie': 'rankery_session=abcdefgh'}", "abcdefgh"),
        ("connection failed: user=rankery password=hunter2 host=db", "hunter2"),
        ("connection failed: user = rankery password = hunter2 host = db", "hunter2"),
        ("{'password': 'hunt er2'}", "er2"),
    ],
)
def test_secrets_are_left_out(logged: Logged, log_format: LogFormat, text: str, hidden: str) -> None:
    """Secrets are left out of any field, message and traceback."""
    logger, stream = logged(log_format)
    ours = structlog.stdlib.get_logger("tests.logs")
    ours.info(text, reason=text, nested=[{"reason": text}])
    logger.info("%s", text)
    try:
        raise ValueError(text)
    except ValueError as error:
        logger.exception("failed")
        ours.warning("failed", error=error, exc_info=sys.exc_info())
    assert hidden not in stream.getvalue()
    assert "***" in stream.getvalue()


def test_each_url_of_a_list_is_shown_without_its_password(logged: Logged) -> None:
    """The host of a URL is shown, even if another URL follows without a blank."""
    logger, stream = logged("console")
    logger.info("brokers amqp://a:b@one,amqp://c:d@two")
    assert "brokers amqp://***@one,amqp://***@two" in stream.getvalue()


def test_a_port_and_a_reference_of_a_model_are_no_secret(logged: Logged) -> None:
    """A URL with a port may have @ in its path."""
    logger, stream = logged("console")
    logger.info("GET http://127.0.0.1:8000/v1/models/web@champion")
    assert "http://127.0.0.1:8000/v1/models/web@champion" in stream.getvalue()


def test_ordinary_text_stays(logged: Logged) -> None:
    """URLs without a password, paths and letters of all languages are logged unchanged."""
    _, stream = logged("console")
    structlog.stdlib.get_logger("tests.logs").info(
        "request", path="/jobs/größe", url="http://db:5432/x@y", n=3
    )
    assert "path=/jobs/größe url=http://db:5432/x@y n=3" in stream.getvalue()
