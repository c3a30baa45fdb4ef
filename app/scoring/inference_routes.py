"""Routes of the Open Inference Protocol, version 2, for clients of KServe, Triton and similar servers."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import Header, Path, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.http.bodies import JsonRequest
from app.http.problems import OUT_OF_MEMORY, kind_of
from app.http.route import DeferredRoute, Handle, Router
from app.http.services import services_of
from app.scoring.inference_schemas import (
    ANSWER_EXAMPLE,
    REQUEST_BODY,
    InferenceAnswer,
    Live,
    ModelMetadata,
    ModelReady,
    ServerMetadata,
    ServerReady,
    Tensor,
    failures,
)
from app.scoring.limits import scoring_request
from app.scoring.pipeline import answer
from app.scoring.readiness import UseReadiness
from app.scoring.services import ScoringServices, UseScoringServices, scoring_services_of
from app.scoring.tensors import BINARY_DATA, HEAD_BYTES, INPUT, OUTPUT, InferenceReader
from core.errors import InvalidInput, RankeryError
from core.types import Precision


class InferenceRoute(DeferredRoute):
    """A route with protocol errors: `{"error": "…"}`."""

    def get_route_handler(self) -> Handle:
        """Wrap FastAPI's handler to return the protocol's errors."""
        handle = super().get_route_handler()

        async def handle_protocol(request: Request) -> Response:
            bounded = scoring_request(request, services_of(request).settings)
            try:
                if "\x00" in request.scope["path"]:
                    raise HTTPException(HTTPStatus.NOT_FOUND)
                return await self.answer(bounded, handle)
            except InvalidInput as error:
                return _failure(HTTPStatus.BAD_REQUEST, str(error))
            except RequestValidationError as error:
                return _failure(HTTPStatus.BAD_REQUEST, f"{error.errors()[0]['loc'][-1]}: not valid")
            except RankeryError as error:
                kind = kind_of(error)
                if kind is None:
                    raise
                return _failure(kind.status, str(error))
            except HTTPException as error:
                return _failure(error.status_code, error.detail)
            except MemoryError:
                return _failure(HTTPStatus.SERVICE_UNAVAILABLE, OUT_OF_MEMORY)

        return handle_protocol

    async def answer(self, request: JsonRequest, handle: Handle) -> Response:
        """Return the response to a request."""
        return await handle(request)


class InferRoute(InferenceRoute):
    """A scoring route that bypasses FastAPI's dispatch, which takes as long as scoring ten documents."""

    async def answer(self, request: JsonRequest, handle: Handle) -> Response:
        """Return the response, using FastAPI only for requests that need validation."""
        if HEAD_BYTES in request.headers:
            return await handle(request)
        reference = ":".join(
            request.path_params[name] for name in ("name", "version") if name in request.path_params
        )
        return await answer(
            InferenceReader(await request.body(), None), reference, scoring_services_of(request)
        )


router = Router(prefix="/v2", tags=["inference"], route_class=InferenceRoute)
infer_router = Router(prefix="/v2", tags=["inference"], route_class=InferRoute)

_DATATYPES: Mapping[Precision, str] = MappingProxyType({"float32": "FP32", "float64": "FP64"})
_PLATFORMS: Mapping[str, str] = MappingProxyType({"trees": "rankery_forest", "sum": "rankery_sum"})

Name = Annotated[
    str,
    Path(description="A model's name, or any other reference to it", examples=["web@champion"]),
]
Version = Annotated[str, Path(description="Number of the version", examples=["3"])]


@router.get("", summary="Describe the server", responses=failures())
async def get_server(request: Request) -> ServerMetadata:
    """Return the server metadata and its extensions."""
    return ServerMetadata(name="rankery", version=request.app.version, extensions=[BINARY_DATA])


@router.get("/health/live", summary="Is the server alive", responses=failures())
async def get_live() -> Live:
    """Report that the process is alive."""
    return Live(live=True)


@router.get("/health/ready", summary="Is the server ready", responses=failures(503))
async def get_ready(readiness: UseReadiness) -> ServerReady:
    """Check that models can be scored, as `/readyz?for=scoring` does."""
    if not await readiness.can_score():
        raise HTTPException(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "a component that scoring needs does not work; see /readyz?for=scoring",
        )
    return ServerReady(ready=True)


@router.get("/models/{name}", summary="Describe a model", responses=failures(404, 503))
async def get_model_metadata(name: Name, services: UseScoringServices) -> ModelMetadata:
    """Return the input and output tensors of a model."""
    return await _metadata(services, name)


@router.get("/models/{name}/versions/{version}", summary="Describe a version", responses=failures(404, 503))
async def get_version_metadata(name: Name, version: Version, services: UseScoringServices) -> ModelMetadata:
    """Return the input and output tensors of a model version."""
    return await _metadata(services, _reference(name, version))


@router.get("/models/{name}/ready", summary="Is a model ready", responses=failures(404, 503))
async def get_model_ready(name: Name, services: UseScoringServices) -> ModelReady:
    """Load the model into memory if needed."""
    model = await services.models.get(name)
    return ModelReady(name=model.name, ready=True)


@router.get(
    "/models/{name}/versions/{version}/ready", summary="Is a version ready", responses=failures(404, 503)
)
async def get_version_ready(name: Name, version: Version, services: UseScoringServices) -> ModelReady:
    """Load the model version into memory if needed."""
    model = await services.models.get(_reference(name, version))
    return ModelReady(name=model.name, ready=True)


_INFERENCE: dict[str, Any] = {
    "response_model": InferenceAnswer,
    "responses": {200: ANSWER_EXAMPLE, **failures(400, 404, 408, 413, 503)},
    "openapi_extra": {"requestBody": REQUEST_BODY},
}
HeadBytes = Annotated[
    int | None,
    Header(
        alias=HEAD_BYTES,
        ge=0,
        description="Length of the JSON at the start of the body, if binary data follows",
    ),
]


@infer_router.post("/models/{name}/infer", summary="Score documents", **_INFERENCE)
async def infer(
    name: Name, request: Request, services: UseScoringServices, head_bytes: HeadBytes = None
) -> Response:
    """Score documents given as one tensor of all features, or as one tensor per feature."""
    return await answer(InferenceReader(await request.body(), head_bytes), name, services)


@infer_router.post(
    "/models/{name}/versions/{version}/infer", summary="Score documents by a version", **_INFERENCE
)
async def infer_by_version(
    name: Name, version: Version, request: Request, services: UseScoringServices, head_bytes: HeadBytes = None
) -> Response:
    """Score documents with one version of a model."""
    return await answer(
        InferenceReader(await request.body(), head_bytes), _reference(name, version), services
    )


async def _metadata(services: ScoringServices, reference: str) -> ModelMetadata:
    model = await services.models.get(reference)
    return ModelMetadata(
        name=model.name,
        versions=[str(model.version)],
        platform=_PLATFORMS.get(model.scorer.kind, "rankery_network"),
        inputs=[
            Tensor(
                name=INPUT, datatype=_DATATYPES[model.scorer.precision], shape=[-1, len(model.feature_names)]
            )
        ],
        outputs=[Tensor(name=OUTPUT, datatype="FP64", shape=[-1])],
    )


def _reference(name: str, version: str) -> str:
    return f"{name}:{version}"


def _failure(status: int, detail: str) -> Response:
    return JSONResponse({"error": detail}, int(status))
