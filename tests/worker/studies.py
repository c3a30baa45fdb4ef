"""Rows of studies, without the API."""

from typing import Any

from core.jobs.train import TrainJob
from core.store import Study
from core.studies import Budget
from tests.worker.inline_worker import SMALL, InlineWorker

LEAVES = "/hyperparameters/num_leaves"
RATE = "/hyperparameters/learning_rate"
SPACE: dict[str, Any] = {
    LEAVES: {"type": "int", "low": 2, "high": 15, "log": True},
    RATE: {"type": "float", "low": 0.02, "high": 0.5, "log": True},
}


def add_study(
    inline_worker: InlineWorker, dataset_id: str, *, trials: int = 4, parallel: int = 1, **changed: Any
) -> Study:
    """Record a study of small trainings and queue its first trials."""
    validation = changed.pop("validation", {"fraction": 0.3})
    budget = Budget(trials, changed.pop("seconds", None), changed.pop("patience", None))
    scorer = changed.pop("scorer", None)
    of_trees = SMALL | changed.pop("hyperparameters", {})
    train = {
        "kind": "train",
        "model_name": "web",
        "dataset_id": dataset_id,
        "loss": {"name": "lambdarank"},
        "scorer": scorer,
        "hyperparameters": {} if scorer else of_trees,
        "metrics": ["ndcg@5"],
        "test": {"fraction": 0.3},
        "seed": 7,
    }
    base = {**TrainJob.from_json(train).to_json(), "loss": train["loss"], "validation": validation}
    spec = {
        "name": "leaves and rate",
        "model_name": "web",
        "dataset_id": dataset_id,
        "test": {"fraction": 0.3},
        "test_dataset_id": None,
        "base": base,
        "asked_base": {"loss": train["loss"]},
        "search_space": SPACE,
        "objective": {"metric": "ndcg@5", "validation": validation},
        "sampler": "tpe",
        "pruner": "none",
        "seed": 7,
        "alias": None,
        "priority": "normal",
        "higher_is_better": True,
        "sampler_limit": None,
        **changed,
    }
    with inline_worker.store.begin() as tx:
        return tx.studies.add(spec, budget, parallel, None)
