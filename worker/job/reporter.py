"""Report the progress, metrics, learning curves and checkpoints of a running job."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import structlog

from core.errors import StoreUnavailable
from core.store import Transaction
from core.types import OnProgress
from worker.job.caches import JobCounters
from worker.job.lease import Lease
from worker.job.phases import Phases

_LOG = structlog.stdlib.get_logger(__name__)

Values = dict[str, Any]


class Reporter:
    """Collector of the reports of one job.

    The reporter writes a new phase immediately, and progress at most once per interval. All methods that
    write raise the errors of `Lease.check`.

    Args:
        counters: Counts that the job adds to the service's totals.
        interval_seconds: Shortest time between two writes of progress.

    Attributes:
        checkpoint: Checkpoint of an earlier attempt, as for `core.store.Jobs.keep_checkpoint`, or None.
        phases: Phases of this attempt, with their times and memory.
        counters: Counts that the job adds to the service's totals.
        progress_details: Values to show with the progress, such as the ranks of a training.
        on_iterations: Called with the points of the learning curves as they are reported, or None.
    """

    def __init__(
        self,
        lease: Lease,
        checkpoint: Values | None,
        phases: Phases,
        counters: JobCounters,
        interval_seconds: float,
    ) -> None:
        self.lease = lease
        self.checkpoint = checkpoint
        self.phases = phases
        self.counters = counters
        self.progress_details: Values = {}
        self.on_iterations: Callable[[Sequence[tuple[int, Values]]], None] | None = None
        self._interval_seconds = interval_seconds
        self._reported_at = -math.inf
        self._progress: Values | None = self._checkpoint_progress()
        self._metrics: Values | None = None
        self._findings: list[Values] | None = None
        self._iterations: list[tuple[int, Values]] = []
        self._milliseconds: dict[int, Values] = {}

    def phase(self, name: str, *, reset_count: bool = False) -> None:
        """Enter the next phase, write all reports immediately, and check for interruptions.

        Args:
            reset_count: Drop the count of the previous phase. A resumed job then shows the count of its
                checkpoint.
        """
        if reset_count:
            self._progress = self._checkpoint_progress()
        self._enter(name)
        self.phases.enter(name)
        self.flush()

    def report(
        self,
        *,
        progress: Values | None = None,
        metrics: Values | None = None,
        findings: list[Values] | None = None,
        iterations: Sequence[tuple[int, Values]] = (),
        milliseconds: Mapping[int, Values] = MappingProxyType({}),
        immediately: bool = False,
    ) -> None:
        """Collect progress and metrics, and write them at most once per interval.

        Args:
            metrics: Latest means.
            milliseconds: Mean times of an iteration since the previous point, by the iteration of the point.
            immediately: Write now, even within the interval.
        """
        if progress is not None:
            self._progress = progress
            self.phases.enter(progress.get("phase"))
        self._metrics = metrics or self._metrics
        self._findings = self._findings if findings is None else findings
        self._iterations.extend(iterations)
        self._milliseconds.update(milliseconds)
        self.lease.check()
        if self.on_iterations is not None and iterations:
            self.on_iterations(iterations)
        if immediately or time.monotonic() - self._reported_at >= self._interval_seconds:
            try:
                self.flush()
            except StoreUnavailable:
                # The next report, or the end of the job, writes the same values.
                self._reported_at = time.monotonic()
                _LOG.warning("job.report_delayed", exc_info=True)

    def repeat(self, iterations: Sequence[tuple[int, Values]]) -> None:
        """Pass points of an earlier attempt, which are recorded already, to `on_iterations`."""
        if self.on_iterations is not None and iterations:
            self.on_iterations(iterations)

    def flush(self) -> None:
        """Write the collected reports, renew the lease, and check for interruptions."""
        self.lease.check()
        with self.lease.store.begin() as tx:
            self.record(tx)
            self.lease.renew_within(tx)
        self._clear_recorded()
        self._reported_at = time.monotonic()
        self.lease.check()

    def finish(self) -> None:
        """End the last phase; the next `record` writes the job as finished."""
        self._enter("finished")
        self.phases.enter(None)

    def record(self, tx: Transaction) -> None:
        """Write the collected reports in a transaction."""
        tx.jobs.record(
            self.lease.job_id,
            self.lease.token,
            progress=self._progress and {**self._progress, **self.progress_details},
            metrics=self._metrics,
            findings=self._findings,
            iterations=list(self._iterations),
            milliseconds=dict(self._milliseconds),
            phases=self.phases.to_json() or None,
        )
        self.counters.add_to(tx.counters)

    def keep_checkpoint(self, checkpoint: Values) -> None:
        """Record a checkpoint together with the collected reports."""
        with self.lease.store.begin() as tx:
            self.record(tx)
            tx.jobs.keep_checkpoint(self.lease.job_id, self.lease.token, checkpoint)
        self._clear_recorded()

    def discard_checkpoint(self) -> None:
        """Drop an unusable checkpoint."""
        self._progress = self.checkpoint = None
        with self.lease.store.begin() as tx:
            tx.jobs.drop_checkpoint(self.lease.job_id, self.lease.token)

    def _checkpoint_progress(self) -> Values | None:
        """Return the progress that a resumed job shows until its first report."""
        if self.checkpoint is None:
            return None
        return {name: self.checkpoint[name] for name in ("iteration", "total")} | {"phase": "resuming"}

    def _enter(self, phase: str) -> None:
        counts = self._progress or {"iteration": 0, "total": 0}
        self._progress = {**counts, "phase": phase, "eta_seconds": None}

    def _clear_recorded(self) -> None:
        """Clear the reports that were committed."""
        self._iterations.clear()
        self._milliseconds.clear()
        self.counters.committed()


_PERCENT = 100


def counting(reporter: Reporter, phase: str, steps: int | None = None) -> OnProgress:
    """Return a callback that reports completed and total steps as progress with the remaining time.

    Args:
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
