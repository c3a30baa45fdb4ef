"""Download datasets as Parquet or LETOR text."""

import functools
import hashlib
from typing import Annotated, Any, BinaryIO, Literal

from fastapi import Query, Request
from starlette.responses import Response

from app.datasets.browsing import DatasetFiles
from app.http.admission.expensive_reads import Download
from app.http.openapi import etag_responses
from app.http.ranges import RANGE_PARAMETERS, RangedFile, select
from app.http.route import JsonRoute, Router
from app.http.services import UseServices
from core.data.letor_writer import letor_blocks
from core.data.named_parquet import NamedFile, named_file, named_parquet
from core.store import Store

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

PARQUET = "application/vnd.apache.parquet"
_LETOR = "text/plain; charset=utf-8"
_CACHED_FOOTERS = 8
_CONTENT: dict[str, Any] = {
    PARQUET: {"schema": {"type": "string", "format": "binary"}},
    "text/plain": {"schema": {"type": "string"}, "example": "2 qid:1 1:0.5 2:3.0 #docid = d1\n"},
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The whole dataset as a file", "content": _CONTENT},
    206: {"description": "The requested range", "content": {PARQUET: _CONTENT[PARQUET]}},
}
Format = Annotated[
    Literal["parquet", "letor"],
    Query(
        description="`parquet` includes everything; `letor` omits feature names, weights, categories and"
        " titles"
    ),
]


@router.get(
    "/{dataset_id}/download",
    summary="Download a dataset",
    response_class=Response,
    responses={**_RESPONSES, **etag_responses(404, 409, 416, 422)},
    openapi_extra={"parameters": RANGE_PARAMETERS},
)
def download_dataset(
    dataset_id: str, request: Request, services: UseServices, format: Format = "parquet"
) -> Response:
    """Download all stored columns of the documents, one row each.

    Parquet has named columns and categories as texts; uploading it again creates the same dataset. Parquet
    without categories supports range requests, with a strong `ETag`. Other downloads have no known length and
    cannot be resumed.
    """
    store = services.store
    files = DatasetFiles(store, dataset_id)
    file = files.open()
    try:
        if format == "parquet":
            ranged = _ranged_file(store, files.data_key, file)
            if ranged is not None:
                selected = select(request, ranged)
                return Download(
                    ranged.blocks(selected.start, selected.stop),
                    file,
                    PARQUET,
                    f"{dataset_id}.parquet",
                    status=selected.status,
                    headers=selected.headers,
                )
        media_type = PARQUET if format == "parquet" else _LETOR
        blocks = named_parquet(file) if format == "parquet" else letor_blocks(file)
        headers = {"Accept-Ranges": "none"}
        return Download(blocks, file, media_type, f"{dataset_id}.{format}", headers=headers)
    except BaseException:
        file.close()
        raise


def _ranged_file(store: Store, data_key: str, file: BinaryIO) -> RangedFile | None:
    """Return the Parquet file of a dataset for range requests, None for a dataset with categories."""
    named = _named_file(store, data_key)
    if named is None:
        return None
    # The stored bytes before the footer never change, and the footer describes them.
    digest = hashlib.sha256(data_key.encode() + b"\n" + named.footer).hexdigest()[:32]
    return RangedFile(named.size_bytes, f'"{digest}"', lambda start, stop: named.blocks(file, start, stop))


@functools.lru_cache(_CACHED_FOOTERS)
def _named_file(store: Store, data_key: str) -> NamedFile | None:
    with store.artifacts.open(data_key) as file:
        return named_file(file)
