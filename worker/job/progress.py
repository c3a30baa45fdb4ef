"""Report the progress of counted steps."""

import time

from core.types import OnProgress
from worker.job.reporter import Reporter

_PERCENT = 100


def counting(reporter: Reporter, phase: str, steps: int | None = None) -> OnProgress:
    """Return a callback that reports completed and total steps as progress with the remaining time.

    Args:
        reporter: Reporter of the job.
        phase: Phase of the job.
        steps: Total to scale the progress to; None for the total of the count.
    """
    started_at = time.monotonic()

    def report(done: int, total: int) -> None:
        elapsed_seconds = time.monotonic() - started_at
        reporter.report(
            progress={
                "phase": phase,
                "iteration": (steps or total) * done // total,
                "total": steps or total,
                "eta_seconds": round(remaining_seconds(elapsed_seconds, done, total), 1) if done else None,
            }
        )

    return report


def remaining_seconds(elapsed_seconds: float, done: int, total: int) -> float:
    """Estimate the time of the steps that remain after `done` (at least 1) of `total` equal steps."""
    return elapsed_seconds * (total - done) / done


def counting_percent(reporter: Reporter, phase: str) -> OnProgress:
    """Return a callback that reports a count in percent of its total; see `counting`."""
    return counting(reporter, phase, _PERCENT)
