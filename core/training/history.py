"""The reports of a training so far, early stopping, the best iteration, and wall times."""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from core.metrics import parse_metric
from core.training.models import IterationReport, Values
from core.training.spec import DiagnosticsPlan, TrainingSpec


class ResumePoint(Protocol):
    """A checkpoint of trees or of a network that a training resumes from."""

    @property
    def best_iteration(self) -> int:
        """Return the best iteration so far, 0 before there is one."""

    @property
    def best_value(self) -> float:
        """Return the value of the selection metric at the best iteration; greater is better."""

    @property
    def history(self) -> Sequence[IterationReport]:
        """Return one report for each iteration."""


class History:
    """The iterations of a training: trees, or the epochs of a network.

    Args:
        validates: Whether validation data selects the best iteration.

    Attributes:
        best_iteration: Best iteration so far, 0 before there is one.
        best_value: Value of the selection metric at the best iteration; greater is better.
    """

    def __init__(self, spec: TrainingSpec, start: ResumePoint | None, *, validates: bool) -> None:
        self._spec = spec
        self._total = spec.iterations
        # Where later trees rescale earlier ones, the last iteration counts as the best.
        self._selects = validates and spec.hyperparameters.boosting != "dart"
        self._prefers_higher = parse_metric(spec.selection_metric).higher_is_better
        self.reports: list[IterationReport] = list(start.history) if start else []
        self.best_iteration = start.best_iteration if start else 0
        self.best_value = start.best_value if start else -np.inf

    @property
    def is_complete(self) -> bool:
        """Return whether the training is complete: all iterations are done, or early stopping applies."""
        stopping = self._spec.early_stopping
        done = len(self.reports)
        if done >= self._total or stopping is None:
            return done >= self._total
        # Without the interval, fewer rounds would end the training before its next measurement.
        return done - self.best_iteration >= max(stopping.rounds, self._spec.metric_interval)

    @property
    def is_measured_next(self) -> bool:
        """Return whether to measure loss and metrics of the next iteration."""
        iteration = len(self.reports) + 1
        return iteration % self._spec.metric_interval == 0 or iteration == self._total

    @property
    def has_unmeasured_end(self) -> bool:
        """Return whether the last iteration has no loss and metrics; it may be the last without a split."""
        return bool(self.reports) and "train" not in self.reports[-1].values

    @property
    def next_diagnostics(self) -> DiagnosticsPlan | None:
        """Return the plan of diagnostics if they are due at the next iteration, else None."""
        plan = self._spec.diagnostics
        return plan if plan is not None and plan.is_due_after(len(self.reports), self._total) else None

    @property
    def is_last_selected(self) -> bool:
        """Return whether the last iteration is the best so far on the validation data."""
        return self._selects and 0 < self.best_iteration == len(self.reports)

    @property
    def kept_iterations(self) -> int:
        """Return the number of iterations that the model keeps."""
        return self.best_iteration or len(self.reports)

    def add(
        self,
        values: Values,
        milliseconds: Mapping[str, float],
        diagnostics_values: Mapping[str, float | None] | None = None,
    ) -> IterationReport:
        """Add the report of an iteration.

        Args:
            values: Mean loss and metrics by dataset, empty where the iteration is not measured.
            milliseconds: Wall time of the iteration by part.
        """
        iteration = len(self.reports) + 1
        self._select(iteration, values)
        reported = (
            dict(values) if diagnostics_values is None else {**values, "diagnostics": diagnostics_values}
        )
        best = max(self.best_iteration, 1)
        report = IterationReport(iteration, self._total, reported, best, milliseconds)
        self.reports.append(report)
        return report

    def measure_end(self, values: Values, milliseconds: Mapping[str, float]) -> IterationReport:
        """Add loss and metrics to the report of the last iteration, after which no split was found.

        Args:
            values: Mean loss and metrics by dataset.
            milliseconds: Wall time of this measurement by part, which is added to that of the iteration.
        """
        last = self.reports[-1]
        self._select(last.iteration, values)
        total = Counter(last.milliseconds)
        total.update(milliseconds)
        self.reports[-1] = replace(
            last,
            values={**values, **last.values},
            best_iteration=max(self.best_iteration, 1),
            milliseconds=dict(total),
        )
        return self.reports[-1]

    def goodness(self, value: float) -> float:
        """Return a value of the selection metric, negated where lower is better."""
        return value if self._prefers_higher else -value

    def _select(self, iteration: int, values: Values) -> None:
        """Update the best iteration."""
        if not self._selects:
            self.best_iteration = iteration
            return
        selected = values.get("validation", {}).get(self._spec.selection_metric)
        if selected is None:
            return
        value = self.goodness(selected)
        if value > self.best_value:
            self.best_iteration, self.best_value = iteration, value


OBJECTIVE = "objective"
TREE = "tree"
NETWORK = "network"
METRICS = "metrics"
DIAGNOSTICS = "diagnostics"
EXCHANGE = "exchange"


class Stopwatch:
    """A stopwatch for the parts of a loop; time in a nested part counts for the inner part only."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str | None, float] = defaultdict(float)
        self._part: str | None = None
        self._since = time.perf_counter()

    def timing(self, part: str) -> "_Timing":
        """Return a context manager that counts the time of its block for a part."""
        return _Timing(self, part)

    def lap(self) -> dict[str, float]:
        """Return the milliseconds of each part since the last lap; call this outside of `timing`."""
        milliseconds = {
            part: round(1e3 * spent, 3) for part, spent in self._seconds.items() if part is not None
        }
        self._seconds.clear()
        return milliseconds

    def switch(self, part: str | None) -> str | None:
        """Begin to count time for a part, None for no part; return the previous part."""
        now, previous = time.perf_counter(), self._part
        self._seconds[previous] += now - self._since
        self._part, self._since = part, now
        return previous


class _Timing:
    """Context of a part: steps of small batches are too short for a generator."""

    def __init__(self, stopwatch: Stopwatch, part: str) -> None:
        self._stopwatch, self._part = stopwatch, part

    def __enter__(self) -> None:
        self._outer = self._stopwatch.switch(self._part)

    def __exit__(self, *_: object) -> None:
        self._stopwatch.switch(self._outer)
