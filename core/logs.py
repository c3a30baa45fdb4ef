"""Logging: one format for all processes, for our own messages and those of libraries."""

import io
import logging
import os
import re
import sys
import threading
from types import TracebackType
from typing import Any, Literal, TextIO

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, Processor, WrappedLogger

LogFormat = Literal["console", "json"]


def _with_trace_id(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
    return event


_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    _with_trace_id,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
# Fields that may have several lines: JSON escapes the line breaks, the console format indents the lines.
_TRACES = ("exception", "stack")
_SECRETS = (
    # User and password of a URL; a port and a path with @ are none, and the next URL is another match.
    (re.compile(r"(?<=://)[^\s/@:]*:(?!\d+/)(?:(?!://)[^\s'\"])*(?=@)"), "***"),
    (re.compile(r"\brk_[A-Za-z0-9_-]{5,}"), "rk_***"),  # API keys
    (re.compile(r"(?i)\b(bearer|basic) +[A-Za-z0-9+/._~=-]{8,}"), r"\1 ***"),
    (
        re.compile(
            r"(?i)\b((?:set-)?cookie|authorization|password|passwd|secret)(['\"]? *[:=] *)"
            r"(?:'[^'\n]+'|\"[^\"\n]+\"|[^\s,;}]+)"
        ),
        r"\1\2***",
    ),
)
# Every match of a pattern above contains one of these texts: a fast check before the slower searches.
_SUSPICIOUS = re.compile(r"(?i)://|rk_|bearer|basic|cookie|authorization|passw|secret")


class LogHandler(logging.StreamHandler):  # type: ignore[type-arg] # generic in the stubs only
    """The handler of a process, on its standard error."""

    def __init__(self, log_format: LogFormat) -> None:
        error = sys.stderr
        super().__init__(error.original if isinstance(error, _LoggedLines) else error)
        self.setFormatter(log_formatter(log_format, self.stream))


def install_handler(level: str, log_format: LogFormat) -> None:
    """Log messages of a level and above to standard error; replace the handler of an earlier call."""
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, LogHandler)]:
        root.removeHandler(handler)
    root.addHandler(LogHandler(log_format))
    root.setLevel(level.upper())


def capture_output() -> None:
    """Log printed text, warnings and uncaught exceptions if `RANKERY_LOG_FORMAT` is `json`.

    Call it as early as possible: earlier output is not JSON.
    """
    if os.environ.get("RANKERY_LOG_FORMAT") != "json" or isinstance(sys.stderr, _LoggedLines):
        return
    install_handler("info", "json")
    logging.captureWarnings(True)
    sys.excepthook = _log_exception
    threading.excepthook = lambda raised: _log_exception(
        raised.exc_type, raised.exc_value or raised.exc_type(), raised.exc_traceback
    )
    sys.stdout = _LoggedLines(sys.stdout, logging.getLogger("stdout"), logging.INFO)
    sys.stderr = _LoggedLines(sys.stderr, logging.getLogger("stderr"), logging.WARNING)
    # Celery writes directly to these streams.
    sys.__stdout__ = sys.__stderr__ = None  # type: ignore[misc] # as without a console


def _log_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logging.getLogger("rankery").critical("unhandled exception", exc_info=(kind, error, trace))


class _ThreadState(threading.local):
    """State of a stream that each thread has separately, so that lines of several threads are not mixed."""

    incomplete_line = ""
    is_logging = False


class _LoggedLines(io.TextIOBase):
    """A stream whose lines are log messages.

    Attributes:
        is_log: Distinguishes these streams for modules that do not import this one.
    """

    encoding = "utf-8"
    is_log = True

    def __init__(self, original: TextIO, logger: logging.Logger, level: int) -> None:
        self.original = original
        self._logger = logger
        self._level = level
        self._thread_state = _ThreadState()

    def writable(self) -> bool:
        """Return True: the stream is writable."""
        return True

    def write(self, text: str) -> int:
        """Log the lines that the text completes."""
        state = self._thread_state
        *lines, state.incomplete_line = (state.incomplete_line + text).split("\n")
        # A failing handler reports on standard error, which is this stream.
        if not state.is_logging:
            state.is_logging = True
            try:
                for line in filter(str.strip, lines):
                    self._logger.log(self._level, "%s", line)
            finally:
                state.is_logging = False
        return len(text)


def log_formatter(log_format: LogFormat, stream: TextIO = sys.stderr) -> structlog.stdlib.ProcessorFormatter:
    """Configure structlog to end in the standard library, and return the formatter for its handlers.

    Each message is one line of JSON, or on a console one line with an indented traceback below it. Secrets
    are masked.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    renderer: list[Processor] = (
        [structlog.processors.JSONRenderer()]
        if log_format == "json"
        else [
            _on_one_line,
            structlog.dev.ConsoleRenderer(
                colors=stream.isatty(),
                sort_keys=False,
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            # The default shows all local variables, which may be secrets, and is slow.
            structlog.processors.format_exc_info,
            _without_secrets,
            *renderer,
        ],
    )


def _without_secrets(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {name: _mask(value) for name, value in event.items()}


def _mask(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {name: _mask(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_mask(item) for item in value]
    text = value if isinstance(value, str) else repr(value)
    if _SUSPICIOUS.search(text) is None:
        return text
    for pattern, mask in _SECRETS:
        text = pattern.sub(mask, text)
    return text


def _on_one_line(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Escape line breaks against log injection; the renderer quotes values that look like fields."""
    for name, value in event.items():
        if name in _TRACES:
            event[name] = "\n".join(f"    {_printable(line)}" for line in str(value).split("\n"))
        elif isinstance(value, str):
            event[name] = _printable(value)
    return event


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
