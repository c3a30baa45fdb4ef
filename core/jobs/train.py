"""Training a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from core.jobs.boosting import BoostingJob
from core.jobs.stored import Json, Stored, required

# The tag that all models of one grid share.
GRID_TAG = "grid"
# Tag of repeated trainings: the number of each, from 1.
REPEAT_TAG = "repeat"


@dataclass(frozen=True, kw_only=True)
class TrainJob(BoostingJob):
    """Train the next version of a model.

    Attributes:
        model_name: Of which it is the next version.
        tags: Tags of the model; those of a grid name what it varies.
        test_dataset_id: Another dataset to measure the model on in the end, or None.
    """

    kind: ClassVar[str] = "train"
    label: ClassVar[str] = "Training"
    titled_by: ClassVar[tuple[str, ...]] = ("model_name",)

    model_name: str
    tags: Mapping[str, str] = field(default_factory=dict)
    test_dataset_id: str | None = None

    @classmethod
    def from_json(cls, stored: Stored) -> "TrainJob":
        """Parse the stored JSON."""
        return cls(
            model_name=required(stored, "model_name"),
            tags=dict(stored.get("tags") or {}),
            test_dataset_id=stored.get("test_dataset_id"),
            **cls._shared(stored),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return self._shared_json() | {
            "model_name": self.model_name,
            "tags": dict(self.tags),
            "test_dataset_id": self.test_dataset_id,
        }

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the model's name, and what sets the training apart in its grid: `web (mu 5, seed 2)`."""
        name = super().title_of(stored)
        tags = stored.get("tags") or {}
        varied = ", ".join(f"{tag} {value}" for tag, value in tags.items() if tag != GRID_TAG)
        return f"{name} ({varied})" if name and varied and GRID_TAG in tags else name

    @property
    def makes_model(self) -> str:
        """Return the name of models that it makes the next version of."""
        return self.model_name

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that it trains, validates and tests on."""
        test = {"test": self.test_dataset_id} if self.test_dataset_id else {}
        return {**super().dataset_ids, **test}

    @property
    def tested_on(self) -> str:
        """Return the dataset with the queries that the model is measured on."""
        return self.test_dataset_id or self.dataset_id
