"""The job kinds `train` and `reproduce`: train a model, or again to compare the bytes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from core.jobs.base_training import BaseTrainingJob
from core.jobs.measuring import SYSTEM_NAME_ENTRIES
from core.stored import Stored, entry

# Name of the tag that all models of one grid share.
GRID_TAG = "grid"
# Tag of repeated trainings, whose value is the number of the training, from 1.
REPEAT_TAG = "repeat"


@dataclass(frozen=True, kw_only=True)
class TrainJob(BaseTrainingJob):
    """Train the next version of a model.

    Attributes:
        tags: Tags of the model; in a grid, they include the varied parameters.
        test_dataset_id: Another dataset to evaluate the model on, or None.
    """

    kind: ClassVar[str] = "train"
    label: ClassVar[str] = "Training"
    titled_by: ClassVar[tuple[str, ...]] = ("model_name",)

    model_name: str
    tags: Mapping[str, str] = field(default_factory=dict)
    test_dataset_id: str | None = None

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the model's name, with its varied parameters in a grid: `web (mu 5, seed 2)`."""
        name = super().title_of(stored)
        tags = stored.get("tags") or {}
        varied = ", ".join(f"{tag} {value}" for tag, value in tags.items() if tag != GRID_TAG)
        return f"{name} ({varied})" if name and varied and GRID_TAG in tags else name

    @property
    def made_model_name(self) -> str:
        """Return the name of the model that gets a version."""
        return self.model_name

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that the job trains, validates and tests on."""
        test = {"test": self.test_dataset_id} if self.test_dataset_id else {}
        return {**super().dataset_ids, **test}

    @property
    def tested_on(self) -> str:
        """Return the dataset that the model is tested on."""
        return self.test_dataset_id or self.dataset_id


@dataclass(frozen=True, kw_only=True)
class ReproduceJob(BaseTrainingJob):
    """Train a model again as it was trained, from the specification of its training.

    Attributes:
        system: Reference of this model: `web:3`.
    """

    kind: ClassVar[str] = "reproduce"
    label: ClassVar[str] = "Reproduction"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES
    # Entries of a training that do not determine the model.
    ignored_entries: ClassVar[frozenset[str]] = frozenset({"diagnostics", "limits", "priority", "tags"})

    model_id: str
    system: str = entry(names=("system", "model_id"))

    @property
    def allows_absent_features(self) -> bool:
        """Return True: a model that was trained can be trained again."""
        return True
