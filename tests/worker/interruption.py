"""Interrupt a job at a known point of its progress."""

import time
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from worker.job.lease import Lease
from worker.job.reporter import Reporter
from worker.process.shutdown import StopFlag

Reached = Callable[[dict[str, Any]], bool]


def when(monkeypatch: pytest.MonkeyPatch, reached: Reached, then: Callable[[Lease], None]) -> None:
    """Call a function once, after the first report of a job whose progress fits.

    Args:
        monkeypatch: Ends with the attempt.
        reached: Takes the progress of a report, empty where it has none.
        then: Called in the thread of the job, with its lease.
    """
    report = Reporter.report
    is_reached = False

    def reporting(reporter: Reporter, **news: Any) -> None:
        nonlocal is_reached
        report(reporter, **news)
        if not is_reached and reached(news.get("progress") or {}):
            is_reached = True
            then(reporter.lease)

    monkeypatch.setattr(Reporter, "report", reporting)


def interrupt_when(monkeypatch: pytest.MonkeyPatch, reached: Reached, then: Callable[[Lease], None]) -> None:
    """Hold a job at the first report whose progress fits, until it hears of the interruption that follows.

    Args:
        monkeypatch: Ends with the attempt that is interrupted.
        reached: Takes the progress of a report, empty where it has none.
        then: Causes the interruption, such as the shutdown of the worker.
    """

    def interrupt(lease: Lease) -> None:
        then(lease)
        hold(lease)

    when(monkeypatch, reached, interrupt)


def hold(lease: Lease) -> NoReturn:
    """Hold a job until it hears of an interruption, which is raised."""
    while True:
        lease.check()
        time.sleep(0.01)


def on_phases(monkeypatch: pytest.MonkeyPatch, then: Callable[[Lease, str], object]) -> None:
    """Call a function after each report of a job, with its lease and phase."""
    phase, report = Reporter.phase, Reporter.report

    def entering(reporter: Reporter, name: str, **options: bool) -> None:
        phase(reporter, name, **options)
        then(reporter.lease, name)

    def reporting(reporter: Reporter, **news: Any) -> None:
        report(reporter, **news)
        reported = (news.get("progress") or {}).get("phase")
        if reported is not None:
            then(reporter.lease, reported)

    monkeypatch.setattr(Reporter, "phase", entering)
    monkeypatch.setattr(Reporter, "report", reporting)


def shut_down_when(monkeypatch: pytest.MonkeyPatch, reached: Reached) -> StopFlag:
    """Return the flag of a worker that shuts down at the first report whose progress fits."""
    stop = StopFlag()
    interrupt_when(monkeypatch, reached, lambda _: stop.set())
    return stop
