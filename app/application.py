"""Build the FastAPI application from its settings."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, MutableMapping
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi_offline import FastAPIOffline

from app import dashboard
from app.auth import routes as auth
from app.auth.audit import AuditMiddleware
from app.auth.authenticator import Authenticator, require_key_beyond_loopback
from app.auth.key_cache import ApiKeyCache
from app.auth.middleware import AuthMiddleware
from app.auth.openapi import describe_access
from app.auth.rate_limit import RateLimit, is_scoring
from app.clicks import routes as click_logs
from app.clicks import served as served_click_logs
from app.clicks import sources as click_log_sources
from app.clicks import uploads as click_log_uploads
from app.datasets import (
    download,
    folder_routes,
    read_again,
    sources,
    synthetic,
)
from app.datasets import routes as datasets
from app.datasets import uploads as dataset_uploads
from app.drift import routes as drift
from app.evaluation import catalogue_routes, ranking_routes
from app.evaluation import routes as evaluation
from app.events import routes as events
from app.events.feed import EventFeed
from app.experiments import routes as experiments
from app.guide import mount_guide
from app.http import idempotency, openapi, problems
from app.http.access_log import AccessLog, configure_logging
from app.http.admission.body_timeout import BodyTimeout
from app.http.admission.expensive_reads import ExpensiveReads
from app.http.admission.limits import WRITE_LOCK_SECONDS, AdmissionLimiter
from app.http.caching import Preconditions, ResponseCache
from app.http.compression import Compression
from app.http.headers import HeaderLimits, SecurityHeaders
from app.http.request_metrics import RequestMetrics
from app.http.root_path import RootPath
from app.http.services import Services, register
from app.interleavings import list_routes as interleaved_lists
from app.interleavings import routes as interleavings
from app.jobs import request_schemas
from app.jobs import routes as jobs
from app.labels import routes as labels
from app.lifecycle import routes as lifecycle
from app.lifecycle import trash_routes
from app.lifecycle.caches import ModelReferences, StorageMeasurements
from app.models import alias_routes, export_routes, inspection_routes, unknown_names
from app.models import routes as models
from app.models.model_cache import ModelCache
from app.monitoring import project_routes, settings_routes
from app.monitoring import routes as monitoring
from app.monitoring.metrics import Metrics
from app.schedules import routes as schedules
from app.scoring import inference_routes as inference
from app.scoring import routes as scoring
from app.scoring.interleaved import InterleavedLists, InterleavingCache
from app.scoring.kernels import ScoringKernels
from app.scoring.readiness import Readiness
from app.scoring.sample_writer import SampleWriter
from app.scoring.samples import SampleLog
from app.scoring.served_models import ServedModels
from app.scoring.services import Explanations, ScoringServices
from app.served import routes as served_rankings
from app.served.rankings import RankingLog, UserHashes
from app.served.writer import ListWriter
from app.settings import ApiSettings
from app.studies import routes as studies
from app.uploads import routes as uploads
from app.uploads.protocol import TusProtocol
from app.webhooks import routes as webhooks
from app.webhooks.delivery import Deliverer
from app.webhooks.secrets import SecretCipher, reencrypt_secrets
from core.store import Store, WakeUps
from core.store.lifecycle.retention import RetentionPolicy
from core.telemetry import start_tracing

# Paths are matched in this order: the most frequent ones come first.
_ROUTERS = (
    scoring.router,
    inference.infer_router,
    inference.router,
    interleaved_lists.router,
    interleavings.router,
    served_rankings.router,
    sources.router,
    dataset_uploads.router,
    synthetic.router,
    folder_routes.router,
    datasets.router,
    read_again.router,
    download.router,
    served_click_logs.router,
    click_log_sources.router,
    click_log_uploads.router,
    click_logs.router,
    uploads.router,
    jobs.router,
    jobs.polled_router,
    studies.router,
    studies.polled_router,
    schedules.router,
    schedules.polled_router,
    drift.router,
    models.router,
    models.names_router,
    models.jobs_router,
    alias_routes.router,
    alias_routes.gates_router,
    export_routes.router,
    evaluation.router,
    evaluation.comparisons_router,
    evaluation.trainings_router,
    inspection_routes.router,
    ranking_routes.router,
    experiments.papers_router,
    experiments.router,
    experiments.polled_router,
    labels.router,
    lifecycle.router,
    trash_routes.router,
    events.router,
    webhooks.router,
    monitoring.overview_router,
    monitoring.polled_overview_router,
    project_routes.router,
    settings_routes.router,
    catalogue_routes.router,
    request_schemas.router,
    export_routes.formats_router,
    auth.keys_router,
    auth.audit_router,
    monitoring.health_router,
    monitoring.metrics_router,
    dashboard.router,
    dashboard.sign_in_router,
)


def create_app(settings: ApiSettings) -> FastAPI:
    """Build the application, which opens and migrates the store on startup and closes it on shutdown.

    Raises:
        ExtraMissing: A setting needs a package that is not installed.
    """
    cipher = SecretCipher(settings.encryption_keys)

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        configure_logging(settings.log_level, settings.log_format)
        stop_tracing = start_tracing("rankery-api")
        store = Store.open(settings, lock_seconds=WRITE_LOCK_SECONDS)
        wake_ups = WakeUps(settings.broker_url)
        samples = SampleLog(
            settings.data_dir / "scored" / f"{settings.port}.jsonl",
            settings.score_log_share,
            settings.score_log_bytes,
            SampleWriter(store, settings.score_log_bytes, settings.score_log_seconds),
        )
        kernels = ScoringKernels(compile_ahead=settings.compile_ahead)
        lists = ListWriter(store)
        references = ModelReferences()
        served = ServedModels(store, settings.model_cache_bytes, kernels, references)
        try:
            await run_in_threadpool(store.migrate)
            await run_in_threadpool(reencrypt_secrets, store, cipher)
            await run_in_threadpool(wake_ups.warm_up)
            await run_in_threadpool(kernels.start)
            users = UserHashes(await run_in_threadpool(_key_of_user_hashes, store))
            lists.start()
            model_cache = ModelCache(store)
            authenticator = Authenticator(ApiKeyCache(store), settings.wrong_keys_per_minute)
            await require_key_beyond_loopback(settings.host, authenticator)
            metrics = Metrics(store, served, _version())
            feed = EventFeed(store, settings.max_connections // 2, settings.max_connections_per_address // 2)
            deliverer = Deliverer(store, feed, cipher, settings, _version())
            register(
                application,
                Services(settings, store, wake_ups),
                ResponseCache(),
                ExpensiveReads(settings.expensive_reads_per_caller),
                metrics.requests,
                authenticator,
                feed,
                cipher,
                deliverer,
                references,
                StorageMeasurements(store, RetentionPolicy.of(settings)),
                model_cache,
                lists,
                ScoringServices(
                    settings,
                    served,
                    Explanations(model_cache),
                    samples,
                    RankingLog(lists, users, settings.ranking_log_share),
                    InterleavingCache(store),
                    InterleavedLists(store, lists, users),
                ),
                Readiness(store, wake_ups, kernels, served),
                metrics,
            )
            async with _running(feed.run(), deliverer.run()):
                yield
        finally:
            await run_in_threadpool(kernels.close)
            await served.close()
            samples.close()
            await run_in_threadpool(lists.close)
            wake_ups.close()
            store.close()
            await run_in_threadpool(stop_tracing)

    application = FastAPIOffline(
        docs_url=None,  # the dashboard serves this page: FastAPI's has an inline script
        redoc_url=None,  # ReDoc loads an image from another host
        title="Rankery",
        version=_version(),
        summary="Learning to rank over HTTP",
        description=openapi.DESCRIPTION,
        openapi_tags=[dict(tag) for tag in openapi.TAGS],
        redirect_slashes=False,
        lifespan=lifespan,
        telemetry={
            "metrics": False,  # Prometheus scrapes `/metrics` instead
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,  # `start_tracing` configures tracing, for workers, too
            "exclude": _is_untraced,
        },
    )
    for router in _ROUTERS:
        application.router.routes.extend(router.routes)
    application.state.trash_days = settings.trash_days
    dashboard.mount_static(application)
    mount_guide(application)
    # The middleware added last is the first to handle a request.
    application.add_middleware(Preconditions)
    application.add_middleware(Compression)
    application.add_middleware(BodyTimeout, settings=settings)
    application.add_middleware(RateLimit, settings=settings)
    application.add_middleware(AuthMiddleware, settings=settings)
    application.add_middleware(AuditMiddleware)
    application.add_middleware(HeaderLimits)
    application.add_middleware(dashboard.NotFoundPages)
    application.add_middleware(AccessLog)
    application.add_middleware(TusProtocol)
    application.add_middleware(SecurityHeaders)
    application.add_middleware(AdmissionLimiter, is_exempt=is_scoring)
    application.add_middleware(RequestMetrics)
    application.add_middleware(RootPath, root_path=settings.root_path)
    problems.install(application)
    unknown_names.install(application)
    idempotency.install(application)
    openapi.install(application, describe_access, settings.root_path)
    return application


def _key_of_user_hashes(store: Store) -> bytes:
    with store.begin() as tx:
        tx.notifies_clients = False  # no page shows the key
        return tx.served.hash_key()


def _is_untraced(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request is excluded from tracing: pages, static files, health and metrics."""
    return not scope["path"].startswith(("/v1/", "/v2/"))


@cache
def _version() -> str:
    try:
        return version("rankery")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0"


@asynccontextmanager
async def _running(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run coroutines as tasks during the block, then cancel them and wait for their end."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
