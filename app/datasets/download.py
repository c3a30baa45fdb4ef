"""Download datasets as Parquet or LETOR text."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.responses import Response

from app.datasets.browsing import DatasetFiles
from app.http.expensive_reads import Download
from app.http.openapi import problems
from app.http.route import JsonRoute, Router
from app.services import UseServices
from core.data.letor_writer import letor_blocks
from core.data.named_parquet import named_parquet

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

_PARQUET = "application/vnd.apache.parquet"
_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The whole dataset as a file",
        "content": {
            _PARQUET: {"schema": {"type": "string", "format": "binary"}},
            "text/plain": {"schema": {"type": "string"}, "example": "2 qid:1 1:0.5 2:3.0 #docid = d1\n"},
        },
    }
}


@router.get(
    "/{dataset_id}/download",
    summary="Download a dataset",
    response_class=Response,
    responses={**_RESPONSE, **problems(404, 409, 422)},
)
def download_dataset(
    dataset_id: str,
    services: UseServices,
    format: Annotated[
        Literal["parquet", "letor"],
        Query(description="`parquet` holds everything; `letor` no names, weights, categories and titles"),
    ] = "parquet",
) -> Response:
    """Download labels, features and all else that is stored of the documents, a row each.

    Columns of the Parquet file have their names, and categories are texts. An upload of the file is the same
    dataset again.
    """
    file = DatasetFiles(services.store, dataset_id).opened()
    blocks: Iterator[bytes]
    try:
        blocks = named_parquet(file) if format == "parquet" else letor_blocks(file)
    except BaseException:
        file.close()
        raise
    if format == "parquet":
        return Download(blocks, file, _PARQUET, f"{dataset_id}.parquet")
    return Download(blocks, file, "text/plain; charset=utf-8", f"{dataset_id}.letor")
