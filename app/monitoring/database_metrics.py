"""Prometheus metrics read from the database: the queue, ended jobs, stored objects.

Every API process exports the same values, since all read one database: aggregate by maximum, not by sum.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from core.jobs import LANES, PRIORITIES, JobKind, lane_of
from core.jobs.base import QUEUED, RUNNING
from core.store import Store, Worker
from core.store.clock import utc_now
from core.store.repositories import statistics
from core.store.repositories.job_claims import LOST

_KINDS = tuple(kind.value for kind in JobKind)


@dataclass(frozen=True)
class DatabaseSnapshot:
    """A snapshot of counts in the database."""

    at: datetime
    active: Sequence[statistics.ActiveJobCount]
    counters: Sequence[statistics.Count]
    datasets: Sequence[statistics.StoredCount]
    models: statistics.StoredCount
    workers: Sequence[Worker]

    @classmethod
    def take(cls, store: Store) -> "DatabaseSnapshot":
        """Take a snapshot of the database.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with store.read() as tx:
            return cls(
                utc_now(),
                tx.statistics.active_jobs(),
                tx.counters.all(),
                tx.statistics.datasets(),
                tx.statistics.models(),
                tx.workers.live(),
            )


class DatabaseCollector:
    """Export the latest snapshot to Prometheus.

    Args:
        latest: Returns the latest snapshot, None while the database is unavailable.
    """

    def __init__(self, latest: Callable[[], DatabaseSnapshot | None]) -> None:
        self._latest = latest

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; without a snapshot, only `rankery_database_up` with 0."""
        snapshot = self._latest()
        up = 0 if snapshot is None else 1
        yield GaugeMetricFamily("rankery_database_up", "Whether the database is reachable", value=up)
        if snapshot is not None:
            yield from _queue(snapshot)
            yield _workers(snapshot.workers)
            yield from _ended(snapshot.counters)
            yield from _training(snapshot.counters)
            yield from _caches(snapshot.counters)
            yield from _stored(snapshot)


def _queue(snapshot: DatabaseSnapshot) -> Iterator[Metric]:
    labels = ("kind", "lane", "priority")
    depth = GaugeMetricFamily("rankery_jobs_queued", "Queued jobs", labels=labels)
    age = GaugeMetricFamily(
        "rankery_oldest_queued_job_age_seconds",
        "Seconds since the submission of the oldest queued job, 0 without queued jobs",
        labels=labels,
    )
    waiting = {(row.kind, row.priority): row for row in snapshot.active if row.status == QUEUED}
    # Include kinds without queued jobs, so that alerts on them work, and kinds of a later release.
    kinds = dict.fromkeys((*_KINDS, *(row.kind for row in snapshot.active)))
    for kind, (priority, number) in product(kinds, PRIORITIES.items()):
        row = waiting.get((kind, number))
        values = [kind, lane_of(kind), priority]
        depth.add_metric(values, row.number if row else 0)
        age.add_metric(values, max(0.0, (snapshot.at - row.oldest_at).total_seconds()) if row else 0)
    yield from (depth, age)
    running = GaugeMetricFamily("rankery_jobs_running", "Running jobs", labels=("kind", "lane"))
    numbers = dict.fromkeys(kinds, 0)
    for row in snapshot.active:
        if row.status == RUNNING:
            numbers[row.kind] += row.number
    for kind, number in numbers.items():
        running.add_metric([kind, lane_of(kind)], number)
    yield running


def _workers(workers: Iterable[Worker]) -> Metric:
    live = GaugeMetricFamily("rankery_workers", "Workers that run jobs", labels=("lane",))
    lanes = [worker.lane for worker in workers if worker.compiling is None]
    # Include lanes without a worker, so that alerts on them work.
    for lane in LANES:
        live.add_metric([lane], lanes.count(lane))
    return live


def _ended(counters: Sequence[statistics.Count]) -> Iterator[Metric]:
    attempts = CounterMetricFamily(
        "rankery_job_attempts", "Attempts of jobs by ending", labels=("kind", "ending")
    )
    lost = dict.fromkeys(_KINDS, 0.0)
    for count in _counts_of(counters, statistics.JOB_ATTEMPTS):
        kind, ending = count.labels["kind"], count.labels["ending"]
        attempts.add_metric([kind, ending], count.value)
        if ending == LOST:
            lost[kind] = count.value
    yield attempts
    leases = CounterMetricFamily(
        "rankery_leases_lost", "Running jobs whose worker stopped renewing its lease", labels=("kind",)
    )
    for kind, value in lost.items():
        leases.add_metric([kind], value)
    yield leases
    yield _durations(counters)


def _durations(counters: Sequence[statistics.Count]) -> Metric:
    seconds = HistogramMetricFamily(
        "rankery_job_duration_seconds",
        "Seconds from the first start of a job to its end, by final status",
        labels=("kind", "status"),
    )
    buckets: dict[tuple[str, str], dict[str, float]] = {}
    for count in _counts_of(counters, statistics.JOB_SECONDS_BUCKET):
        key = (count.labels["kind"], count.labels["status"])
        buckets.setdefault(key, {})[count.labels["le"]] = count.value
    for count in _counts_of(counters, statistics.JOB_SECONDS):
        key = (count.labels["kind"], count.labels["status"])
        seconds.add_metric(key, _cumulative(buckets.get(key, {})), count.value)
    return seconds


def _cumulative(buckets: Mapping[str, float]) -> list[tuple[str, float]]:
    total, cumulative = 0.0, []
    for bound in sorted({*statistics.BOUNDS, *buckets}, key=float):
        total += buckets.get(bound, 0.0)
        cumulative.append((bound, total))
    return cumulative


def _training(counters: Sequence[statistics.Count]) -> Iterator[Metric]:
    yield CounterMetricFamily(
        "rankery_training_iterations",
        "Trees and epochs of all trainings; divide by rankery_training_seconds_total for their speed",
        value=_sum(counters, statistics.TRAINING_ITERATIONS),
    )
    yield CounterMetricFamily(
        "rankery_training_seconds",
        "Seconds spent in iterations of trainings, without the first of each attempt",
        value=_sum(counters, statistics.TRAINING_SECONDS),
    )


def _caches(counters: Sequence[statistics.Count]) -> Iterator[Metric]:
    for name, metric, description in (
        (statistics.CACHE_HITS, "rankery_worker_cache_hits", "Datasets that a worker found in its cache"),
        (
            statistics.CACHE_MISSES,
            "rankery_worker_cache_misses",
            "Datasets that a worker had to download or prepare",
        ),
    ):
        family = CounterMetricFamily(metric, description, labels=("cache",))
        for count in _counts_of(counters, name):
            family.add_metric([count.labels["cache"]], count.value)
        yield family


def _stored(snapshot: DatabaseSnapshot) -> Iterator[Metric]:
    number = GaugeMetricFamily("rankery_datasets", "Datasets by status", labels=("status",))
    size = GaugeMetricFamily("rankery_dataset_bytes", "Bytes of datasets as uploaded", labels=("status",))
    stored = {"ready": statistics.StoredCount("ready", 0, 0)} | {row.status: row for row in snapshot.datasets}
    for status, row in sorted(stored.items()):
        number.add_metric([status], row.number)
        size.add_metric([status], row.size_bytes)
    yield from (number, size)
    yield GaugeMetricFamily("rankery_models", "Trained models", value=snapshot.models.number)
    yield GaugeMetricFamily(
        "rankery_model_bytes", "Bytes of trained models", value=snapshot.models.size_bytes
    )


def _counts_of(counters: Iterable[statistics.Count], name: str) -> Iterator[statistics.Count]:
    return (count for count in counters if count.name == name)


def _sum(counters: Iterable[statistics.Count], name: str) -> float:
    return sum(count.value for count in _counts_of(counters, name))
