"""Health, Prometheus metrics and the overview."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from app.http.labels import ProjectFilter
from app.http.openapi import Responses, etag_responses, problems
from app.http.problems import MEDIA_TYPE, not_ready
from app.http.route import JsonRoute, PolledRoute, Router
from app.http.schemas import Limit, ResponseModel, SearchText
from app.http.services import UseServices
from app.monitoring import schemas
from app.monitoring.metrics import UseMetrics
from app.scoring.readiness import Purpose, ReadinessResult, UseReadiness
from core.jobs import JobStatus, Lane, lane_of
from core.store import MODEL_NAME
from core.store.visibility import narrowed_to

MAX_TREND_VERSIONS = 20

health_router = Router(tags=["health"])


class Health(ResponseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class Ready(ResponseModel):
    """Every needed part of the service works."""

    status: Literal["ready"] = "ready"
    checks: dict[str, str] = Field(
        description="`ok` or the fault of each component; for scoring with models in memory, the database and"
        " the storage may have a fault; without a purpose, the workers may be absent",
        examples=[{"database": "ok", "storage": "ok", "broker": "ok", "workers": "ok", "kernels": "ok"}],
    )
    damaged_artifacts: list[str] = Field(
        default=[],
        description="Keys of damaged artifacts, the latest first; they are not used, but do not affect the"
        " readiness",
        examples=[[]],
    )


_READY_EXAMPLES: Mapping[str, dict[str, Any]] = {
    "everything": {
        "summary": "Everything works",
        "value": {
            "status": "ready",
            "checks": {"database": "ok", "storage": "ok", "broker": "ok", "workers": "ok", "kernels": "ok"},
            "damaged_artifacts": [],
        },
    },
    "scoring": {
        "summary": "for=scoring, while models in memory are scored without a database",
        "value": {
            "status": "ready",
            "checks": {"database": "refuses connections", "storage": "ok", "kernels": "ok"},
            "damaged_artifacts": [],
        },
    },
}
_NOT_READY_EXAMPLES: Mapping[str, dict[str, Any]] = {
    name: {
        "summary": summary,
        "value": {
            "type": "/problems/not-ready",
            "title": "The service is not ready",
            "status": 503,
            "detail": detail,
        },
    }
    for name, summary, detail in (
        ("compiling", "The first start on a machine", "the workers are compiling kernels: 12 of 20 parts"),
        ("broker", "A component is not available", "the broker refuses connections"),
        ("workers", "No workers", "the workers are missing for the lanes training and quick"),
    )
}


def _readiness_responses() -> Responses:
    documented = problems(HTTPStatus.UNPROCESSABLE_ENTITY)
    unavailable = documented[HTTPStatus.SERVICE_UNAVAILABLE]["content"][MEDIA_TYPE]
    del unavailable["example"]
    unavailable["examples"] = _NOT_READY_EXAMPLES
    return {200: {"content": {"application/json": {"examples": _READY_EXAMPLES}}}, **documented}


# Both health checks run on the event loop: all request threads may be waiting for a part that hangs.
@health_router.get("/healthz", summary="Is the process alive")
async def healthz() -> Health:
    """Report that the process is alive."""
    return Health()


@health_router.get(
    "/readyz", summary="Is the service ready", response_model=Ready, responses=_readiness_responses()
)
async def readyz(
    readiness: UseReadiness,
    purpose: Annotated[
        Purpose | None,
        Query(
            alias="for",
            description="`scoring`: models can be scored, regardless of the broker and the workers; `jobs`:"
            " jobs are accepted and run. By default all components are checked, but workers may be absent",
        ),
    ] = None,
) -> Response:
    """Check all needed parts concurrently, with a timeout of two seconds.

    Scoring needs compiled kernels, and either models in memory or a readable database and storage. Jobs need
    a writable database, storage, broker, and workers of every lane.
    """
    return readiness_response(await readiness.check(purpose))


def readiness_response(result: ReadinessResult) -> Response:
    """Return 200 if all needed parts work, else a 503 problem that names the faulty parts."""
    if down := result.down:
        damaged = [f"damaged artifacts: {', '.join(result.damaged)}"] if result.damaged else []
        return not_ready([*down, *damaged])
    checks = {name: fault or "ok" for name, fault in result.faults.items()}
    return JSONResponse(Ready(checks=checks, damaged_artifacts=list(result.damaged)).model_dump())


metrics_router = Router(include_in_schema=False)


@metrics_router.get("/metrics")
async def metrics(request: Request, metrics: UseMetrics) -> Response:
    """Return the Prometheus metrics, as text or OpenMetrics."""
    content, content_type = await metrics.exposition(request.headers.get("accept", ""))
    return Response(content, headers={"content-type": content_type, "cache-control": "no-store"})


overview_router = Router(prefix="/v1", tags=["overview"], route_class=JsonRoute)
polled_overview_router = Router(prefix="/v1", tags=["overview"], route_class=PolledRoute)


@overview_router.get("/workers", summary="List workers", responses=etag_responses())
def list_workers(services: UseServices) -> schemas.WorkerList:
    """List live workers with their running jobs."""
    with services.store.read() as tx:
        workers, running = tx.workers.live(), tx.jobs.running_on("")
    return schemas.WorkerList(items=[schemas.WorkerAtWork.of(worker, running) for worker in workers])


@polled_overview_router.get("/counts", summary="Count objects", responses=etag_responses(422))
def get_counts(services: UseServices, project: ProjectFilter = None) -> schemas.Counts:
    """Count jobs by status, and datasets, models and results."""
    with narrowed_to(project), services.store.read() as tx:
        waiting = dict.fromkeys(Lane, 0)
        for group in tx.statistics.active_jobs():
            if group.status == JobStatus.QUEUED:
                waiting[lane_of(group.kind)] += group.number
        jobs = tx.statistics.jobs()
        return schemas.Counts(
            jobs=jobs,
            waiting=waiting,
            refused_promotions=jobs[JobStatus.REFUSED],
            **tx.statistics.object_counts(),
        )


@polled_overview_router.get("/aliases", summary="List the targets of an alias", responses=etag_responses(422))
def list_aliased_models(
    services: UseServices,
    alias: Annotated[str, Query(pattern=MODEL_NAME, description="The alias", examples=["champion"])],
    project: ProjectFilter = None,
    limit: Limit = 50,
) -> schemas.AliasedModels:
    """List the targets of an alias across model names, last moved first, with metrics."""
    with narrowed_to(project), services.store.read() as tx:
        rows, gated = tx.aliases.across_names(alias, limit), tx.aliases.gated_names(alias)
        tested = [tx.models.with_metrics(row.name, MAX_TREND_VERSIONS) for row in rows]
    items = [
        schemas.AliasedModel.among(row, row.name in gated, models)
        for row, models in zip(rows, tested, strict=True)
    ]
    return schemas.AliasedModels(items=items)


@overview_router.get("/search", summary="Search everything", responses=etag_responses(422))
def search_everything(
    services: UseServices,
    text: Annotated[
        SearchText,
        Query(
            description="Beginning of an id, part of a name, or reference of a model",
            examples=["web"],
        ),
    ],
    project: ProjectFilter = None,
    limit: Annotated[int, Query(ge=1, le=50, description="Items of each kind")] = 5,
) -> schemas.SearchHits:
    """Find objects by the beginning of their id or a part of their name, the newest of each kind first."""
    with narrowed_to(project), services.store.read() as tx:
        return schemas.SearchHits(
            items=[schemas.SearchHit.model_validate(hit) for hit in tx.search.find(text, limit)]
        )
