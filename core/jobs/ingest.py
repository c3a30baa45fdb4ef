"""The job kinds `ingest` and `ingest-clicks`: read the files of a dataset or of a click log."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import ClickLogJob, DatasetJob, UnfinishedJob
from core.jobs.folders import claims_folders, click_log_upload_folder, log_claims_folders, upload_folder
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
        return [upload_folder(dataset_id), *claims_folders(job.id, job.token)] if dataset_id else []


@dataclass(frozen=True, kw_only=True)
class IngestClicksJob(ClickLogJob):
    """Read an uploaded or imported click log.

    Attributes:
        click_log_id: The log, whose row has the source.
        name: Name of the log.
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
