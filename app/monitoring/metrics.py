"""The Prometheus metrics of one application, including those read from the database."""

import platform
import time
from collections.abc import Iterator
from typing import Annotated

import structlog
from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric

from app.http.probes import Probe
from app.http.request_metrics import RequestInstruments
from app.http.services import injected
from app.monitoring.database_metrics import DatabaseCollector, DatabaseSnapshot
from app.scoring.served_models import ServedModels
from core.errors import RankeryError
from core.store import Store

# Longest age of a database snapshot that a scrape reuses.
FRESH_SECONDS = 3.0
TIMEOUT_SECONDS = 2.0
_log = structlog.stdlib.get_logger("rankery.metrics")


class Metrics:
    """The metrics of one application, in a separate registry."""

    def __init__(self, store: Store, models: ServedModels, version: str) -> None:
        # Leave out `…_created`, an unused second series of each counter.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._database = Probe(lambda: DatabaseSnapshot.take(store))
        self._snapshot: DatabaseSnapshot | None = None
        self._read_at = float("-inf")
        self.requests = RequestInstruments(self._registry)
        self._registry.register(_Process(models, version))
        self._registry.register(DatabaseCollector(lambda: self._snapshot))
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)

    async def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics as text, with their content type.

        The last snapshot of the database is reused for `FRESH_SECONDS`. `rankery_database_up` is 0 if the
        database does not answer.

        Args:
            accept: The request's `Accept` header.
        """
        if time.monotonic() - self._read_at > FRESH_SECONDS:
            self._snapshot = await self._read()
            self._read_at = time.monotonic()
        encoder, content_type = choose_encoder(accept)
        return encoder(self._registry), content_type

    async def _read(self) -> DatabaseSnapshot | None:
        try:
            return await self._database.answer(TIMEOUT_SECONDS)
        except (RankeryError, TimeoutError):
            _log.warning("metrics.database_unavailable", exc_info=True)
            return None


UseMetrics = Annotated[Metrics, injected(Metrics)]


class _Process:
    """Metrics of this process."""

    def __init__(self, models: ServedModels, version: str) -> None:
        self._models = models
        self._version = version

    def collect(self) -> Iterator[Metric]:
        build = {"version": self._version, "python": platform.python_version()}
        yield InfoMetricFamily("rankery_build", "Versions of Rankery and Python", value=build)
        usage = self._models.usage()
        yield CounterMetricFamily(
            "rankery_model_cache_hits", "Scoring requests whose model was in memory", value=usage.hits
        )
        yield CounterMetricFamily(
            "rankery_model_cache_misses",
            "Scoring requests whose model was read from the store",
            value=usage.misses,
        )
        yield GaugeMetricFamily("rankery_model_cache_models", "Models in memory", value=usage.models)
        yield GaugeMetricFamily(
            "rankery_model_cache_bytes", "Memory of the models in memory", value=usage.bytes
        )
