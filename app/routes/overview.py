"""The service at a glance."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.documentation import NOT_MODIFIED, problems
from app.routes.route import JsonRoute, PolledRoute
from app.schemas.base import Limit
from app.schemas.overview import AliasedModel, AliasedModels, Counts, WorkerAtWork, WorkerList
from app.services import UseServices
from core.store import MODEL_NAME

router = APIRouter(tags=["overview"], route_class=JsonRoute)
polled_router = APIRouter(tags=["overview"], route_class=PolledRoute)


@router.get("/workers", summary="List workers", responses={**NOT_MODIFIED, **problems()})
def list_workers(services: UseServices) -> WorkerList:
    """List the workers that were heard of lately, since when they run, and what they are at."""
    with services.store.read() as tx:
        workers, running = tx.workers.present(), tx.jobs.running_on("")
    return WorkerList(items=[WorkerAtWork.of(worker, running) for worker in workers])


@polled_router.get("/counts", summary="Count everything", responses={**NOT_MODIFIED, **problems()})
def get_counts(services: UseServices) -> Counts:
    """Tell how many jobs there are in each status, and how many datasets, models and results."""
    with services.store.read() as tx:
        return Counts(jobs=tx.figures.jobs(), **tx.figures.kept())


@polled_router.get(
    "/aliases", summary="List what an alias means", responses={**NOT_MODIFIED, **problems(422)}
)
def list_aliased_models(
    services: UseServices,
    alias: Annotated[str, Query(pattern=MODEL_NAME, description="The alias", examples=["champion"])],
    limit: Limit = 50,
) -> AliasedModels:
    """List where an alias points for each name that has it, the latest moved first, with its metrics."""
    with services.store.read() as tx:
        rows = tx.aliases.everywhere(alias, limit)
    return AliasedModels(items=[AliasedModel.of(row) for row in rows])
