"""Small trainings on ranks."""

from typing import Any

from core.store import Job
from tests.worker.inline_worker import InlineWorker

SMALL = {"num_iterations": 6, "num_leaves": 7, "min_data_in_leaf": 5}
SEED = 3
STOPPED_EARLY: dict[str, Any] = {
    "hyperparameters": {**SMALL, "num_iterations": 40},
    "early_stopping": {"metric": "ndcg@5", "rounds": 3},
    "seed": SEED,
}
COLOURS = ["red", "green", "blue", "grey"]


def ranks(number: int) -> dict[str, Any]:
    """Return the part of a job that requests exactly this number of ranks."""
    return {"ranks": {"at_least": number, "at_most": number}, "threads_per_rank": 1}


def train_on(inline_worker: InlineWorker, dataset_id: str, number: int, **spec: Any) -> Job:
    """Run a training with validation on this number of ranks, which must succeed."""
    defaults = {"hyperparameters": SMALL, "validation": {"fraction": 0.3}, "distribution": ranks(number)}
    job = inline_worker.train(dataset_id, **{**defaults, **spec})
    assert job.status == "succeeded", job.problem
    return job


def text_of(inline_worker: InlineWorker, job: Job) -> str:
    """Return the model text of a job."""
    return inline_worker.model_text(job.result or {})
