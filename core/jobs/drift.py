"""The job kind `drift`: detect drift in the score samples of a model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from core.errors import InvalidInput
from core.jobs.base import SubmittedJob
from core.jobs.measuring import SYSTEM_NAME_ENTRIES, System
from core.stored import Json, Stored, entry, read_entries

if TYPE_CHECKING:
    from core.drift import Thresholds


def _thresholds(stored: Stored) -> "Thresholds":
    from core.drift import Thresholds

    return read_entries(Thresholds, stored, exact=True)


@dataclass(frozen=True, kw_only=True)
class DriftJob(SubmittedJob):
    """Compare the score samples of a model with its training data, and with earlier samples.

    Attributes:
        dataset_id: Reference dataset of the features.
        scored_dataset_id: Reference dataset of the scores, which the model scores.
        days: Length of the examined period.
        compare_with_previous: Whether to compare with the samples of the previous period, too.
        queries_by: `id`: equal ids are one query; `request`: all queries are different.
        seed: Seed of the drawn queries and of the permutations.
    """

    kind: ClassVar[str] = "drift"
    label: ClassVar[str] = "Drift"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES

    scored_dataset_id: str
    system: System = entry(flat=True)
    days: float
    compare_with_previous: bool = False
    queries_by: Literal["id", "request"]
    thresholds: "Thresholds" = entry(read=_thresholds)
    seed: int

    @property
    def n_comparisons(self) -> int:
        """Return the number of tests: of features, of scores, and of both with the previous period."""
        return 2 + self.compare_with_previous

    @staticmethod
    def reference_datasets(
        requested: str | None,
        trained_on: str | None,
        lineage: Stored | None,
        exists: Callable[[str], bool],
    ) -> Json:
        """Return the reference datasets of a model's samples, as entries of the specification.

        Unless a dataset is requested, scores are compared with those on the model's validation dataset, if it
        has one: on the training data, scores are spread further apart than on any other dataset.

        Args:
            trained_on: The training dataset of the model, None for an imported model.
            exists: Function that returns whether the dataset with an id exists.

        Raises:
            InvalidInput: There is no reference dataset.
        """
        dataset_id = requested or trained_on
        if dataset_id is None:
            raise InvalidInput.at(
                "/dataset_id", "required, because the model was imported and has no training data"
            )
        if not exists(dataset_id):
            raise InvalidInput.at(
                "/dataset_id", f"the dataset {dataset_id} was deleted; name another dataset to compare with"
            )
        validated = ((lineage or {}).get("datasets") or {}).get("validation") or {}
        scored = None if requested else validated.get("id")
        has_scored = scored is not None and exists(scored)
        return {"dataset_id": dataset_id, "scored_dataset_id": scored if has_scored else dataset_id}

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that the job compares with."""
        return {**super().dataset_ids, "scores": self.scored_dataset_id}
