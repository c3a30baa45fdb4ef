"""Counters of ended jobs."""

import pytest

from core.errors import LeaseLost
from core.store import Job, Store

Counts = dict[tuple[str, ...], float]


def _counts(store: Store, name: str, *labels: str) -> Counts:
    with store.read() as tx:
        return {
            tuple(counter.labels[label] for label in labels): counter.value
            for counter in tx.counters.all()
            if counter.name == name
        }


def _attempts(store: Store) -> Counts:
    return _counts(store, "job_attempts", "kind", "ending")


def _jobs(store: Store) -> Counts:
    return _counts(store, "job_seconds_bucket", "kind", "status")


@pytest.mark.parametrize("ending", ["succeeded", "failed", "cancelled"])
def test_each_ending_is_counted_once(store: Store, claimed: Job, ending: str) -> None:
    """The transaction that ends the job counts it, so that a second, late worker counts nothing."""
    for _ in range(2):
        try:
            with store.begin() as tx:
                if ending == "succeeded":
                    tx.jobs.succeed(claimed.id, claimed.token, {})
                elif ending == "failed":
                    tx.jobs.fail(claimed.id, claimed.token, {"title": "x", "detail": "y"})
                else:
                    tx.jobs.end_cancelled(claimed.id, claimed.token)
        except LeaseLost:
            pass
    assert _attempts(store) == {("train", ending): 1}
    assert _jobs(store) == {("train", ending): 1}


def test_a_job_handed_back_has_not_ended(store: Store, claimed: Job) -> None:
    """The attempt is over, the job is not."""
    with store.begin() as tx:
        tx.jobs.release(claimed.id, claimed.token)
    assert _attempts(store) == {("train", "handed_back"): 1}
    assert _jobs(store) == {}


def test_each_lost_lease_is_counted(store: Store, claimed: Job) -> None:
    """Each lost lease is counted; the job is counted once, when its last attempt is lost."""
    with store.begin() as tx:
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 2)
    assert _attempts(store) == {("train", "lost"): 1}
    assert _jobs(store) == {}
    with store.begin() as tx:
        assert tx.jobs.claim(claimed.id, "w2", 15) is not None
    with store.begin() as tx:
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 2)
    assert _attempts(store) == {("train", "lost"): 2}
    assert _jobs(store) == {("train", "failed"): 1}


def test_a_duration_reaches_back_to_the_first_start(store: Store, claimed: Job) -> None:
    """Attempts without a result are part of a job's duration."""
    with store.begin() as tx:
        tx.jobs.release(claimed.id, claimed.token)
    with store.begin() as tx:
        second = tx.jobs.claim(claimed.id, "w2", 15)
        assert second is not None
        ended = tx.jobs.succeed(claimed.id, second.token, {})
    assert claimed.started_at is not None
    assert ended.finished_at is not None
    (seconds,) = _counts(store, "job_seconds", "kind", "status").values()
    assert seconds == pytest.approx((ended.finished_at - claimed.started_at).total_seconds())
