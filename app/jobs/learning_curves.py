"""Learning curves from the recorded iterations of a job."""

from collections.abc import Sequence

from app.jobs.schemas import JobHistory
from core.store import JobIteration


def learning_curves(
    job_id: str, best_iteration: int | None, iterations: Sequence[JobIteration]
) -> JobHistory:
    """Turn one row an iteration into one list a metric and part of its time, null where it is unknown."""
    names = {
        (data, metric): None for row in iterations for data, values in row.values.items() for metric in values
    }
    curves: dict[str, dict[str, list[float | None]]] = {}
    for data, metric in names:
        curves.setdefault(data, {})[metric] = [row.values.get(data, {}).get(metric) for row in iterations]
    parts = dict.fromkeys(part for row in iterations for part in row.milliseconds or ())
    return JobHistory(
        job_id=job_id,
        best_iteration=best_iteration,
        iterations=[row.iteration for row in iterations],
        curves=curves,
        milliseconds={part: [(row.milliseconds or {}).get(part) for row in iterations] for part in parts},
    )
