"""Pruning: stop unpromising trials early, and estimate their values from past trials."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from core.evaluation.paired import MIN_DIFFERING_QUERIES
from core.studies.sampling import PastTrial
from core.types import Float64Array, Int64Array

# One-sided p-value: probability, per finished fold, that a trial as good as the best is pruned by chance.
WILCOXON_P = 0.1
# Minimum number of earlier curves for a median, as in Optuna's default.
MEDIAN_STARTUP_TRIALS = 5
# First iteration that may be pruned: the effect of learning rates is largest at the start.
MEDIAN_WARMUP_ITERATIONS = 10


def is_worse_than_best(best: Float64Array, current: Float64Array, *, higher_is_better: bool) -> bool:
    """Return whether a trial is significantly worse than the best trial, over queries.

    Optuna's `WilcoxonPruner` decides, by a one-sided Wilcoxon signed-rank test of the paired values. Fewer
    than six differing queries are no evidence.

    Args:
        best: (n_queries,) values of the best trial, NaN where undefined.
        current: (n_queries,) values of this trial, NaN where undefined or not tested yet.
    """
    import optuna

    shared = np.flatnonzero(~(np.isnan(best) | np.isnan(current)))
    if np.count_nonzero(best[shared] != current[shared]) < MIN_DIFFERING_QUERIES:
        return False
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize" if higher_is_better else "minimize")
    study.add_trial(
        optuna.trial.create_trial(
            value=float(best[shared].mean()), intermediate_values=_by_query(best, shared)
        )
    )
    trial = optuna.trial.create_trial(
        state=optuna.trial.TrialState.RUNNING, intermediate_values=_by_query(current, shared)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pruner is experimental; p is inexact for few queries
        pruner = optuna.pruners.WilcoxonPruner(p_threshold=WILCOXON_P)
        return bool(pruner.prune(study, trial))


def _by_query(values: Float64Array, queries: Int64Array) -> dict[int, float]:
    return dict(zip(queries.tolist(), values[queries].tolist(), strict=True))


def is_worse_than_median(
    curves: Sequence[Mapping[int, float]], iteration: int, best_so_far: float, *, higher_is_better: bool
) -> bool:
    """Return whether a trial's best value so far is worse than the median of earlier trials.

    Args:
        curves: Values of the first fold by iteration, for each earlier successful trial.
        best_so_far: Best value of this trial up to that iteration.
    """
    if iteration < MEDIAN_WARMUP_ITERATIONS or len(curves) < MEDIAN_STARTUP_TRIALS:
        return False
    best = max if higher_is_better else min
    reached = [
        best(earlier)
        for curve in curves
        if (earlier := [value for measured, value in curve.items() if measured <= iteration])
    ]
    if len(reached) < MEDIAN_STARTUP_TRIALS:
        return False
    median = float(np.median(reached))
    return best_so_far < median if higher_is_better else best_so_far > median


def estimate(folds: Mapping[int, float], default: Mapping[int, float], default_value: float) -> float:
    """Return the estimated value of a pruned trial, assuming a constant difference from the default.

    Args:
        folds: Means of the trial by finished fold.
        default: The means of the default by fold.
    """
    shared = [fold for fold in folds if fold in default]
    if not shared:
        return float(np.mean(list(folds.values())))
    return default_value + float(np.mean([folds[fold] - default[fold] for fold in shared]))


class RecordedTrial(Protocol):
    """The columns of a trial that `past_trials` reads."""

    @property
    def number(self) -> int:
        """Number of the trial in its study, from 0."""

    @property
    def status(self) -> str:
        """Status of the trial, as in `core.store.tables.studies.Trial`."""

    @property
    def parameters(self) -> dict[str, Any] | None:
        """Parameters of the trial by pointer."""

    @property
    def value(self) -> float | None:
        """Value of the trial; of its finished folds if it was pruned."""

    @property
    def folds(self) -> list[dict[str, Any]] | None:
        """Finished folds of the trial."""


def past_trials(trials: Sequence[RecordedTrial]) -> list[PastTrial]:
    """Return the running trials, and the trials with a value, which is estimated for pruned trials."""
    default = next((trial for trial in trials if trial.number == 0 and trial.status == "succeeded"), None)
    return [past for trial in trials if (past := _past(trial, default)) is not None]


def _past(trial: RecordedTrial, default: RecordedTrial | None) -> PastTrial | None:
    parameters: Mapping[str, Any] | None = trial.parameters
    if parameters is None:
        return None
    if trial.status == "running":
        return PastTrial(trial.number, parameters, None, is_running=True)
    if trial.status == "succeeded" and trial.value is not None:
        return PastTrial(trial.number, parameters, trial.value)
    if trial.status != "pruned" or trial.value is None:
        return None
    folds = means(trial.folds or ())
    if not folds or default is None or default.value is None:
        return PastTrial(trial.number, parameters, trial.value)
    value = estimate(folds, means(default.folds or ()), default.value)
    return PastTrial(trial.number, parameters, value)


def means(folds: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    """Return the mean of each finished fold by fold number, without folds that have no mean."""
    return {fold["fold"]: fold["value"] for fold in folds if fold["value"] is not None}
