"""A worker's settings."""

import pytest

from worker import WorkerSettings
from worker.settings import available_cores


def test_cores_are_shared_among_the_jobs() -> None:
    """Jobs that run at the same time do not fight for cores, and each has at least one."""
    for concurrency in (1, 2, 256):
        settings = WorkerSettings(worker_concurrency=concurrency)
        assert settings.threads_per_job == max(1, available_cores() // concurrency)


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every field is a RANKERY_ variable."""
    monkeypatch.setenv("RANKERY_WORKER_CONCURRENCY", "3")
    monkeypatch.setenv("RANKERY_THREADS", "5")
    settings = WorkerSettings()
    assert (settings.worker_concurrency, settings.threads_per_job) == (3, 5)
