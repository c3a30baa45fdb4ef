"""Losses in jobs that an earlier release stored."""

from typing import Any

import pytest

from app.models.reproduction import reproduction
from core.data import synthetic_dataset
from tests.worker.workshop import Workshop

DATASET = synthetic_dataset(20, seed=1, documents_per_query=12, n_features=4)


@pytest.mark.parametrize("name", ["listmle", "w-listmle"])
def test_a_job_from_before_ties_were_drawn_keeps_their_input_order(workshop: Workshop, name: str) -> None:
    """It trains as it did, and so does its reproduction; a drawn order gives another model."""
    dataset_id = workshop.add(DATASET, "train")

    def trained(**options: Any) -> str:
        return _trees(workshop.model_text(workshop.trained(dataset_id, loss={"name": name, **options})))

    assert trained() == trained(ties="input") != trained(ties="random")
    with workshop.store.begin() as tx:
        again = tx.enqueue(reproduction(tx, tx.models.resolve("web:1")))
    assert again.spec["loss"]["ties"] == "input"
    job = workshop.carry_out(again.id)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    assert job.result["equal"]


def test_a_queued_job_with_a_hyperparameter_without_effect_runs(workshop: Workshop) -> None:
    """What is refused at submission today was accepted once."""
    loss = {"name": "lambdarank", "persistence": 0.5}
    assert workshop.trained(workshop.add(DATASET, "train"), loss=loss)["model_id"]


def _trees(model_text: str) -> str:
    return model_text.partition("end of trees")[0]
