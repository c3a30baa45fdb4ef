"""The job kind `rank`: rank a dataset's documents by a model."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import SubmittedJob
from core.jobs.systems import SYSTEM_NAME_ENTRIES, System
from core.stored import entry


@dataclass(frozen=True, kw_only=True)
class RankJob(SubmittedJob):
    """Rank a dataset by a model.

    Attributes:
        system: The model.
        dataset_id: The dataset.
    """

    kind: ClassVar[str] = "rank"
    label: ClassVar[str] = "Ranking"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES

    system: System = entry(flat=True)
