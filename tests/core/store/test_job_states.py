"""Allowed changes of a job's status."""

import contextlib
import itertools
from collections.abc import Callable
from datetime import timedelta

import pytest

from core.errors import LeaseLost, WrongState
from core.jobs.base import ACTIVE, STATUSES, TERMINAL, TRANSITIONS, allows
from core.store import Job, Store, Transaction

ALLOWED = {
    ("queued", "running"),
    ("queued", "cancelled"),
    ("running", "succeeded"),
    ("running", "refused"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("running", "queued"),
}
FAR_FUTURE = timedelta(days=1)


def _claim(tx: Transaction, job: Job) -> None:
    tx.jobs.claim(job.id, "w2", 15)


def _succeed(tx: Transaction, job: Job) -> None:
    tx.jobs.succeed(job.id, job.token, {})


def _refuse(tx: Transaction, job: Job) -> None:
    tx.jobs.refuse(job.id, job.token, {"title": "Promotion refused", "detail": "It is worse."})


def _fail(tx: Transaction, job: Job) -> None:
    tx.jobs.fail(job.id, job.token, {"title": "Broken", "detail": "It broke."})


def _end_cancelled(tx: Transaction, job: Job) -> None:
    tx.jobs.end_cancelled(job.id, job.token)


def _request_cancel(tx: Transaction, job: Job) -> None:
    tx.jobs.request_cancel(job.id)


def _requeue(tx: Transaction, job: Job) -> None:
    tx.jobs.recover(job, 3)


def _give_up(tx: Transaction, job: Job) -> None:
    tx.jobs.recover(job, 1)


# The status after each change, by the status before; a job in any other status is unchanged.
CHANGES: list[tuple[Callable[[Transaction, Job], None], dict[str, str]]] = [
    (_claim, {"queued": "running"}),
    (_succeed, {"running": "succeeded"}),
    (_refuse, {"running": "refused"}),
    (_fail, {"running": "failed"}),
    (_end_cancelled, {"running": "cancelled"}),
    (_request_cancel, {"queued": "cancelled"}),
    (_requeue, {"running": "queued"}),
    (_give_up, {"running": "failed"}),
]


def _job_in(tx: Transaction, status: str) -> Job:
    job = tx.jobs.add("train", {})
    if status == "cancelled":
        return tx.jobs.request_cancel(job.id)
    if status != "queued":
        tx.jobs.claim(job.id, "w1", 15)
    if status == "succeeded":
        _succeed(tx, job)
    if status == "refused":
        _refuse(tx, job)
    if status == "failed":
        _fail(tx, job)
    return job


@pytest.mark.parametrize(("source", "target"), list(itertools.product(STATUSES, STATUSES)))
def test_exactly_the_designed_changes_are_allowed(source: str, target: str) -> None:
    """Of all pairs of statuses, exactly the seven of the design are allowed."""
    assert allows(source, target) == ((source, target) in ALLOWED)


def test_statuses_without_a_next_status_are_terminal() -> None:
    """A status is terminal when nothing follows it; the table cannot be changed."""
    assert {"succeeded", "refused", "failed", "cancelled"} == TERMINAL
    assert {"queued", "running"} == ACTIVE
    with pytest.raises(TypeError):
        TRANSITIONS["failed"] = frozenset({"queued"})  # type: ignore[index]


@pytest.mark.long
@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("change", "outcome"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
def test_each_change_from_each_status_follows_the_table(
    store: Store, status: str, change: Callable[[Transaction, Job], None], outcome: dict[str, str]
) -> None:
    """Each change moves a job exactly as the table allows, and leaves one in another status as it was."""
    with store.begin() as tx:
        job = _job_in(tx, status)
        assert job.status == status
        before = (job.attempt, job.token, job.finished_at, job.result, job.problem)
        if status in outcome:
            change(tx, job)
        else:
            with contextlib.suppress(LeaseLost, WrongState):
                change(tx, job)
    with store.read() as tx:
        after = tx.jobs.get(job.id)
    assert after.status == outcome.get(status, status)
    assert (after.finished_at is not None) == (after.status in TERMINAL)
    assert (after.lease_expires_at is not None) == (after.status == "running")
    if status not in outcome:
        assert (after.attempt, after.token, after.finished_at, after.result, after.problem) == before


def test_refused_changes_raise_errors(store: Store) -> None:
    """A worker of an ended job gets `LeaseLost`, and a user gets `WrongState`."""
    for status in sorted(TERMINAL):
        with store.begin() as tx:
            job = _job_in(tx, status)
            for change in (_succeed, _refuse, _fail, _end_cancelled):
                with pytest.raises(LeaseLost):
                    change(tx, job)
            with pytest.raises(WrongState):
                _request_cancel(tx, job)
