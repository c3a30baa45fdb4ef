"""Learning curves from the recorded iterations of jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.jobs.schemas import Curves, JobCurves, JobHistories, JobHistory
from core.store import Job, Model, Transaction


def history(tx: Transaction, job_id: str, after: int) -> JobHistory:
    """Return the learning curves of a job from the iterations after a given one.

    Raises:
        NotFound: There is no such job.
    """
    job = tx.jobs.get(job_id)
    iterations = tx.jobs.iterations(job_id, after=after)
    model = tx.models.get_many(_model_ids([job])).get(_model_id(job))
    return JobHistory(
        job_id=job_id,
        best_iteration=_best_iteration(model) if model else None,
        iterations=[row.iteration for row in iterations],
        curves=_curves([row.values for row in iterations]),
        milliseconds=_times([row.milliseconds or {} for row in iterations]),
    )


def _best_iteration(model: Model) -> int:
    """Return the best iteration of a training, without the trees of `init_model`."""
    base = (model.lineage or {}).get("init_model")
    return model.best_iteration - (base["trees"] if base else 0)


def histories(tx: Transaction, after: Mapping[str, int], *, times: bool = False) -> JobHistories:
    """Return the learning curves of several jobs, each from the iterations after a given one.

    Args:
        after: For each job id, the iteration after which its curves begin.
        times: Whether to add the times of the iterations.
    """
    jobs = tx.jobs.get_many(list(after))
    after_existing = {job.id: after[job.id] for job in jobs}
    values = tx.jobs.values_by_iteration(after_existing) if jobs else {}
    milliseconds = tx.jobs.milliseconds_by_iteration(after_existing) if jobs and times else {}
    models = tx.models.get_many(_model_ids(jobs))
    items = [
        JobCurves(
            job_id=job.id,
            attempt=job.attempt,
            status=job.status,
            best_iteration=_best_iteration(model) if (model := models.get(_model_id(job))) else None,
            iterations=list(values[job.id]),
            curves=_curves(list(values[job.id].values())),
            milliseconds=_times(list(milliseconds[job.id].values())) if times else {},
        )
        for job in jobs
    ]
    missing = [job_id for job_id in after if job_id not in after_existing]
    return JobHistories(items=items, missing=missing)


def _model_id(job: Job) -> str:
    return str((job.result or {}).get("model_id") or "")


def _model_ids(jobs: Sequence[Job]) -> list[str]:
    return [model_id for job in jobs if (model_id := _model_id(job))]


def _times(rows: Sequence[Mapping[str, float]]) -> dict[str, list[float | None]]:
    parts = dict.fromkeys(part for row in rows for part in row)
    return {part: [row.get(part) for row in rows] for part in parts}


def _curves(rows: Sequence[Mapping[str, Any]]) -> Curves:
    names = {(data, metric): None for row in rows for data, values in row.items() for metric in values}
    curves: Curves = {}
    for data, metric in names:
        curves.setdefault(data, {})[metric] = [row.get(data, {}).get(metric) for row in rows]
    return curves
