"""Looking for drift in the score samples of a model."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from core.errors import InvalidInput
from core.jobs.base import SubmittedJob
from core.jobs.stored import Json, Stored, required
from core.jobs.systems import SYSTEM, System

if TYPE_CHECKING:
    from core.drift import Thresholds


@dataclass(frozen=True, kw_only=True)
class DriftJob(SubmittedJob):
    """Compare the score samples of a model with its training data, and with the samples before.

    Attributes:
        dataset_id: What the features are compared with.
        scored_dataset_id: The model's scores on it are what scores are compared with.
        system: The model.
        days: Samples of the last so many days are looked at.
        compare_with_previous: Whether they are compared with those of as many days before, too.
        queries_by: What makes two samples the same query, their `id` or nothing.
        thresholds: How much must differ.
        seed: Decides which queries are drawn, and the permutations.
    """

    kind: ClassVar[str] = "drift"
    label: ClassVar[str] = "Drift"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM

    scored_dataset_id: str
    system: System
    days: float
    compare_with_previous: bool
    queries_by: Literal["id", "request"]
    thresholds: "Thresholds"
    seed: int

    @classmethod
    def from_json(cls, stored: Stored) -> "DriftJob":
        """Parse the stored JSON."""
        from core.drift import Thresholds

        return cls(
            scored_dataset_id=required(stored, "scored_dataset_id"),
            system=System.from_json(stored),
            days=required(stored, "days"),
            compare_with_previous=bool(stored.get("compare_with_previous")),
            queries_by=required(stored, "queries_by"),
            thresholds=Thresholds(**required(stored, "thresholds")),
            seed=required(stored, "seed"),
            **cls._shared(stored),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            **self._shared_json(),
            **self.system.to_json(),
            "scored_dataset_id": self.scored_dataset_id,
            "days": self.days,
            "compare_with_previous": self.compare_with_previous,
            "queries_by": self.queries_by,
            "thresholds": asdict(self.thresholds),
            "seed": self.seed,
        }

    @staticmethod
    def reference_datasets(
        asked: str | None,
        trained_on: str | None,
        lineage: Stored | None,
        is_there: Callable[[str], bool],
    ) -> Json:
        """Return what a model's samples are compared with, as entries of the specification.

        Scores are compared with those on the validation data where the model has such a dataset: on the
        training data its scores are spread further apart than on any other.

        Args:
            asked: The dataset that was asked for, or None.
            trained_on: The training dataset of the model, None of an imported one.
            lineage: The lineage of the model, or None.
            is_there: Whether there still is a dataset of an id.

        Raises:
            InvalidInput: There is none to compare with.
        """
        dataset_id = asked or trained_on
        if dataset_id is None:
            raise InvalidInput.at("/dataset_id", "required: the model was imported, without training data")
        if not is_there(dataset_id):
            raise InvalidInput.at(
                "/dataset_id", f"there is no dataset {dataset_id} any more; name one to compare with"
            )
        validated = ((lineage or {}).get("datasets") or {}).get("validation") or {}
        scored = None if asked else validated.get("id")
        has_scored = scored is not None and is_there(scored)
        return {"dataset_id": dataset_id, "scored_dataset_id": scored if has_scored else dataset_id}

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that it compares with."""
        return {**super().dataset_ids, "scores": self.scored_dataset_id}
