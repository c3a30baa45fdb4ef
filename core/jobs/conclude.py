"""The job kind `conclude`: the conclusion of a study."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.study import StudyJob


@dataclass(frozen=True, kw_only=True)
class ConcludeJob(StudyJob):
    """Compare the refitted winner of a study with its refitted default on the held-out queries."""

    kind: ClassVar[str] = "conclude"
    label: ClassVar[str] = "Conclusion"
    titled_by: ClassVar[tuple[str, ...]] = ("study_name",)
