"""The reports of a training so far, and which iteration is the best of them."""

from collections.abc import Mapping

import numpy as np

from core.metrics import parse_metric
from core.training.checkpoint import Checkpoint
from core.training.report import IterationReport, Values
from core.training.spec import TrainingSpec
from core.types import Float64Array


class History:
    """The iterations of a training.

    Args:
        spec: What is trained.
        start: Where the training goes on, None from its beginning.
        validates: Whether there is validation data to pick the best iteration.

    Attributes:
        reports: One an iteration.
    """

    def __init__(self, spec: TrainingSpec, start: Checkpoint | None, *, validates: bool) -> None:
        self._spec = spec
        self._total = spec.hyperparameters.num_iterations
        # Where later trees rescale earlier ones, the last iteration is the best.
        self._selects = validates and spec.hyperparameters.boosting != "dart"
        self._prefers_higher = parse_metric(spec.selection_metric).higher_is_better
        self.reports: list[IterationReport] = list(start.history) if start else []
        self._best_iteration = start.best_iteration if start else 0
        self._best_value = start.best_value if start else -np.inf

    @property
    def is_complete(self) -> bool:
        """Return whether no iteration is to follow: all are done, or none was better for long enough."""
        stopping = self._spec.early_stopping
        done = len(self.reports)
        return done >= self._total or (
            stopping is not None and done - self._best_iteration >= stopping.rounds
        )

    @property
    def is_measured_next(self) -> bool:
        """Return whether loss and metrics of the next iteration are wanted."""
        iteration = len(self.reports) + 1
        return iteration % self._spec.metric_interval == 0 or iteration == self._total

    @property
    def kept(self) -> int:
        """Return how many iterations the model keeps."""
        return self._best_iteration or len(self.reports)

    def add(
        self,
        values: Values,
        milliseconds: Mapping[str, float],
        diagnosed: Mapping[str, float | None] | None = None,
    ) -> IterationReport:
        """Note an iteration.

        Args:
            values: Its means by dataset, none where it is not measured.
            milliseconds: Its wall time by part.
            diagnosed: What was found of the gradient that its tree follows, or None.
        """
        iteration = len(self.reports) + 1
        self._select(iteration, values)
        found = dict(values) if diagnosed is None else {**values, "diagnostics": diagnosed}
        best = max(self._best_iteration, 1)
        report = IterationReport(iteration, self._total, found, best, milliseconds)
        self.reports.append(report)
        return report

    def checkpoint(self, model_text: str, scores: dict[str, Float64Array]) -> Checkpoint:
        """Return the state after the last iteration.

        Args:
            model_text: All trees so far.
            scores: Present scores by dataset.
        """
        return Checkpoint(model_text, scores, self._best_iteration, self._best_value, list(self.reports))

    def _select(self, iteration: int, values: Values) -> None:
        """Note whether the iteration is the best so far."""
        if not self._selects:
            self._best_iteration = iteration
            return
        selected = values.get("validation", {}).get(self._spec.selection_metric)
        if selected is None:
            return
        value = selected if self._prefers_higher else -selected
        if value > self._best_value:
            self._best_iteration, self._best_value = iteration, value
