"""Report the progress of counted steps."""

import time
from collections.abc import Callable

from worker.job.run import JobRun

_PERCENT = 100


def counting(run: JobRun, phase: str, steps: int | None = None) -> Callable[[int, int], None]:
    """Return a callback that reports a count as progress with the remaining time.

    Args:
        run: The job.
        phase: What is counted.
        steps: What the progress shall count up to, where that is not the total itself.
    """
    started_at = time.monotonic()

    def report(done: int, total: int) -> None:
        elapsed_seconds = time.monotonic() - started_at
        run.report(
            progress={
                "phase": phase,
                "iteration": (steps or total) * done // total,
                "total": steps or total,
                "eta_seconds": round(elapsed_seconds * (total - done) / done, 1) if done else None,
            }
        )

    return report


def counting_percent(run: JobRun, phase: str) -> Callable[[int, int], None]:
    """Return a callback that reports a count in percent of its total; see `counting`."""
    return counting(run, phase, _PERCENT)
