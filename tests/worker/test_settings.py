"""A worker's settings."""

import pytest

from core.machine import available_cpus, available_memory_bytes
from worker import WorkerSettings


def test_cores_are_shared_among_the_jobs() -> None:
    """Concurrent jobs divide the cores, and each has at least one."""
    for concurrency in (1, 2, 256):
        settings = WorkerSettings(worker_concurrency=concurrency)
        assert settings.threads_per_job == max(1, available_cpus() // concurrency)


def test_memory_is_shared_among_the_jobs_of_a_lane() -> None:
    """The limit of a job is derived from the memory of the machine or container, unless it is set."""
    available = available_memory_bytes()
    assert available is not None
    settings = WorkerSettings(worker_concurrency=4, quick_concurrency=2)
    assert settings.memory_per_job("train") == int(0.85 * available) // 4
    assert settings.memory_per_job("ingest") == int(0.85 * available) // 2
    assert WorkerSettings(worker_concurrency=4, job_memory_bytes=10).memory_per_job("train") == 10


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields are RANKERY_ variables."""
    monkeypatch.setenv("RANKERY_WORKER_CONCURRENCY", "3")
    monkeypatch.setenv("RANKERY_THREADS", "5")
    settings = WorkerSettings()
    assert (settings.worker_concurrency, settings.threads_per_job) == (3, 5)


@pytest.mark.parametrize("name", ["RANKERY_HEARTBEAT_SECONDS", "RANKERY_LEASE_SECONDS"])
def test_leases_must_outlast_heartbeats(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Refuse an interval of heartbeats that is as long as the lease, also if only one of them is set."""
    defaults = WorkerSettings()
    monkeypatch.setenv("RANKERY_HEARTBEAT_SECONDS", f"{defaults.lease_seconds / 2}")
    WorkerSettings()
    monkeypatch.delenv("RANKERY_HEARTBEAT_SECONDS")
    limit = {
        "RANKERY_HEARTBEAT_SECONDS": defaults.lease_seconds,
        "RANKERY_LEASE_SECONDS": defaults.heartbeat_seconds,
    }[name]
    monkeypatch.setenv(name, f"{limit}")
    with pytest.raises(ValueError, match="must be less than RANKERY_LEASE_SECONDS"):
        WorkerSettings()
