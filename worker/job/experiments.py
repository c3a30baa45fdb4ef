"""Plan a stored experiment, and load the results of its trainings for its report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from core.doctor.corpora import Counts, Recognition, recognise
from core.experiments import PAPERS, Part, Plan, Run, RunResult, plan
from core.experiments.paper import MAIN, Scale
from core.jobs.base import SUCCEEDED
from core.store import Experiment, Job, JobIteration, Transaction
from core.store.artifacts.keys import evaluation_key, validation_key
from core.store.repositories.experiments import TrainingState
from core.types import Float64Array
from worker.job.run import JobRun

MEASURED_ITERATIONS = 5  # trees or epochs
# Interval of the diagnostics, so that a measured training has them once.
_MEASURED_INTERVAL = 3
# Corpora for which papers print results of the first fold only.
_FIRST_FOLD = frozenset({"MSLR-WEB10K", "MSLR-WEB30K"})


def plan_of(experiment: Experiment) -> Plan:
    """Return the plan of an experiment.

    Raises:
        InvalidInput: The paper has no such tables or corpus.
    """
    tables = None if experiment.tables is None else tuple(experiment.tables)
    return _plan(experiment.paper, tables, experiment.scale, experiment.data, experiment.corpus)


@lru_cache(maxsize=8)
def _plan(paper: str, tables: tuple[str, ...] | None, scale: Scale, data: str, corpus: str | None) -> Plan:
    return plan(paper, tables, scale, data, corpus)


def recognitions(tx: Transaction, experiment: Experiment) -> dict[int, Recognition]:
    """Compare the counts of a user's data with those in papers, by fold; empty for synthetic data.

    Raises:
        NotFound: A dataset was deleted.
    """
    if experiment.data != "folder":
        return {}
    counts: dict[int, dict[str, Counts]] = {}
    folders: dict[int, str | None] = {}
    for each in experiment.datasets:
        row = tx.datasets.get(each["dataset_id"])
        if each["name"] == MAIN and row.statistics is not None:
            counts.setdefault(each["fold"], {})[each["part"]] = _counts(row.statistics)
            folders[each["fold"]] = row.source.get("folder")
    return {fold: recognise(parts, folders[fold]) for fold, parts in counts.items()}


def corpus_of(paper: str, recognised_folds: Mapping[int, Recognition]) -> str | None:
    """Return the corpus of a paper that the counts of all folds match, or None."""
    corpora = {
        recognised.corpus if recognised.as_printed else None for recognised in recognised_folds.values()
    }
    corpus = corpora.pop() if len(corpora) == 1 else None
    return corpus if corpus in PAPERS[paper].corpora else None


def corpus_notes(experiment: Experiment, recognised_folds: Mapping[int, Recognition]) -> list[str]:
    """Return the notes on a user's data for the report."""
    notes = list(dict.fromkeys(recognised.sentence for recognised in recognised_folds.values()))
    folds = sorted(
        {recognised.fold for recognised in recognised_folds.values() if recognised.fold is not None}
    )
    if experiment.corpus in _FIRST_FOLD and folds not in ([], [1]):
        numbers = ", ".join(map(str, folds))
        notes.append(
            f"The paper's numbers are for Fold1 of {experiment.corpus}; for fold {numbers} they are for"
            " orientation only."
        )
    return notes


def _counts(statistics: Mapping[str, Any]) -> Counts:
    largest = (statistics.get("label_range") or {}).get("maximum")
    names = ("queries", "documents", "features")
    queries, documents, features = (int(statistics.get(name) or 0) for name in names)
    return Counts(queries, documents, features, largest)


def measured_runs(planned: Plan) -> Mapping[str, tuple[Run, Sequence[Run]]]:
    """Choose the runs that a dry run measures.

    Runs of one loss and kind of scorer take similar time. Among them, the run with the most
    leaves is measured, so that the estimate is an upper bound.

    Returns:
        By digest: a run with five trees or epochs, and the runs of the plan that it represents.
    """
    groups: dict[str, list[Run]] = {}
    for run in planned.runs.values():
        loss = sorted(run.spec["loss"].items(), key=str)
        decisive = (loss, "diagnostics" in run.spec, _architecture(run))
        groups.setdefault(str(decisive), []).append(run)
    return MappingProxyType(
        {
            costliest.digest: (_shortened(costliest), runs)
            for runs in groups.values()
            for costliest in [max(runs, key=leaves_of)]
        }
    )


def _architecture(run: Run) -> list[tuple[str, Any]]:
    """Return the fields that determine the time of an epoch of a network; empty for trees."""
    scorer = run.spec.get("scorer", {})
    return [(name, scorer[name]) for name in ("kind", "hidden", "batch_documents") if name in scorer]


def leaves_of(run: Run) -> int:
    """Return the most leaves of a tree of a run, 0 for a network."""
    if run.is_network:
        return 0
    return int(run.spec["hyperparameters"].get("num_leaves") or 31)


def _shortened(run: Run) -> Run:
    shorter = run.with_iterations(MEASURED_ITERATIONS)
    spec = {name: value for name, value in shorter.spec.items() if name != "early_stopping"}
    if "diagnostics" in spec:
        spec["diagnostics"] = {**spec["diagnostics"], "interval": _MEASURED_INTERVAL}
    return replace(shorter, spec=spec, parts=())


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
