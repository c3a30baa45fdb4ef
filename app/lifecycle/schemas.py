"""Schemas of deletions, the trash and the storage."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field

from app.http.schemas import Id, PageModel, RequestModel, ResponseModel
from core.store.lifecycle.deletion import Deletion as StoredDeletion
from core.store.lifecycle.storage import LABELS
from core.store.lifecycle.storage import Storage as MeasuredStorage
from core.store.trash.plan import Refused, Trashed

MAX_IDS = 1_000
MAX_HOLDERS = 100  # dependents that the response lists for one object
KindName = Literal[
    "job",
    "model",
    "evaluation",
    "comparison",
    "ranking",
    "inspection",
    "experiment",
    "study",
    "dataset",
    "click-log",
]


class Holder(ResponseModel):
    """A dependent of an object, which prevents its deletion."""

    kind: str = Field(description="Kind of the dependent", examples=["alias"])
    id: str = Field(
        description="Id of the dependent, or the reference of an alias", examples=["web@champion"]
    )
    name: str = Field(examples=["web@champion"])
    reason: str = Field(
        description="Reason that prevents the deletion, as a phrase that follows kind and name",
        examples=["points at web:3"],
    )


class RefusedObject(ResponseModel):
    """An object that is not deleted, with its dependents."""

    kind: KindName = Field(examples=["model"])
    id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    name: str = Field(examples=["web:3"])
    holders: list[Holder] = Field(description="The first 100 dependents")

    @classmethod
    def of(cls, refused: Refused) -> "RefusedObject":
        """Return the response of an object that is not deleted."""
        node = refused.node
        holders = [Holder.model_validate(holder) for holder in refused.holders[:MAX_HOLDERS]]
        return cls.model_validate(
            {"kind": node.kind.name, "id": node.id, "name": node.name, "holders": holders}
        )


class Deletion(ResponseModel):
    """Objects that a request deleted; in a dry run, objects that it would delete."""

    dry_run: bool = Field(description="Whether nothing was changed")
    deleted: dict[str, int] = Field(
        description="Number of objects by kind, results included", examples=[{"jobs": 3, "models": 5}]
    )
    ids: list[str] = Field(
        [],
        description="Requested objects that were deleted. Restoring them also restores the results deleted"
        " with them. Empty in a dry run",
        examples=[["job_01k9x2z4q7c8v5n3b6r1"]],
    )
    size_bytes: int = Field(description="Bytes of the artifacts of deleted objects", examples=[184_320])
    purge_at: datetime | None = Field(description="Time when these bytes are freed; null for immediately")
    missing: list[str] = Field(description="Ids that do not exist", examples=[[]])
    refused: list[RefusedObject] = Field(description="The first 100 objects that were not deleted")
    refused_count: int = Field(description="Number of objects that were not deleted", examples=[0])
    complete: bool = Field(
        description="False if the request stopped after a minute; send it again for the rest"
    )

    @classmethod
    def of(cls, deletion: StoredDeletion, *, dry_run: bool) -> "Deletion":
        """Return the response of a deletion."""
        return cls(
            dry_run=dry_run,
            deleted=dict(deletion.counts),
            ids=[] if dry_run else deletion.requested,
            size_bytes=deletion.size_bytes,
            purge_at=deletion.purge_at,
            missing=deletion.missing,
            refused=[RefusedObject.of(refused) for refused in deletion.refused],
            refused_count=deletion.refused_count,
            complete=deletion.is_complete,
        )


class DatasetDeletionRequest(RequestModel):
    """The datasets to delete."""

    ids: list[Id] = Field(
        min_length=1, max_length=200, description="Ids of datasets", examples=[["ds_01k9x2m4q7c8v5n3b6r1"]]
    )
    permanently: bool = Field(False, description="Whether to free the bytes immediately, without the trash")


class DeletedDataset(ResponseModel):
    """Outcome of the deletion of one dataset."""

    id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r1"])
    outcome: Literal["deleted", "in_use", "missing"] = Field(
        description="`in_use`: not deleted, because a job or a promotion gate uses the dataset"
    )
    detail: str | None = Field(
        None, description="Dependents of a dataset in use; null otherwise", examples=[None]
    )


class DeletedDatasets(ResponseModel):
    """Outcomes of the deletion of several datasets."""

    items: list[DeletedDataset] = Field(description="In the requested order")


class TrashedObject(ResponseModel):
    """An object in the trash."""

    kind: KindName
    id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    name: str = Field(examples=["web:3"])
    project: str | None = Field(examples=[None])
    size_bytes: int = Field(description="Bytes of the object's artifacts", examples=[61_440])
    deleted_at: datetime
    deleted_by: str | None = Field(
        description="API key that deleted the object; null without authentication, and for deletion by"
        " retention",
        examples=["key_01k9x2m4q7c8v5n3b6r1"],
    )
    purge_at: datetime = Field(description="Time when the object's bytes are freed")

    @classmethod
    def of(cls, trashed: Trashed, size_bytes: int, trash_days: float) -> "TrashedObject":
        """Return the response of an object in the trash."""
        node = trashed.node
        values: dict[str, Any] = {
            "kind": node.kind.name,
            "id": node.id,
            "name": node.name,
            "project": node.project,
            "size_bytes": size_bytes,
            "deleted_at": trashed.deleted_at,
            "deleted_by": trashed.deleted_by,
            "purge_at": trashed.deleted_at + timedelta(days=trash_days),
        }
        return cls(**values)


class TrashPage(PageModel):
    """A page of the trash, the latest deletion first."""

    items: list[TrashedObject]


class RestoreRequest(RequestModel):
    """The objects to restore."""

    ids: list[Id] = Field(
        min_length=1,
        max_length=MAX_IDS,
        description="Ids of objects of any kind that are in the trash",
        examples=[["job_01k9x2z4q7c8v5n3b6r1"]],
    )


class Restored(ResponseModel):
    """Restored objects."""

    restored: dict[str, int] = Field(
        description="Number of objects by kind, including results deleted with them and jobs that they need",
        examples=[{"jobs": 1, "models": 2}],
    )
    missing: list[str] = Field(description="Ids that are not in the trash", examples=[[]])


class EmptyTrashRequest(RequestModel):
    """A selection to delete from the trash: exactly one of ids, all or an age."""

    ids: list[Id] | None = Field(
        None,
        min_length=1,
        max_length=MAX_IDS,
        description="Ids of objects in the trash",
        examples=[["job_01k9x2z4q7c8v5n3b6r1"]],
    )
    all: Literal[True] | None = Field(None, description="All objects in the trash")
    older_than_days: float | None = Field(
        None,
        ge=0,
        le=36_500,
        description="Objects that have been in the trash for at least this number of days",
    )
    dry_run: bool = Field(False, description="Whether only to list what would be freed")


class StorageKind(ResponseModel):
    """The number of objects of one kind, and their bytes."""

    kind: str = Field(examples=["models"])
    label: str = Field(description="Display name of the kind", examples=["Models"])
    objects: int = Field(description="Number of objects, without those in the trash", examples=[12])
    size_bytes: int = Field(description="Bytes of the artifacts of these objects", examples=[737_280])
    trash_objects: int = Field(examples=[1])
    trash_bytes: int = Field(examples=[61_440])
    retention_days: float | None = Field(
        description="Retention period; null if objects are kept for ever", examples=[30]
    )
    retention_objects: int = Field(
        description="Number of objects that retention would move to the trash now", examples=[3]
    )
    retention_bytes: int = Field(
        description="Bytes of the artifacts that retention would move to the trash", examples=[184_320]
    )


class Storage(ResponseModel):
    """Storage usage by kind."""

    measured_at: datetime
    total_bytes: int = Field(description="Bytes of all artifacts, the trash included", examples=[1_048_576])
    free_bytes: int | None = Field(
        description="Free space of the disk; null if artifacts are on an object storage",
        examples=[107_374_182_400],
    )
    trash_days: float = Field(
        description="Number of days for which deleted objects can be restored", examples=[7]
    )
    kinds: list[StorageKind]

    @classmethod
    def of(cls, measured: MeasuredStorage, trash_days: float) -> "Storage":
        """Return the response of a measurement."""
        kinds = [
            StorageKind.model_validate({**asdict(kind), "kind": kind.name, "label": LABELS[kind.name]})
            for kind in measured.kinds
        ]
        return cls(
            measured_at=measured.measured_at,
            total_bytes=measured.total_bytes,
            free_bytes=measured.free_bytes,
            trash_days=trash_days,
            kinds=kinds,
        )
