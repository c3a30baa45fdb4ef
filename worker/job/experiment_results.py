"""Load the results of an experiment's trainings for its report."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from core.experiments import Part, RunResult
from core.jobs.status import SUCCEEDED
from core.store import Job, JobIteration
from core.store.artifacts.keys import evaluation_key, validation_key
from core.store.repositories.experiments import TrainingState
from core.types import Float64Array
from worker.job.run import JobRun

_Column = list[float | None]


def load_results(run: JobRun, states: Sequence[TrainingState]) -> dict[str, RunResult]:
    """Load the results of all trainings that have ended; merge the folds of each run.

    Raises:
        ArtifactDamaged: The checksum of stored values does not match.
    """
    folds: dict[str, list[TrainingState]] = {}
    for state in states:
        folds.setdefault(state.row.digest, []).append(state)
    results = {}
    for digest, fold_states in folds.items():
        if all(state.has_ended for state in fold_states):
            run.lease.check()
            results[digest] = merge_folds([_result(run, state) for state in fold_states])
    return results


def failure_of(state: TrainingState) -> str | None:
    """Return the reason why an ended training has no result, or None if it has a result."""
    job = state.job
    if job is not None and job.status == SUCCEEDED:
        job = state.evaluation if state.row.needs_training_values else None
    if job is None or job.status == SUCCEEDED:
        return None
    if job.status == "cancelled":
        return "cancelled"
    return f"failed: {(job.problem or {}).get('detail') or (job.problem or {}).get('title')}"


def _result(run: JobRun, state: TrainingState) -> RunResult:
    failure = failure_of(state)
    if failure is not None:
        return RunResult(failure=failure)
    job = state.job
    result: Mapping[str, Any] = (job and job.result) or {}
    with run.store.read() as tx:
        iterations = tx.jobs.iterations(state.row.job_id or "")
        model = tx.models.get(result["model_id"])
    keys: dict[Part, str | None] = {
        "train": _evaluation_key_of(state.evaluation),
        "validation": validation_key(model.id) if model.validation else None,
        "test": evaluation_key(result["evaluation_id"]) if "evaluation_id" in result else None,
    }
    parts = dict.fromkeys(part for row in iterations for part in row.milliseconds or ())
    return RunResult(
        per_query={part: _values(run, key) for part, key in keys.items() if key is not None},
        curves=_curves(iterations),
        iterations=[row.iteration for row in iterations],
        milliseconds={part: [(row.milliseconds or {}).get(part) for row in iterations] for part in parts},
        best_iteration=model.best_iteration,
    )


def _evaluation_key_of(job: Job | None) -> str | None:
    return evaluation_key(job.result["evaluation_id"]) if job is not None and job.result else None


def _values(run: JobRun, key: str) -> dict[str, Float64Array]:
    with run.store.verified.local(key) as path:
        table = pq.read_table(path)
    names = [name for name in table.column_names if name != "query_id"]
    return {name: table.column(name).to_numpy().astype(np.float64) for name in names}


def _curves(iterations: Sequence[JobIteration]) -> dict[str, dict[str, _Column]]:
    names = {
        (data, metric): None for row in iterations for data, values in row.values.items() for metric in values
    }
    curves: dict[str, dict[str, _Column]] = {}
    for data, metric in names:
        curves.setdefault(data, {})[metric] = [row.values.get(data, {}).get(metric) for row in iterations]
    return curves


def merge_folds(folds: Sequence[RunResult]) -> RunResult:
    """Merge the results of several folds: concatenate queries, average curves at their common iterations.

    A fold whose trees find no further split ends early, at an iteration that other folds may not measure.
    """
    first = folds[0]
    failure = next((fold.failure for fold in folds if fold.failure), None)
    if failure is not None or len(folds) == 1:
        return first if failure is None else RunResult(failure=failure)
    common = sorted(set(first.iterations).intersection(*(fold.iterations for fold in folds[1:])))
    return RunResult(
        per_query={
            part: {
                metric: np.concatenate([fold.per_query[part][metric] for fold in folds]) for metric in values
            }
            for part, values in first.per_query.items()
        },
        curves={
            data: {
                metric: _mean(common, folds, [fold.curves.get(data, {}).get(metric, ()) for fold in folds])
                for metric in metrics
            }
            for data, metrics in first.curves.items()
        },
        iterations=common,
        milliseconds={
            part: _mean(common, folds, [fold.milliseconds.get(part, ()) for fold in folds])
            for part in first.milliseconds
        },
        best_iteration=int(np.median([fold.best_iteration or 0 for fold in folds])),
    )


def _mean(
    iterations: Sequence[int], folds: Sequence[RunResult], columns: Sequence[Sequence[float | None]]
) -> _Column:
    """Return the means of the folds' columns at some iterations, None where a fold has no value."""
    by_iteration = [
        dict(zip(fold.iterations, column, strict=False)) for fold, column in zip(folds, columns, strict=True)
    ]
    means: _Column = []
    for iteration in iterations:
        defined = [value for values in by_iteration if (value := values.get(iteration)) is not None]
        means.append(sum(defined) / len(defined) if len(defined) == len(folds) else None)
    return means
