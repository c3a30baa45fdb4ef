"""Routes to show folders and to create datasets from them."""

from typing import Annotated, Any

from fastapi import Body, Query
from pydantic import Field
from starlette.responses import Response

from app.datasets.folders import FolderDatasetRequest, requested_datasets
from app.datasets.ingestion import accepted_dataset, queue_ingestion
from app.datasets.schemas import Dataset
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.openapi import body_problems, etag_responses
from app.http.route import ACCEPTED, JsonRoute, Router
from app.http.schemas import ResponseModel
from app.http.services import UseServices
from core.data.folders import MAX_FOLDER_LENGTH, DataRoots

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

_FOLDER_EXAMPLES: Any = {
    "fold": {"summary": "All parts of a fold", "value": {"folder": "MSLR-WEB30K/Fold1"}},
    "part": {
        "summary": "One part of Yahoo's first set",
        "value": {"folder": "Yahoo/set1", "part": "train", "name": "yahoo 1"},
    },
    "files": {
        "summary": "Several files as one dataset",
        "value": {
            "folder": "clicks/2026-05",
            "files": "part-*.parquet",
            "columns": {"label": "clicked", "query": "search"},
        },
    },
    "bucket": {
        "summary": "Objects of a bucket as one dataset",
        "value": {"folder": "s3://clicks/2026-05", "files": "part-*.parquet", "name": "clicks of May"},
    },
}


class FolderPart(ResponseModel):
    """A file of a folder that is the training, validation or test part."""

    file: str = Field(description="Name of the file", examples=["train.txt"])
    size_bytes: int = Field(description="Size of the file in bytes", examples=[3_611_842_816])


class DataFolder(ResponseModel):
    """A folder below `RANKERY_DATA_ROOTS`."""

    folder: str = Field(description="Path of the folder below a data root", examples=["MSLR-WEB30K/Fold1"])
    parts: dict[str, FolderPart] = Field(
        description="Judged files by part, `train`, `validation` or `test`, recognised by their names"
    )
    folders: list[str] = Field(description="Names of the subfolders", examples=[["Fold1", "Fold2"]])


@router.get("/folders", summary="Show a folder", responses=etag_responses(422))
def get_folder(
    services: UseServices,
    folder: Annotated[
        str,
        Query(
            max_length=MAX_FOLDER_LENGTH,
            description="Path of the folder below a data root; `.` is the root itself",
        ),
    ] = ".",
) -> DataFolder:
    """Show which training, validation and test files a folder below `RANKERY_DATA_ROOTS` has.

    The files are recognised by their names in MSLR-WEB10K and 30K, Yahoo, Istella, LETOR 3.0 and 4.0.
    """
    judged = DataRoots(services.settings.data_roots).recognise(folder)
    parts = {
        part: FolderPart(file=name, size_bytes=judged.sizes[part]) for part, name in judged.parts.items()
    }
    return DataFolder(folder=judged.folder, parts=parts, folders=list(judged.folders))


@router.post(
    "/folders",
    summary="Read a folder",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=body_problems(409),
)
def create_folder_datasets(
    body: Annotated[FolderDatasetRequest, Body(openapi_examples=_FOLDER_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Create datasets from the training, validation and test files of a folder, read in place by a worker.

    The folder is below `RANKERY_DATA_ROOTS`, on disk or in a bucket. The response is the dataset of the first
    part; `parts` names all. With `files`, all matching files become one dataset.
    """
    settings = services.settings
    with services.store.read() as tx:
        idempotency.replay(tx)
    requested = requested_datasets(settings, body)  # outside a transaction, as listing a bucket is slow
    with idempotency.begin(services.store) as tx:
        requested.allow(tx, settings, caller.key_id)
        datasets = requested.add(tx, caller.key_id)
        jobs = [queue_ingestion(tx, dataset, caller.key_id) for dataset in datasets]
        created = idempotency.keep(tx, accepted_dataset(datasets[0]))
    services.wake_workers(*jobs)
    return created
