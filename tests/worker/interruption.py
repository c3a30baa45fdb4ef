"""Interrupt a job at a known point of its progress."""

import time
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from worker.job.lease import Lease
from worker.job.reporter import Reporter
from worker.process.shutdown import StopFlag

Reached = Callable[[dict[str, Any]], bool]


def call_when(monkeypatch: pytest.MonkeyPatch, reached: Reached, then: Callable[[Lease], None]) -> None:
    """Call a function once, after the first report of a job whose progress fits.

    Args:
        monkeypatch: Replaces `Reporter.report`, and must be undone after the attempt.
        reached: Returns whether the progress of a report fits; gets an empty progress if a report has none.
        then: Called in the thread of the job, with its lease.
    """
    report = Reporter.report
    is_reached = False

    def reporting(reporter: Reporter, **values: Any) -> None:
        nonlocal is_reached
        report(reporter, **values)
        if not is_reached and reached(values.get("progress") or {}):
            is_reached = True
            then(reporter.lease)

    monkeypatch.setattr(Reporter, "report", reporting)


def interrupt_when(monkeypatch: pytest.MonkeyPatch, reached: Reached, then: Callable[[Lease], None]) -> None:
    """Interrupt a job at the first report whose progress fits; the job waits there for the interruption.

    Args:
        monkeypatch: Replaces `Reporter.report`, and must be undone after the interrupted attempt.
        reached: Returns whether the progress of a report fits; gets an empty progress if a report has none.
        then: Causes the interruption, such as the shutdown of the worker.
    """

    def interrupt(lease: Lease) -> None:
        then(lease)
        hold(lease)

    call_when(monkeypatch, reached, interrupt)


def hold(lease: Lease) -> NoReturn:
    """Block a job until its lease raises an interruption."""
    while True:
        lease.check()
        time.sleep(0.01)


def on_phases(monkeypatch: pytest.MonkeyPatch, then: Callable[[Lease, str], object]) -> None:
    """Call a function after each report of a job, with its lease and phase."""
    phase, report = Reporter.phase, Reporter.report

    def entering(reporter: Reporter, name: str, **options: bool) -> None:
        phase(reporter, name, **options)
        then(reporter.lease, name)

    def reporting(reporter: Reporter, **values: Any) -> None:
        report(reporter, **values)
        reported = (values.get("progress") or {}).get("phase")
        if reported is not None:
            then(reporter.lease, reported)

    monkeypatch.setattr(Reporter, "phase", entering)
    monkeypatch.setattr(Reporter, "report", reporting)


def shut_down_when(monkeypatch: pytest.MonkeyPatch, reached: Reached) -> StopFlag:
    """Return the stop flag of a worker; it is set at the first report whose progress fits."""
    stop = StopFlag()
    interrupt_when(monkeypatch, reached, lambda _: stop.set())
    return stop
