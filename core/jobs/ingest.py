"""Job kinds that read uploads: `ingest`, `ingest-clicks`, `import` and `import-model`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import ClickLogJob, DatasetJob, JobSpec, UnfinishedJob
from core.jobs.folders import (
    claims_folders,
    click_log_upload_folder,
    dataset_upload_folder,
    log_claims_folders,
    model_upload_folder,
    run_folder,
)
from core.stored import entry


@dataclass(frozen=True, kw_only=True)
class IngestJob(DatasetJob):
    """Read an uploaded or imported dataset, or make a synthetic one.

    Attributes:
        dataset_id: The dataset, whose row has the source.
        name: Name of the dataset; None in jobs of earlier releases.
        max_bytes: Limit of downloaded bytes by the quota of the API key, or None.
    """

    kind: ClassVar[str] = "ingest"
    label: ClassVar[str] = "Reading data"
    titled_by: ClassVar[tuple[str, ...]] = ("name",)
    makes_dataset: ClassVar[bool] = True
    stores_kind: ClassVar[bool] = False

    name: str | None = None
    max_bytes: int | None = entry(None, omit_default=True)

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folders of the upload and of the outputs of each claim."""
        dataset_id = job.spec.get("dataset_id")
        return [dataset_upload_folder(dataset_id), *claims_folders(job.id, job.token)] if dataset_id else []


@dataclass(frozen=True, kw_only=True)
class IngestClicksJob(ClickLogJob):
    """Read an uploaded or imported click log.

    Attributes:
        click_log_id: The log, whose row has the source.
        max_bytes: Limit of downloaded bytes by the quota of the API key, or None.
    """

    kind: ClassVar[str] = "ingest-clicks"
    label: ClassVar[str] = "Reading clicks"
    titled_by: ClassVar[tuple[str, ...]] = ("name",)
    makes_click_log: ClassVar[bool] = True

    name: str | None = None
    max_bytes: int | None = None

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folders of the upload and of the outputs of each claim."""
        log_id = job.spec.get("click_log_id")
        if not log_id:
            return []
        return [click_log_upload_folder(log_id), *log_claims_folders(log_id, job.id, job.token)]


@dataclass(frozen=True, kw_only=True)
class ImportRunJob(DatasetJob):
    """Read an uploaded TREC run and store it as a ranking.

    Attributes:
        upload_id: Id of the uploaded bytes.
        dataset_id: The dataset whose queries the run ranks.
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
