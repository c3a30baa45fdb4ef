"""The composition root: settings in, application out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from fastapi import APIRouter, FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi_offline import FastAPIOffline

from app import dashboard, documentation, problems
from app.access_log import AccessLog
from app.logs import configure_logging
from app.routes import catalogue, comparisons, datasets, evaluations, health, jobs, models, rankings
from app.scoring import ForestCache
from app.services import Services
from app.settings import ApiSettings
from core.store import Store, WakeUps

_V1 = (
    datasets.router,
    jobs.router,
    models.router,
    models.scoring_router,
    evaluations.router,
    comparisons.router,
    rankings.router,
    catalogue.router,
)


def create_app(settings: ApiSettings) -> FastAPI:
    """Build the application; the store is opened and migrated when it starts, and closed when it stops."""

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        configure_logging(settings.log_level, settings.log_format)
        store = Store.open(settings)
        wake_ups = WakeUps(settings.broker_url)
        try:
            await run_in_threadpool(store.migrate)
            forests = ForestCache(store.artifacts, settings.model_cache_size)
            application.state.services = Services(settings, store, wake_ups, forests)
            yield
        finally:
            wake_ups.close()
            store.close()

    application = FastAPIOffline(
        title="Rankery",
        version=_version(),
        summary="Learning to rank over HTTP",
        description=documentation.DESCRIPTION,
        openapi_tags=[dict(tag) for tag in documentation.TAGS],
        generate_unique_id_function=documentation.operation_id,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    v1 = APIRouter(prefix="/v1")
    for router in _V1:
        v1.include_router(router)
    application.include_router(v1)
    application.include_router(health.router)
    application.include_router(dashboard.router)
    dashboard.mount_static(application)
    application.add_middleware(AccessLog)
    problems.install(application)
    documentation.install(application)
    return application


def _version() -> str:
    try:
        return version("rankery")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0"
