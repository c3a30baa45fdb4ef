"""Models in the form that other engines read, and the proof that they say the same there."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from app.documentation import BODY_PROBLEMS, NOT_MODIFIED, problems
from app.exports import exported, model_of, proven
from app.limits.expensive import CallersReads
from app.routes.models import Reference
from app.routes.route import JsonRoute
from app.schemas.exports import ExportParity, ExportQuery, ExportRequest, ParityQuery, ParityRequest
from app.services import Services, UseExpensive, UseServices
from core.store import Model

router = APIRouter(prefix="/models", tags=["models"], route_class=JsonRoute)

_NAMES = {"bm25": "bm25(title)", "price": "attribute(price)"}
_EXAMPLES: Any = {
    "vespa": {
        "summary": "Features as Vespa computes them",
        "value": {"format": "vespa", "feature_names": _NAMES},
    },
    "solr": {
        "summary": "For Solr's model store, no score below 0",
        "value": {"format": "solr", "target_version": "9.6", "feature_set": "web", "score_shift": True},
    },
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The model in the format asked for, as a file",
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
_WITHOUT_DATA, _WITH_DATA = (404, 422), (404, 409, 422)
Asked = Annotated[ExportQuery, Query()]
AskedWithData = Annotated[ParityQuery, Query()]
Named = Annotated[ExportRequest, Body(openapi_examples=_EXAMPLES)]
NamedWithData = Annotated[ParityRequest, Body(openapi_examples=_EXAMPLES)]


@router.get(
    "/{ref}/export",
    summary="Export a model",
    response_class=Response,
    responses={**_FILE, **problems(*_WITHOUT_DATA)},
)
async def export(ref: Reference, services: UseServices, expensive: UseExpensive, asked: Asked) -> Response:
    """Download a model in the form that another engine reads.

    A model that the format, or the version of the engine, would not say the same of is refused.
    """
    return await _file(services, expensive, ref, asked)


@router.get(
    "/{ref}/export/archive",
    summary="Export a model with its proof",
    response_class=Response,
    responses={**_ARCHIVE, **problems(*_WITH_DATA)},
)
async def export_archive(
    ref: Reference, services: UseServices, expensive: UseExpensive, asked: AskedWithData
) -> Response:
    """Download the file, how to load it, the parity report, and golden vectors to replay in the engine."""
    return await _archive(services, expensive, ref, asked)


@router.get(
    "/{ref}/export/parity",
    summary="Prove an export",
    responses={**NOT_MODIFIED, **problems(*_WITH_DATA)},
)
async def get_export_parity(
    ref: Reference, services: UseServices, expensive: UseExpensive, asked: AskedWithData
) -> ExportParity:
    """Hold an export against its model, in the arithmetic of the engine.

    What was written is read back and evaluated over documents, the first queries of up to 10,000, and over
    the neighbours of every threshold.
    """
    return await _parity(services, expensive, ref, asked)


@router.post(
    "/{ref}/export",
    summary="Export under other names",
    response_class=Response,
    responses={**_FILE, **problems(404, *BODY_PROBLEMS)},
)
async def export_named(
    ref: Reference, services: UseServices, expensive: UseExpensive, body: Named
) -> Response:
    """Download a model as by GET, with its features called what the engine calls them."""
    return await _file(services, expensive, ref, body)


@router.post(
    "/{ref}/export/archive",
    summary="Export under other names, with proof",
    response_class=Response,
    responses={**_ARCHIVE, **problems(404, 409, *BODY_PROBLEMS)},
)
async def export_named_archive(
    ref: Reference, services: UseServices, expensive: UseExpensive, body: NamedWithData
) -> Response:
    """Download an archive as by GET, with the features called what the engine calls them."""
    return await _archive(services, expensive, ref, body)


@router.post(
    "/{ref}/export/parity",
    summary="Prove an export under other names",
    responses=problems(404, 409, *BODY_PROBLEMS),
)
async def export_named_parity(
    ref: Reference, services: UseServices, expensive: UseExpensive, body: NamedWithData
) -> ExportParity:
    """Hold an export against its model as by GET, with the features called what the engine calls them."""
    return await _parity(services, expensive, ref, body)


async def _file(services: Services, expensive: CallersReads, reference: str, asked: ExportQuery) -> Response:
    model = await run_in_threadpool(model_of, services, reference)
    made = await expensive.answer(_question("file", model, asked), lambda: exported(services, model, asked))
    filename = f"{model.name}-{model.version}-{made.target.filename}"
    return _download(made.content, made.target.media_type, filename)


async def _archive(
    services: Services, expensive: CallersReads, reference: str, asked: ParityQuery
) -> Response:
    model = await run_in_threadpool(model_of, services, reference)
    packed = await expensive.answer(
        _question("archive", model, asked), lambda: proven(services, model, asked).packed()
    )
    return _download(packed, "application/zip", f"{model.name}-{model.version}-{asked.format}.zip")


async def _parity(
    services: Services, expensive: CallersReads, reference: str, asked: ParityQuery
) -> ExportParity:
    model = await run_in_threadpool(model_of, services, reference)
    return await expensive.answer(
        _question("parity", model, asked),
        lambda: ExportParity.model_validate(proven(services, model, asked).view()),
    )


def _question(kind: str, model: Model, asked: ExportQuery) -> tuple[str, str, str]:
    return kind, model.id, asked.model_dump_json()


def _download(content: bytes, media_type: str, filename: str) -> Response:
    disposition = f'attachment; filename="{filename}"'
    return Response(content, media_type=media_type, headers={"Content-Disposition": disposition})
