"""The job kind `import`: import a TREC run of another system."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import DatasetJob, UnfinishedJob
from core.jobs.folders import run_folder
from core.jobs.stored import Json, Stored, required


@dataclass(frozen=True, kw_only=True)
class ImportRunJob(DatasetJob):
    """Read an uploaded TREC run and store it as a ranking.

    Attributes:
        upload_id: Id of its uploaded bytes.
        dataset_id: The dataset whose queries it ranks.
        name: Name of the system.
        filename: The file's name, for messages.
    """

    kind: ClassVar[str] = "import"
    label: ClassVar[str] = "Reading a run"
    titled_by: ClassVar[tuple[str, ...]] = ("name",)

    upload_id: str
    name: str
    filename: str

    @classmethod
    def from_json(cls, stored: Stored) -> "ImportRunJob":
        """Parse the stored JSON."""
        return cls(
            upload_id=required(stored, "upload_id"),
            dataset_id=required(stored, "dataset_id"),
            name=required(stored, "name"),
            filename=required(stored, "filename"),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            "upload_id": self.upload_id,
            "dataset_id": self.dataset_id,
            "name": self.name,
            "filename": self.filename,
        }

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the upload."""
        upload_id = job.spec.get("upload_id")
        return [run_folder(upload_id)] if upload_id else []
