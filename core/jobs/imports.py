"""The job kinds `import` and `import-model`: import a run or a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import DatasetJob, JobSpec, UnfinishedJob
from core.jobs.folders import model_upload_folder, run_folder


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


@dataclass(frozen=True, kw_only=True)
class ImportModelJob(JobSpec):
    """Make an uploaded model the next version of a name: trees as LightGBM's text, or a safetensors file.

    Attributes:
        upload_id: Id of the uploaded bytes.
        model_name: Name of the model that gets a version.
        filename: The file's name, for messages.
        sha256: Checksum of the file as it was sent.
        size_bytes: Length of the file.
        description: Description of the model by its owners, or None.
        tags: Tags by name, or None.
    """

    kind: ClassVar[str] = "import-model"
    label: ClassVar[str] = "Importing a model"
    titled_by: ClassVar[tuple[str, ...]] = ("model_name",)

    upload_id: str
    model_name: str
    filename: str
    sha256: str
    size_bytes: int
    description: str | None = None
    tags: Mapping[str, str] | None = None

    @property
    def made_model_name(self) -> str:
        """Return the name of the model that gets a version."""
        return self.model_name

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folder of the upload."""
        upload_id = job.spec.get("upload_id")
        return [model_upload_folder(upload_id)] if upload_id else []
