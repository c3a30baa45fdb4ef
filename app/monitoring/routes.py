"""Health, Prometheus metrics and the overview."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from app.http.openapi import NOT_MODIFIED, problems
from app.http.probes import TIMEOUT_SECONDS, Probe
from app.http.problems import not_ready
from app.http.route import JsonRoute, PolledRoute, Router
from app.http.schemas import Limit, ResponseModel
from app.monitoring.schemas import AliasedModel, AliasedModels, Counts, WorkerAtWork, WorkerList
from app.services import UseServices
from core.errors import StoreUnavailable
from core.store import MODEL_NAME

health_router = Router(tags=["health"])


class Health(ResponseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class Readiness(ResponseModel):
    """Every part of the service works."""

    status: Literal["ready"] = "ready"
    checks: dict[str, Literal["ok"]] = Field(examples=[{"database": "ok", "storage": "ok", "broker": "ok"}])
    damaged_artifacts: list[str] = Field(
        default=[],
        description="Keys of stored bytes that were found damaged, the latest first; not used, while the"
        " rest of the service works",
        examples=[[]],
    )


# Both run on the event loop, because all threads that serve requests may be waiting for a part that hangs.
@health_router.get("/healthz", summary="Is the process alive")
async def healthz() -> Health:
    """Report that the process is alive."""
    return Health()


@health_router.get("/readyz", summary="Is the service ready", response_model=Readiness, responses=problems())
async def readyz(services: UseServices) -> Response:
    """Ask the database, the artifact storage and the broker, all at once and for two seconds at most."""
    faults, damaged = await asyncio.gather(services.faults(), _damaged(services.damage))
    return readiness(faults, damaged)


def readiness(faults: Mapping[str, str | None], damaged: Sequence[str] = ()) -> Response:
    """Answer 200 when nothing is wrong with any part, else the problem that names those which are down.

    Args:
        faults: What is wrong with each part, None for nothing.
        damaged: Keys of damaged artifacts, which keep no part from working.
    """
    down = [f"the {name} {fault}" for name, fault in faults.items() if fault is not None]
    if down:
        return not_ready([*down, f"damaged artifacts: {', '.join(damaged)}"] if damaged else down)
    ready = Readiness(checks=dict.fromkeys(faults, "ok"), damaged_artifacts=list(damaged))
    return JSONResponse(ready.model_dump())


async def _damaged(probe: Probe[list[str]]) -> list[str]:
    try:
        return await probe.answer(TIMEOUT_SECONDS)
    except (TimeoutError, StoreUnavailable):
        return []  # the check of the database says why


metrics_router = Router(include_in_schema=False)


@metrics_router.get("/metrics")
async def metrics(request: Request, services: UseServices) -> Response:
    """Return the Prometheus metrics, as text or OpenMetrics."""
    content, content_type = await services.metrics.exposition(request.headers.get("accept", ""))
    return Response(content, headers={"content-type": content_type, "cache-control": "no-store"})


overview_router = Router(prefix="/v1", tags=["overview"], route_class=JsonRoute)
polled_overview_router = Router(prefix="/v1", tags=["overview"], route_class=PolledRoute)


@overview_router.get("/workers", summary="List workers", responses={**NOT_MODIFIED, **problems()})
def list_workers(services: UseServices) -> WorkerList:
    """List live workers with their start time and running jobs."""
    with services.store.read() as tx:
        workers, running = tx.workers.present(), tx.jobs.running_on("")
    return WorkerList(items=[WorkerAtWork.of(worker, running) for worker in workers])


@polled_overview_router.get("/counts", summary="Count everything", responses={**NOT_MODIFIED, **problems()})
def get_counts(services: UseServices) -> Counts:
    """Count jobs by status, and datasets, models and results."""
    with services.store.read() as tx:
        return Counts(jobs=tx.figures.jobs(), **tx.figures.kept())


@polled_overview_router.get(
    "/aliases", summary="List what an alias means", responses={**NOT_MODIFIED, **problems(422)}
)
def list_aliased_models(
    services: UseServices,
    alias: Annotated[str, Query(pattern=MODEL_NAME, description="The alias", examples=["champion"])],
    limit: Limit = 50,
) -> AliasedModels:
    """List the targets of an alias across model names, last moved first, with metrics."""
    with services.store.read() as tx:
        rows, gated = tx.aliases.everywhere(alias, limit), tx.gates.names_of(alias)
    return AliasedModels(items=[AliasedModel.of(row, row.name in gated) for row in rows])
