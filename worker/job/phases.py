"""Measure the time and memory of each phase of a job, and trace each phase as a span."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.trace import Span

from core.polling import polling
from core.telemetry import TRACER

_SAMPLE_SECONDS = 0.05


@dataclass
class _Phase:
    seconds: float = 0.0
    peak_memory_bytes: int | None = None


class Phases:
    """Times and peak memory of a job's phases, in the order in which they were first entered.

    Time and peak accumulate if a phase is entered again. Memory is sampled, so a peak between two samples may
    be missed.

    Args:
        used_bytes: Returns the current memory use of the job, None if unknown.
    """

    def __init__(self, used_bytes: Callable[[], int | None]) -> None:
        self._used_bytes = used_bytes
        self._lock = threading.Lock()
        self._phases: dict[str, _Phase] = {}
        self._current: _Phase | None = None
        self._span: Span | None = None
        self._since = time.monotonic()

    def enter(self, name: str | None) -> None:
        """End the current phase and begin another one; None only ends the current phase."""
        following = None if name is None else self._phases.get(name)
        if following is not None and following is self._current:
            return
        self.sample()
        with self._lock:
            self._count_seconds()
            self._current = None if name is None else self._phases.setdefault(name, _Phase())
        self._end_span()
        self._span = None if name is None else TRACER.start_span(name)
        self.sample()

    def _end_span(self) -> None:
        if self._span is not None:
            self._span.end()

    def sample(self) -> None:
        """Update the peak memory of the current phase."""
        used_bytes = self._used_bytes()
        with self._lock:
            if self._current is not None and used_bytes is not None:
                self._current.peak_memory_bytes = max(used_bytes, self._current.peak_memory_bytes or 0)

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Sample the memory in a thread until the block ends; then end the span of the current phase."""
        try:
            with polling(self.sample, _SAMPLE_SECONDS, "memory"):
                yield
        finally:
            self._end_span()

    def to_json(self) -> list[dict[str, Any]]:
        """Return the time and peak memory of all phases so far."""
        with self._lock:
            self._count_seconds()
            return [
                {
                    "phase": name,
                    "seconds": round(phase.seconds, 3),
                    "peak_memory_bytes": phase.peak_memory_bytes,
                }
                for name, phase in self._phases.items()
            ]

    def _count_seconds(self) -> None:
        now = time.monotonic()
        if self._current is not None:
            self._current.seconds += now - self._since
        self._since = now
