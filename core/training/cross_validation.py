"""Cross-validation by folds of whole queries: every query is tested by a model that was not trained on it.

All folds together give one value per query, as a test set does. The reported mean is over queries, not over
folds, so that a small fold has a small weight. With the folds of `core.data.splits.fold_numbers`, this is
stratified k-fold cross-validation (Kohavi 1995).
"""

import io
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from core.data.folds import FoldAssignment
from core.metrics import Metric
from core.stored import entry, read_entries, write_entries
from core.training.checkpoint import ARCHIVE_ERRORS, CheckpointError
from core.training.models import IterationReport, Values
from core.types import Float64Array, Int64Array

_FORMAT = 1
_LEVEL = 0.95


def _read_history(stored: Sequence[tuple[int, Values]]) -> tuple[tuple[int, Values], ...]:
    return tuple((iteration, values) for iteration, values in stored)


@dataclass(frozen=True)
class FoldResult:
    """The result of a held-out fold.

    Attributes:
        best_iteration: Best iteration by the selection metric on the fold; the last where it is undefined.
        means: Mean over its queries by metric, None where no query defines it.
        history: The measured iterations with their values by data and metric, see `IterationReport.values`.
        is_defined: Whether the selection metric is defined on the fold.
    """

    fold: str
    queries: int
    documents: int
    best_iteration: int
    means: dict[str, float | None] = entry(names=("metrics",), read=dict)
    history: tuple[tuple[int, Values], ...] = entry((), read=_read_history, omit_default=True)
    is_defined: bool = entry(True, omit_default=True)


@dataclass(frozen=True)
class FoldInterval:
    """A mean over folds and its confidence interval.

    Attributes:
        lower: Lower end of its 95% interval by Student's t; None for one fold.
    """

    mean: float
    lower: float | None
    upper: float | None


def fold_interval(means: Sequence[float | None]) -> FoldInterval | None:
    """Return the mean over folds, `mean ± t(k − 1) · s / √k`, None where no fold has a value.

    The trainings of two folds share most of their queries. The folds are therefore not independent, and the
    interval tends to be too narrow (Bengio and Grandvalet 2004).

    Example:
        >>> interval = fold_interval([0.4, 0.5, 0.6])
        >>> round(interval.mean, 3), round(interval.lower, 3), round(interval.upper, 3)
        (0.5, 0.252, 0.748)
    """
    values = [mean for mean in means if mean is not None]
    if not values:
        return None
    mean, k = statistics.fmean(values), len(values)
    if k == 1:
        return FoldInterval(mean, None, None)
    from scipy import special

    half = float(special.stdtrit(k - 1, (1 + _LEVEL) / 2)) * statistics.stdev(values) / math.sqrt(k)
    return FoldInterval(mean, mean - half, mean + half)


def median_iteration(best_iterations: Sequence[int]) -> int:
    """Return the median of the folds' best iterations, rounded up.

    Example:
        >>> median_iteration([10, 31, 20, 21])
        21
    """
    return math.ceil(statistics.median(best_iterations))


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Results of the folds held out so far, with the metric values of their queries.

    Attributes:
        folds: Results of the held-out folds, in the order of the assignment.
        per_query: float64 (n_queries,) values by metric; NaN where a query was not tested yet, or does not
            define the metric.
        scores: float64 (n_documents,) out-of-fold scores, each by the model not trained on the document's
            query; NaN where the query was not tested yet. None where scores are not kept.
    """

    assignment: FoldAssignment
    folds: tuple[FoldResult, ...]
    per_query: dict[str, Float64Array]
    scores: Float64Array | None = None

    @classmethod
    def before_first_fold(
        cls, assignment: FoldAssignment, metrics: Sequence[str], n_documents: int | None = None
    ) -> "CrossValidation":
        """Return the state before the first fold.

        Args:
            n_documents: Documents whose scores are kept; None to keep none.
        """
        n_queries = len(assignment.fold_of)
        per_query = {name: np.full(n_queries, np.nan) for name in metrics}
        return cls(assignment, (), per_query, None if n_documents is None else np.full(n_documents, np.nan))

    @property
    def fold_of(self) -> Int64Array:
        """Return the position of each query's fold from 0, int64 (n_queries,)."""
        return self.assignment.fold_of

    @property
    def is_complete(self) -> bool:
        """Return whether every fold was held out."""
        return len(self.folds) == self.assignment.n_folds

    @property
    def best_iteration(self) -> int:
        """Return the median of the best iterations of the folds.

        Folds on which the selection metric is undefined are left out, unless it is undefined on all folds.
        """
        selected = [fold for fold in self.folds if fold.is_defined] or self.folds
        return median_iteration([fold.best_iteration for fold in selected])

    def with_fold(
        self,
        best_iteration: int,
        documents: int,
        values: Mapping[str, Float64Array],
        metrics: Mapping[str, Metric],
        history: Sequence[IterationReport] = (),
        *,
        is_defined: bool = True,
    ) -> "CrossValidation":
        """Return the state after the next fold.

        Args:
            values: (n_queries of the fold,) values by metric, in the order of the queries.
            is_defined: Whether the selection metric is defined on the fold.
        """
        number = len(self.folds)
        held_out = self.assignment.queries(number)[1]
        per_query = {name: earlier.copy() for name, earlier in self.per_query.items()}
        for name, by_query in per_query.items():
            by_query[held_out] = values[name]
        result = FoldResult(
            self.assignment.names[number],
            len(held_out),
            documents,
            best_iteration,
            {name: metrics[name].mean(values[name]) for name in per_query},
            tuple((report.iteration, report.values) for report in history if report.values),
            is_defined,
        )
        return replace(self, folds=(*self.folds, result), per_query=per_query)

    def with_scores(self, rows: Int64Array, scores: Float64Array) -> "CrossValidation":
        """Return the state with the scores of some documents; the same state if scores are not kept."""
        if self.scores is None:
            return self
        out_of_fold = self.scores.copy()
        out_of_fold[rows] = scores
        return replace(self, scores=out_of_fold)

    def first_folds(self, folds: int) -> "CrossValidation":
        """Return the state after the first `folds` folds, without scores."""
        later = self.fold_of >= folds
        per_query = {name: np.where(later, np.nan, values) for name, values in self.per_query.items()}
        return replace(self, folds=self.folds[:folds], per_query=per_query, scores=None)

    def means(self, metrics: Mapping[str, Metric]) -> dict[str, float | None]:
        """Return the mean of each metric over the queries tested so far."""
        return {name: metrics[name].mean(values) for name, values in self.per_query.items()}

    def metrics(self, metrics: Mapping[str, Metric]) -> dict[str, dict[str, float | None]]:
        """Return the means by data: "validation" over all queries tested so far, and "fold 1" and so on."""
        if not self.folds:
            return {}
        return {"validation": self.means(metrics)} | {
            fold_label(fold.fold): dict(fold.means) for fold in self.folds
        }

    def over_folds(self) -> dict[str, FoldInterval | None]:
        """Return for each metric the mean over the folds so far, with its interval."""
        return {name: fold_interval([fold.means[name] for fold in self.folds]) for name in self.per_query}

    def values_by_iteration(self) -> dict[int, list[tuple[str, Values]]]:
        """Return for each iteration the names and values of the folds that were measured at it."""
        by_iteration: dict[int, list[tuple[str, Values]]] = {}
        for fold in self.folds:
            for iteration, values in fold.history:
                by_iteration.setdefault(iteration, []).append((fold.fold, values))
        return by_iteration

    def to_json(self) -> dict[str, Any]:
        """Return the folds with their means, and the mean over folds of each metric with its interval."""
        return {
            "best_iteration": self.best_iteration,
            "folds": [write_entries(replace(fold, history=())) for fold in self.folds],
            "over_folds": {
                name: interval and asdict(interval) for name, interval in self.over_folds().items()
            },
        }

    def to_bytes(self, training: bytes | None = None) -> bytes:
        """Return the content of a checkpoint file, a NumPy archive without pickled objects.

        Args:
            training: The checkpoint of the current training, or None between two trainings.
        """
        folds = [write_entries(fold) for fold in self.folds]
        state = {"format": _FORMAT, "folds": folds, "metrics": list(self.per_query)}
        file = io.BytesIO()
        np.savez(
            file,
            allow_pickle=False,
            state=np.frombuffer(json.dumps(state).encode(), np.uint8),
            values=np.column_stack(list(self.per_query.values())),
            fold_of=self.fold_of,
            scores=np.empty(0) if self.scores is None else self.scores,
            training=np.frombuffer(training or b"", np.uint8),
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, assignment: FoldAssignment) -> "tuple[CrossValidation, bytes | None]":
        """Read the folds so far and the checkpoint of the current training from `to_bytes` content.

        Raises:
            CheckpointError: The content cannot be parsed, or has other folds.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                state: dict[str, Any] = json.loads(archive["state"].tobytes())
                values, fold_of, scores = archive["values"], archive["fold_of"], archive["scores"]
                training = archive["training"].tobytes() or None
            if state["format"] != _FORMAT or not np.array_equal(fold_of, assignment.fold_of):
                raise CheckpointError(
                    "the checkpoint belongs to other folds, or was written by another version"
                )
            folds = tuple(read_entries(FoldResult, fold) for fold in state["folds"])
            per_query = {name: values[:, column].copy() for column, name in enumerate(state["metrics"])}
        except ARCHIVE_ERRORS as error:
            raise CheckpointError("the checkpoint is damaged") from error
        return cls(assignment, folds, per_query, scores if len(scores) else None), training


def fold_curves(fold_values: Sequence[tuple[str, Values]]) -> dict[str, dict[str, float | None]]:
    """Return the values of folds at one iteration, by the label of their curve.

    Args:
        fold_values: Name and values of each fold measured at the iteration; early stopping ends some folds
            before others.

    Returns:
        By data and metric: "train" and "validation" are means over these folds, "fold 1" has the values of
        held-out fold 1 alone.
    """
    curves: dict[str, dict[str, float | None]] = {}
    for data in ("train", "validation"):
        parts = [values[data] for _, values in fold_values if data in values]
        names = dict.fromkeys(name for part in parts for name in part)
        curves[data] = {name: _mean([part.get(name) for part in parts]) for name in names}
    for fold, values in fold_values:
        curves[fold_label(fold)] = dict(values.get("validation", {}))
    return {data: values for data, values in curves.items() if values}


def fold_label(fold: str) -> str:
    """Return the label of a fold's data: "fold 1", or "Fold1" where that is its name."""
    return fold if fold.lower().startswith("fold") else f"fold {fold}"


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return statistics.fmean(defined) if defined else None
