"""Report the iterations of a training, and store checkpoints."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from core.training import IterationReport, Snapshot, TrainingCheckpoint
from worker.job.lease import WorkerStopping
from worker.job.reporter import Reporter, Values


class CheckpointStorage(Protocol):
    """Storage of checkpoints to resume a training from."""

    def is_due(self) -> bool:
        """Return whether the next checkpoint is due."""

    def keep(self, snapshot: Snapshot) -> None:
        """Store a checkpoint and replace the previous one."""


class TrainingWatch:
    """Reports of training iterations as progress, metrics and learning curves.

    Args:
        checkpoints: Storage of checkpoints; None if an interrupted training restarts from the beginning.
        after_first_iteration: Called once, after the first iteration is reported, for work that can wait
            until then.
    """

    phase = "training"

    def __init__(
        self,
        reporter: Reporter,
        checkpoints: CheckpointStorage | None,
        after_first_iteration: Callable[[], None],
    ) -> None:
        self._reporter = reporter
        self._checkpoints = checkpoints
        self._after_first_iteration = after_first_iteration
        self._first: int | None = None
        self._first_ended_at = 0.0
        self._snapshot: Snapshot | None = None
        self._unrecorded: list[Mapping[str, float]] = []
        self._progress: Values = {"phase": self.phase, "iteration": 0, "total": 0, "eta_seconds": None}

    def finish(self) -> None:
        """Call `after_first_iteration` if no iteration was left, since an earlier attempt had trained all."""
        if self._first is None:
            self._after_first_iteration()

    def on_iteration(self, report: IterationReport, snapshot: Snapshot) -> None:
        """Report an iteration, and store a checkpoint if one is due."""
        self._snapshot = snapshot
        with self.checkpoint_on_stop():
            self._report(report)
        if self._checkpoints is not None and self._checkpoints.is_due():
            self._checkpoints.keep(snapshot)

    def set_final_checkpoint(self, checkpoint: TrainingCheckpoint) -> None:
        """Store this checkpoint if the worker stops later, since the training can no longer take one."""
        self._snapshot = lambda: checkpoint

    def on_batch(self, done: int, total: int) -> None:
        """Report the completed and the total batches of the current epoch."""
        with self.checkpoint_on_stop():
            self._reporter.report(progress={**self._progress, "batch": done, "batches": total})

    def counts(self, report: IterationReport) -> tuple[int, int]:
        """Return the completed and the total iterations of the job."""
        return report.iteration, report.total

    def metrics(self, report: IterationReport) -> Values:
        """Return the latest means of the metrics by dataset role."""
        return means(report)

    def curves(self, report: IterationReport) -> Values:
        """Return the iteration's points of the learning curves by dataset role, empty if not measured."""
        return {name: dict(metrics) for name, metrics in report.values.items()}

    @contextmanager
    def checkpoint_on_stop(self) -> Iterator[None]:
        """Store a checkpoint if the worker stops during the block."""
        try:
            yield
        except WorkerStopping:
            if self._snapshot is not None and self._checkpoints is not None:
                self._checkpoints.keep(self._snapshot)
            raise

    def _report(self, report: IterationReport) -> None:
        values = self.curves(report)
        iteration, total = self.counts(report)
        if iteration != self._progress["iteration"]:
            self._reporter.counters.count_iteration()
        elif self._unrecorded:
            self._unrecorded.pop()  # the last iteration is reported again, with all its times, once measured
        self._progress = {
            "phase": self.phase,
            "iteration": iteration,
            "total": total,
            "eta_seconds": self._eta_seconds(report),
        }
        self._unrecorded.append(report.milliseconds)
        measured = [(report.iteration, values)] if values else []
        milliseconds = {report.iteration: self._mean_milliseconds()} if values else {}
        is_first = self._first is None
        self._first = self._first or report.iteration
        self._reporter.report(
            progress=self._progress,
            metrics=self.metrics(report) or None,
            iterations=measured,
            milliseconds=milliseconds,
            immediately=is_first,
        )
        if is_first:
            self._after_first_iteration()
            self._first_ended_at = time.monotonic()

    def _mean_milliseconds(self) -> Values:
        """Return the mean times of the iterations since the last recorded one."""
        total: Counter[str] = Counter()
        for milliseconds in self._unrecorded:
            total.update(milliseconds)
        iterations = len(self._unrecorded)
        self._unrecorded.clear()
        return {part: round(spent / iterations, 3) for part, spent in total.items()}

    def _eta_seconds(self, report: IterationReport) -> float | None:
        # Leave out the first iteration, which also prepares the data.
        if self._first is None or report.iteration == self._first:
            return None
        per_iteration = (time.monotonic() - self._first_ended_at) / (report.iteration - self._first)
        iteration, total = self.counts(report)
        return round(per_iteration * (total - iteration), 1)


def means(report: IterationReport) -> Values:
    """Return the means of the metrics by dataset role, without diagnostics."""
    return {name: dict(values) for name, values in report.values.items() if name != "diagnostics"}
