"""A worker process with a simulated clock, which kills itself at a commit that advances a schedule."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session

from core.jobs.base import QUEUED
from core.store import Store
from core.store.tables import AliasMove, Job, JobAttempt, JobIteration, Model, ScheduleRun
from worker import WorkerSettings
from worker.process.schedules import advance_all
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

LIMIT_SECONDS = 120.0
_MAX_JOBS = 10
_CHANGES = "changes"


@dataclass(frozen=True)
class Changes:
    """Changes that a transaction commits.

    Attributes:
        added: The classes of new rows.
        changed: The classes of changed rows.
        written: The tables of bulk statements.
    """

    added: frozenset[type]
    changed: frozenset[type]
    written: frozenset[str]


# The commits that advance a schedule from a due time to a moved alias, in this order.
MOMENTS: Mapping[str, Callable[[Changes], bool]] = MappingProxyType(
    {
        "the run and its job": lambda commit: ScheduleRun in commit.added,
        "the claim of the job": lambda commit: JobAttempt in commit.added,
        "progress of the training": lambda commit: JobIteration.__tablename__ in commit.written,
        "the model": lambda commit: Model in commit.added,
        "the job of the promotion": lambda commit: ScheduleRun in commit.changed and Job in commit.added,
        "the alias": lambda commit: AliasMove in commit.added,
        "the end of the run": lambda commit: ScheduleRun in commit.changed and Job not in commit.added,
    }
)


@dataclass(frozen=True)
class KillMoment:
    """Moment at which a process is killed.

    Attributes:
        moment: The commit, one of `MOMENTS`.
        committed: Whether the kill follows the commit; otherwise it precedes it.
    """

    moment: str
    committed: bool


def run_worker(
    store_arguments: Mapping[str, Any], now: datetime, kill_moment: KillMoment | None = None
) -> int:
    """Run a new process until nothing is due at the given time, or until it is killed.

    Returns:
        Its exit code, -9 if it was killed.
    """
    # The fork server imports everything once. It runs no kernel, so that forked processes can run kernels.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.unused_packages", __name__])
    process = context.Process(target=_work, args=(dict(store_arguments), dict(os.environ), now, kill_moment))
    process.start()
    process.join(LIMIT_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"a worker to be killed at {kill_moment} did not end in {LIMIT_SECONDS:g} s")
    return process.exitcode


def settings_of(store_arguments: Mapping[str, Any]) -> WorkerSettings:
    """Return the settings of a worker that reports each iteration and retries jobs many times."""
    return WorkerSettings(
        **store_arguments, broker_url="redis://127.0.0.1:1/0", report_seconds=0.0, attempts=50
    )


def _work(
    store_arguments: dict[str, Any],
    environment: dict[str, str],
    now: datetime,
    kill_moment: KillMoment | None,
) -> None:
    os.environ.update(environment)
    if kill_moment is not None:
        _kill_at(kill_moment)
    settings = settings_of(store_arguments)
    store = Store.open(settings)
    with store.begin() as tx:  # the process of each running job has ended; a sweeper recovers jobs later
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, settings.attempts)
    advance_all(store, _MAX_JOBS, now)
    while _waiting(store):
        run_jobs(store, settings, StopFlag(), f"w/{os.getpid()}", RUNNERS)
        advance_all(store, _MAX_JOBS, now)
    store.close()


def _waiting(store: Store) -> bool:
    with store.read() as tx:
        return bool(tx.jobs.page(None, 1, status=QUEUED).items)


def _kill_at(kill_moment: KillMoment) -> None:
    """Kill this process at the first commit of the moment."""
    is_kill_moment = MOMENTS[kill_moment.moment]

    @event.listens_for(Session, "after_flush")
    def _(session: Session, _context: object) -> None:
        changes = session.info.setdefault(_CHANGES, (set(), set(), set()))
        changes[0].update(map(type, session.new))
        changes[1].update(type(row) for row in session.dirty if session.is_modified(row))

    @event.listens_for(Session, "do_orm_execute")
    def _(state: ORMExecuteState) -> None:
        if state.is_insert or state.is_update:
            changes = state.session.info.setdefault(_CHANGES, (set(), set(), set()))
            changes[2].add(state.statement.table.name)  # type: ignore[attr-defined]

    @event.listens_for(Session, "before_commit")
    def _(session: Session) -> None:
        session.flush()
        if not kill_moment.committed and is_kill_moment(_changes_of(session)):
            os.kill(os.getpid(), signal.SIGKILL)

    @event.listens_for(Session, "after_commit")
    def _(session: Session) -> None:
        if is_kill_moment(_changes_of(session)):
            os.kill(os.getpid(), signal.SIGKILL)
        session.info.pop(_CHANGES, None)


def _changes_of(session: Session) -> Changes:
    added, changed, written = session.info.get(_CHANGES, ((), (), ()))
    return Changes(frozenset(added), frozenset(changed), frozenset(written))
