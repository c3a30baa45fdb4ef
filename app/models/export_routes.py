"""Export models to other engines, with a parity report that compares scores."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Body, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from app.http.admission.expensive_reads import CallersReads, UseExpensive
from app.http.admission.low_priority import LOW_PRIORITY
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import JsonRoute, Router
from app.http.services import Services, UseServices
from app.http.thread_pools import EXPORTS
from app.models import export_schemas
from app.models.exports import (
    ExportedFile,
    archive_file,
    check_archive,
    check_dataset,
    check_export,
    check_parity,
    export_file,
    model_of,
    parity_json,
)
from app.models.routes import Reference
from core.export import FORMATS
from core.export.options import OPTIONS
from core.scorers.parameters import ScorerKind
from core.store import Model, Store, StoreSettings

Exported = TypeVar("Exported")
RequestedExport = TypeVar("RequestedExport", bound=export_schemas.ExportQuery)

router = Router(prefix="/v1/models", tags=["models"], route_class=JsonRoute)
formats_router = Router(prefix="/v1", tags=["catalogue"], route_class=JsonRoute)

_EXAMPLE_OF_NAMES = {"bm25": "bm25(title)", "price": "attribute(price)"}
_EXAMPLES: Any = {
    "vespa": {
        "summary": "With the feature names of Vespa",
        "value": {"format": "vespa", "feature_names": _EXAMPLE_OF_NAMES},
    },
    "solr": {
        "summary": "For Solr's model store, without negative scores",
        "value": {"format": "solr", "target_version": "9.6", "feature_set": "web", "score_shift": True},
    },
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The model as a file in the requested format",
        "content": {
            "text/plain": {"schema": {"type": "string"}, "example": "tree\nversion=v4\n…"},
            "application/json": {"schema": {"type": "object"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "README.md with the commands, the model's files, parity.json and golden.jsonl",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_WITHOUT_DATA, _WITH_DATA = (404, 422, 501), (404, 409, 422, 501)
KindOfScorer = Annotated[ScorerKind, Query(description="Kind of the models, as in their field `kind`")]
FormatParameters = Annotated[export_schemas.ExportQuery, Query()]
FormatAndDataParameters = Annotated[export_schemas.ParityQuery, Query()]
NamesBody = Annotated[export_schemas.ExportRequest, Body(openapi_examples=_EXAMPLES)]
NamesAndDataBody = Annotated[export_schemas.ParityRequest, Body(openapi_examples=_EXAMPLES)]


@router.get(
    "/{ref}/export",
    summary="Export a model",
    response_class=Response,
    responses={**_FILE, **problems(*_WITHOUT_DATA)},
)
async def export(
    ref: Reference, services: UseServices, expensive: UseExpensive, query: FormatParameters, request: Request
) -> Response:
    """Export a model to the format of another engine.

    A model that the format or the engine's version cannot represent is refused.
    """
    if request.method == "HEAD":
        return await _without_content(check_export, services, ref, query)
    return await _file(services, expensive, ref, query)


@router.get(
    "/{ref}/export/archive",
    summary="Export a model with a parity report",
    response_class=Response,
    responses={**_ARCHIVE, **problems(*_WITH_DATA)},
)
async def export_archive(
    ref: Reference,
    services: UseServices,
    expensive: UseExpensive,
    query: FormatAndDataParameters,
    request: Request,
) -> Response:
    """Download the model file, instructions, the parity report and golden vectors."""
    if request.method == "HEAD":
        return await _without_content(check_archive, services, ref, query)
    return await _archive(services, expensive, ref, query)


@router.get(
    "/{ref}/export/parity",
    summary="Compare an export with its model",
    response_model=export_schemas.ExportParity,
    responses=etag_responses(*_WITH_DATA),
)
async def get_export_parity(
    ref: Reference,
    services: UseServices,
    expensive: UseExpensive,
    query: FormatAndDataParameters,
    request: Request,
) -> Response:
    """Compare an export with its model in the engine's arithmetic.

    The export is read back and evaluated over up to 10,000 documents. It is also evaluated over the
    neighbours of every threshold of trees, over edge cases of linear scorers and networks, or over both for
    sums.
    """
    if request.method == "HEAD":
        return await _without_content(check_parity, services, ref, query)
    return await _parity(services, expensive, ref, query)


@router.post(
    "/{ref}/export",
    summary="Export with other names",
    response_class=Response,
    responses={**_FILE, **body_problems(404, 501)},
)
async def export_named(
    ref: Reference, services: UseServices, expensive: UseExpensive, body: NamesBody
) -> Response:
    """Export a model with the feature names of the engine."""
    return await _file(services, expensive, ref, body)


@router.post(
    "/{ref}/export/archive",
    summary="Export with other names and a parity report",
    response_class=Response,
    responses={**_ARCHIVE, **body_problems(404, 409, 501)},
)
async def export_named_archive(
    ref: Reference, services: UseServices, expensive: UseExpensive, body: NamesAndDataBody
) -> Response:
    """Download an export archive with the feature names of the engine."""
    return await _archive(services, expensive, ref, body)


@router.post(
    "/{ref}/export/parity",
    summary="Compare an export with other names",
    response_model=export_schemas.ExportParity,
    responses=body_problems(404, 409, 501),
)
async def export_named_parity(
    ref: Reference, services: UseServices, expensive: UseExpensive, body: NamesAndDataBody
) -> Response:
    """Compare an export with its model, using the feature names of the engine."""
    return await _parity(services, expensive, ref, body)


@formats_router.get("/export-formats", summary="List export formats", responses=etag_responses(422))
def list_export_formats(scorer: KindOfScorer = "trees") -> export_schemas.ExportFormatCatalogue:
    """List the export formats of a kind of model, with their reader and limits."""
    return export_schemas.ExportFormatCatalogue(
        items=[
            export_schemas.ExportFormat(
                name=name,
                summary=target.summary,
                reader=target.reader,
                filename=target.filename,
                media_type=target.media_type,
                options=[option for option in OPTIONS if option in target.options],
                limits=list(target.limits),
            )
            for name, target in FORMATS[scorer].items()
        ]
    )


async def _file(
    services: Services, expensive: CallersReads, reference: str, query: export_schemas.ExportQuery
) -> Response:
    return _download(await _at_low_priority(export_file, services, expensive, reference, query))


async def _archive(
    services: Services, expensive: CallersReads, reference: str, query: export_schemas.ParityQuery
) -> Response:
    return _download(await _at_low_priority(archive_file, services, expensive, reference, query))


async def _parity(
    services: Services, expensive: CallersReads, reference: str, query: export_schemas.ParityQuery
) -> Response:
    content = await _at_low_priority(parity_json, services, expensive, reference, query)
    return Response(content, media_type="application/json")


async def _at_low_priority(
    make: Callable[[RequestedExport, Model, Store], Exported],
    services: Services,
    expensive: CallersReads,
    reference: str,
    query: RequestedExport,
) -> Exported:
    model = await run_in_threadpool(model_of, services, reference)
    settings = StoreSettings(**services.settings.model_dump(include=set(StoreSettings.model_fields)))
    key = (make.__name__, model.id, query.model_dump_json())
    return await expensive.answer(
        key, lambda: LOW_PRIORITY.run(settings, partial(make, query, model)), EXPORTS
    )


def _download(file: ExportedFile) -> Response:
    return Response(file.content, media_type=file.media_type, headers=file.headers)


async def _without_content(
    check: Callable[[RequestedExport, Model], ExportedFile],
    services: Services,
    reference: str,
    query: RequestedExport,
) -> Response:
    """Answer HEAD without the cost of an export; `ETag` and `Content-Length` are unknown without it."""

    def checked() -> ExportedFile:
        file = check(query, model_of(services, reference))
        check_dataset(query, services.store)
        return file

    file = await run_in_threadpool(checked)
    headers = {**file.headers, "Cache-Control": "no-cache"}
    return StreamingResponse(iter(()), media_type=file.media_type, headers=headers)
