"""The job kind `ingest`: read an uploaded dataset or generate a synthetic one."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import DatasetJob, UnfinishedJob
from core.jobs.folders import claims_folders, upload_folder
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
