"""Prometheus metrics read from the database."""

import asyncio
import platform
import time
from collections.abc import Callable

import pytest

from app.lifecycle.caches import ModelReferences
from app.monitoring import metrics
from app.scoring.kernels import ScoringKernels
from app.scoring.served_models import ServedModels
from core.store import Model, Store, StoreSettings
from core.store.repositories.statistics import (
    CACHE_HITS,
    CACHE_MISSES,
    TRAINING_ITERATIONS,
    TRAINING_SECONDS,
    count_attempt,
    count_job,
)
from tests.app.conftest import TestClient, wait_for_probes
from tests.app.monitoring.conftest import Samples, sample_key, samples
from tests.servers import PostgresServer, TcpProxy
from tests.servers.fixtures import StoreArguments

Scrape = Callable[[], Samples]
PATIENCE_SECONDS = 20.0


def test_metrics_have_the_depth_and_age_of_each_queue(store: Store, scrape: Scrape) -> None:
    """The metrics have depth and age of the queue; kinds without waiting jobs are 0."""
    with store.begin() as tx:
        for _ in range(3):
            tx.jobs.add("train", {})
    time.sleep(0.05)
    values = scrape()
    train = {"kind": "train", "lane": "training", "priority": "normal"}
    rank = {"kind": "rank", "lane": "quick", "priority": "high"}
    assert values[sample_key("rankery_jobs_queued", **train)] == 3
    assert 0.05 <= values[sample_key("rankery_oldest_queued_job_age_seconds", **train)] < 60
    assert values[sample_key("rankery_jobs_queued", **rank)] == 0
    assert values[sample_key("rankery_oldest_queued_job_age_seconds", **rank)] == 0


def test_a_claimed_job_counts_as_running(store: Store, scrape: Scrape) -> None:
    """A claimed job is running and no longer queued."""
    with store.begin() as tx:
        job = tx.jobs.add("evaluate", {})
        tx.jobs.claim(job.id, "w1", 15)
    values = scrape()
    assert values[sample_key("rankery_jobs_running", kind="evaluate", lane="quick")] == 1
    assert values[sample_key("rankery_jobs_running", kind="train", lane="training")] == 0
    queued = sample_key("rankery_jobs_queued", kind="evaluate", lane="quick", priority="normal")
    assert values[queued] == 0


def test_kinds_of_a_later_release_are_counted(client: TestClient, store: Store, scrape: Scrape) -> None:
    """During an upgrade, an API counts the jobs of kinds that it does not know."""
    with store.begin() as tx:
        tx.jobs.add("evaluate", {}).kind = "later"
        running = tx.jobs.add("evaluate", {})
        tx.jobs.claim(running.id, "w1", 15)
        tx.jobs.get(running.id).kind = "later"
    values = scrape()
    assert values[sample_key("rankery_jobs_running", kind="later", lane="quick")] == 1
    queued = sample_key("rankery_jobs_queued", kind="later", lane="quick", priority="normal")
    assert values[queued] == 1
    assert client.get("/v1/counts").json()["waiting"]["quick"] == 1


def test_live_workers_are_counted_by_lane(store: Store, scrape: Scrape) -> None:
    """Workers are counted by lane; expired workers and those that have left are not counted."""
    with store.begin() as tx:
        tx.workers.report("host-1:1", "training", 1, 60)
        tx.workers.report("host-2:1", "training", 2, 60)
        tx.workers.report("host-3:1", "training", 1, 0)
        tx.workers.report("host-4:1", "quick", 1, 60)
        tx.workers.remove("host-4:1")
    time.sleep(0.01)
    values = scrape()
    assert values[sample_key("rankery_workers", lane="training")] == 2
    assert values[sample_key("rankery_workers", lane="quick")] == 0


def test_durations_are_a_histogram(store: Store, scrape: Scrape) -> None:
    """Buckets are cumulative and include their bound; a negative duration is 0."""
    with store.begin() as tx:
        for seconds in (-1, 0.5, 3, 60, 300_000):
            count_job(tx.counters, "train", "succeeded", seconds)
        count_job(tx.counters, "train", "failed", 7)
    values = scrape()
    ended = {"kind": "train", "status": "succeeded"}
    within = [
        values[sample_key("rankery_job_duration_seconds_bucket", **ended, le=bound)]
        for bound in ("0.5", "1.0", "5.0", "30.0", "60.0", "259200.0", "+Inf")
    ]
    assert within == [2, 2, 3, 3, 4, 4, 5]
    assert values[sample_key("rankery_job_duration_seconds_count", **ended)] == 5
    assert values[sample_key("rankery_job_duration_seconds_sum", **ended)] == 0 + 0.5 + 3 + 60 + 300_000
    assert values[sample_key("rankery_job_duration_seconds_sum", kind="train", status="failed")] == 7


def test_each_ending_of_an_attempt_is_counted(store: Store, scrape: Scrape) -> None:
    """Each ending is counted; the ending `lost` is a lost lease as well."""
    with store.begin() as tx:
        for ending in ("lost", "lost", "handed_back", "succeeded"):
            count_attempt(tx.counters, "train", ending)
    values = scrape()
    assert values[sample_key("rankery_job_attempts_total", kind="train", ending="lost")] == 2
    assert values[sample_key("rankery_job_attempts_total", kind="train", ending="handed_back")] == 1
    assert values[sample_key("rankery_leases_lost_total", kind="train")] == 2
    assert values[sample_key("rankery_leases_lost_total", kind="ingest")] == 0


def test_iterations_seconds_and_caches_are_counted(store: Store, scrape: Scrape) -> None:
    """Iterations and seconds are counters, and caches are distinguished by a label."""
    with store.begin() as tx:
        tx.counters.add(TRAINING_ITERATIONS, amount=120)
        tx.counters.add(TRAINING_SECONDS, amount=2.5)
        tx.counters.add(CACHE_HITS, {"cache": "arrays"}, 4)
        tx.counters.add(CACHE_MISSES, {"cache": "binned"})
    values = scrape()
    assert values[sample_key("rankery_training_iterations_total")] == 120
    assert values[sample_key("rankery_training_seconds_total")] == 2.5
    assert values[sample_key("rankery_worker_cache_hits_total", cache="arrays")] == 4
    assert values[sample_key("rankery_worker_cache_misses_total", cache="binned")] == 1


def test_stored_datasets_and_models_are_counted(
    store: Store, scrape: Scrape, add_model: Callable[[str], Model]
) -> None:
    """Datasets have their uploaded bytes by status, and models their size."""
    model = add_model("web")
    with store.begin() as tx:
        tx.datasets.add("waiting", {"kind": "upload"}, size_bytes=1_000)
    values = scrape()
    assert values[sample_key("rankery_datasets", status="ready")] == 1
    assert values[sample_key("rankery_datasets", status="pending")] == 1
    assert values[sample_key("rankery_dataset_bytes", status="pending")] == 1_000
    assert values[sample_key("rankery_models")] == 1
    assert values[sample_key("rankery_model_bytes")] == model.size_bytes


def test_the_database_is_read_at_most_once_per_interval(
    store: Store, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrapes within `FRESH_SECONDS` have the same values."""
    monkeypatch.setattr(metrics, "FRESH_SECONDS", 3600.0)
    first = client.get("/metrics").text
    with store.begin() as tx:
        tx.jobs.add("train", {})
    queued = 'rankery_jobs_queued{kind="train",lane="training",priority="normal"} 0.0'
    assert queued in first
    assert queued in client.get("/metrics").text


@pytest.mark.servers
@pytest.mark.parametrize("make_unreachable", [TcpProxy.shut, TcpProxy.block])
def test_an_unreachable_database_is_reported_as_a_metric(
    store_arguments: StoreArguments, postgres: PostgresServer, make_unreachable: Callable[[TcpProxy], None]
) -> None:
    """An unreachable database is a metric, and metrics that need no database are returned soon."""
    with TcpProxy(postgres.port) as gate:
        database_url = store_arguments["database_url"].replace(f":{postgres.port}/", f":{gate.port}/")
        store = Store.open(StoreSettings(**store_arguments | {"database_url": database_url}))
        exposed = metrics.Metrics(
            store, ServedModels(store, 0, ScoringKernels(compile_ahead=False), ModelReferences()), "1.2"
        )
        make_unreachable(gate)
        exposition = asyncio.run(asyncio.wait_for(exposed.exposition(""), PATIENCE_SECONDS))
        values = samples(exposition[0].decode())
        assert values[sample_key("rankery_database_up")] == 0
        assert values[sample_key("rankery_build_info", version="1.2", python=platform.python_version())] == 1
        assert not [name for name, _ in values if name.startswith("rankery_jobs")]
        gate.unblock()
        gate.open()
        again = metrics.Metrics(
            store, ServedModels(store, 0, ScoringKernels(compile_ahead=False), ModelReferences()), "1.2"
        )
        assert samples(asyncio.run(again.exposition(""))[0].decode())[sample_key("rankery_database_up")] == 1
        wait_for_probes()
        store.close()
