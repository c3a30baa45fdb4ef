"""Quotas: limits of the active jobs and bytes of a key."""

import concurrent.futures
import contextlib

import pytest

from core.errors import ByteQuotaExceeded, JobQuotaExceeded, JobQuotaTooSmall
from core.store import Store


def test_jobs_that_have_ended_do_not_count(store: Store) -> None:
    """A quota counts jobs that wait or run."""
    with store.begin() as tx:
        jobs = [tx.jobs.add("train", {}) for _ in range(3)]
        with pytest.raises(JobQuotaExceeded, match="at most 3 jobs"):
            tx.quotas.allow_jobs(None, 3)
        tx.jobs.request_cancel(jobs[0].id)
        tx.quotas.allow_jobs(None, 3)
        with pytest.raises(JobQuotaExceeded):
            tx.quotas.allow_jobs(None, 3, adding=2)


def test_keys_are_counted_separately(store: Store) -> None:
    """Jobs and bytes of a key do not count for other keys, nor for callers without a key."""
    with store.begin() as tx:
        key, _ = tx.api_keys.create("a", ["write"])
        tx.jobs.add("train", {}, key_id=key.id)
        tx.datasets.add("d", {"kind": "upload"}, size_bytes=10, key_id=key.id)
        tx.datasets.add("d", {"kind": "synthetic"}, key_id=key.id)
        for other in (None, "key_other"):
            tx.quotas.allow_jobs(other, 1)
            tx.quotas.allow_bytes(other, 10, 10)
        with pytest.raises(JobQuotaExceeded):
            tx.quotas.allow_jobs(key.id, 1)
        tx.quotas.allow_bytes(key.id, 20, 10)
        with pytest.raises(ByteQuotaExceeded, match="at most 20 bytes"):
            tx.quotas.allow_bytes(key.id, 20, 11)


def test_a_key_has_separate_bounds(store: Store) -> None:
    """The bounds of a key override those of the settings, larger or smaller; 0 is a bound, too."""
    with store.begin() as tx:
        key, _ = tx.api_keys.create("a", ["write"], max_active_jobs=2, max_stored_bytes=0)
        tx.quotas.allow_jobs(key.id, 0, adding=2)
        with pytest.raises(JobQuotaTooSmall, match="needs 3 jobs, but at most 2"):
            tx.quotas.allow_jobs(key.id, 1000, adding=3)
        tx.jobs.add("train", {}, key_id=key.id)
        with pytest.raises(JobQuotaExceeded, match="at most 2 jobs"):
            tx.quotas.allow_jobs(key.id, 1000, adding=2)
        with pytest.raises(ByteQuotaExceeded):
            tx.quotas.allow_bytes(key.id, None, 1)


def test_without_a_quota_any_number_of_bytes_is_allowed(store: Store) -> None:
    """If neither the key nor the settings have a bound, any number of bytes is stored."""
    with store.begin() as tx:
        tx.datasets.add("d", {"kind": "upload"}, size_bytes=2**60)
        tx.quotas.allow_bytes(None, None, 2**60)


@pytest.mark.both_stores
def test_requests_at_the_same_moment_do_not_exceed_a_quota(store: Store) -> None:
    """Each request counts the jobs that the others have added."""

    def add() -> None:
        with contextlib.suppress(JobQuotaExceeded), store.begin() as tx:
            tx.quotas.allow_jobs(None, 5)
            tx.jobs.add("train", {})

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(add) for _ in range(24)]:
            done.result()
    with store.read() as tx:
        assert len(tx.jobs.page(None, 50).items) == 5
