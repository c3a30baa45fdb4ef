"""Losses in the jobs that an earlier release stored."""

from typing import Any

import pytest

from app.models.distillation import reproduction
from core.data import synthetic_dataset
from tests.worker.inline_worker import InlineWorker

DATASET = synthetic_dataset(20, seed=1, documents_per_query=12, n_features=4)


@pytest.mark.parametrize("name", ["listmle", "w-listmle"])
def test_a_stored_job_without_an_order_of_ties_keeps_the_input_order(
    inline_worker: InlineWorker, name: str
) -> None:
    """The job and its reproduction order ties by input; a random order yields another model."""
    dataset_id = inline_worker.add(DATASET, "train")

    def trained(**options: Any) -> str:
        return _trees(
            inline_worker.model_text(
                inline_worker.training_result(dataset_id, loss={"name": name, **options})
            )
        )

    assert trained() == trained(ties="input") != trained(ties="random")
    with inline_worker.store.begin() as tx:
        again = tx.enqueue(reproduction(tx, tx.models.resolve("web:1")))
    assert again.spec["loss"]["ties"] == "input"
    job = inline_worker.run_queued(again.id)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    assert job.result["equal"]


def test_a_queued_job_with_a_hyperparameter_without_effect_runs(inline_worker: InlineWorker) -> None:
    """Earlier releases accepted hyperparameters that are refused at submission today."""
    loss = {"name": "lambdarank", "persistence": 0.5}
    assert inline_worker.training_result(inline_worker.add(DATASET, "train"), loss=loss)["model_id"]


def _trees(model_text: str) -> str:
    return model_text.partition("end of trees")[0]
