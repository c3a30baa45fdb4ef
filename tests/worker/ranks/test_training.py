"""Distributed trainings on ranks of this machine: the same model, however many there are."""

from typing import Any

from core.data import RankingDataset
from tests.worker.workshop import Workshop

SMALL = {"num_iterations": 6, "num_leaves": 7, "min_data_in_leaf": 5}


def ranks(number: int) -> dict[str, Any]:
    """Return the part of a job that asks for exactly so many ranks."""
    return {"ranks": {"at_least": number, "at_most": number}, "threads_per_rank": 1}


def test_the_model_does_not_depend_on_the_number_of_ranks(
    workshop: Workshop, dataset: RankingDataset
) -> None:
    """Two, three and five ranks give the same bytes and the same curves."""
    dataset_id = workshop.add(dataset, "d1")
    texts = {
        workshop.model_text(
            workshop.trained(
                dataset_id, hyperparameters=SMALL, validation={"fraction": 0.3}, distribution=ranks(number)
            )
        )
        for number in (2, 3, 5)
    }
    assert len(texts) == 1
