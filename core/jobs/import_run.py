"""The job kind `import`: import a TREC run of another system."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import DatasetJob, UnfinishedJob
from core.jobs.folders import run_folder


@dataclass(frozen=True, kw_only=True)
class ImportRunJob(DatasetJob):
    """Read an uploaded TREC run and store it as a ranking.

    Attributes:
        upload_id: Id of the uploaded bytes.
        dataset_id: The dataset whose queries the run ranks.
        name: Name of the system.
        filename: The file's name, for messages.
    """

    kind: ClassVar[str] = "import"
    label: ClassVar[str] = "Importing a TREC run"
    titled_by: ClassVar[tuple[str, ...]] = ("name",)
    stores_kind: ClassVar[bool] = False

    upload_id: str
    name: str
    filename: str

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folder of the upload."""
        upload_id = job.spec.get("upload_id")
        return [run_folder(upload_id)] if upload_id else []
