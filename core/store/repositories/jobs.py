"""Stored jobs: claims, leases and outcomes."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, String, and_, delete, func, insert, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import LeaseLost, NotFound, WrongState
from core.jobs import main_metric_of, specification_of, title_of
from core.jobs.systems import named_systems
from core.store.clock import utc_now
from core.store.repositories import ids, job_states
from core.store.repositories.attempts import Attempts
from core.store.repositories.job_states import CANCELLED, FAILED, QUEUED, RUNNING, SUCCEEDED
from core.store.repositories.pages import (
    NEWEST_FIRST,
    Columns,
    Direction,
    Order,
    Page,
    Span,
    begins_with,
    narrowed,
    order_of,
)
from core.store.repositories.projects import NO_LABELS, Labels, Projects
from core.store.repositories.tags import WantedTags, changed_tags, with_tags
from core.store.tables import Dataset, Job, JobDataset, JobIteration, Model, Ranking
from core.telemetry import current_trace_context

CANCELLED_PROBLEM = {"title": "Cancelled", "detail": "The job was cancelled."}

COLUMNS: Columns = MappingProxyType(
    {
        "created": None,
        "name": func.lower(Job.title, type_=String),
        "kind": Job.kind.expression,
        "status": Job.status.expression,
        "started": Job.started_at.expression,
        "finished": Job.finished_at.expression,
        "duration": Job.took_seconds.expression,
        "metric": Job.main_metric.expression,
    }
)
# Names of whole orders, from before lists were sorted by column.
ORDERS: Mapping[str, Order] = MappingProxyType(
    {
        "newest": NEWEST_FIRST,
        "oldest": Order(ascending=True),
        "longest": Order(COLUMNS["duration"]),
    }
)

LOST = "lost"
HANDED_BACK = "handed_back"

# At most so many wake-ups a sweep: what waits in a long queue is found by those who finish something.
WAKE_UPS = 64

_FRESH = {"populate_existing": True, "synchronize_session": False}


@dataclass
class Settled:
    """The outcome for jobs of lost workers.

    Attributes:
        requeued: Ids of the jobs that wait again.
        ended: The jobs that were cancelled or have failed.
        by_process: Ids of all of them, by the process of a worker that ran them.
    """

    requeued: list[str] = field(default_factory=list)
    ended: list[Job] = field(default_factory=list)
    by_process: dict[str, list[str]] = field(default_factory=dict, compare=False)


class Jobs:
    """Jobs within one transaction."""

    def __init__(self, session: Session, attempts: Attempts) -> None:
        self._session = session
        self._attempts = attempts
        self._ending: list[Callable[[Job], None]] = []

    def on_ending(self, settle: Callable[[Job], None]) -> None:
        """Call a function with every job that ends, within the transaction that ends it."""
        self._ending.append(settle)

    def add(
        self,
        kind: str,
        spec: dict[str, Any],
        dataset_ids: Iterable[str] = (),
        *,
        id: str | None = None,
        priority: int = 0,
        key_id: str | None = None,
        labels: Labels = NO_LABELS,
    ) -> Job:
        """Queue a job, and hold the datasets it uses until it ends.

        Args:
            kind: What to do.
            spec: All that the worker needs to know.
            dataset_ids: The datasets that it reads or makes.
            id: Its id, a new one where left out.
            priority: Jobs of a greater one are taken first.
            key_id: The API key that submits it, where one is needed.
            labels: What people write on it.

        Raises:
            NotFound: One of the datasets does not exist.
            InvalidInput: The caller is limited to other projects, or must name one.
        """
        job = Job(
            id=id or ids.new_id(ids.JOB),
            kind=kind,
            status=QUEUED,
            spec=spec,
            priority=priority,
            key_id=key_id,
            title=labels.name or title_of(kind, spec),
            notes=labels.notes,
            tags=dict(labels.tags) if labels.tags else None,
            project=Projects(self._session).of_new(labels.project),
            trace_context=current_trace_context(),
        )
        self._session.add(job)
        self._session.flush()
        # Locked, so that nobody deletes a dataset between this look and the commit; in one order everywhere,
        # so that no two transactions wait for each other.
        for dataset_id in sorted(set(dataset_ids)):
            if self._session.get(Dataset, dataset_id, with_for_update={"read": True}) is None:
                raise NotFound("dataset", dataset_id)
            self._session.add(JobDataset(job_id=job.id, dataset_id=dataset_id))
        self._session.flush()
        self._lock_systems(spec)
        return job

    def get(self, id: str) -> Job:
        """Return one job.

        Raises:
            NotFound: There is none.
        """
        job = self._session.get(Job, id)
        if job is None:
            raise NotFound("job", id)
        return job

    def label(self, id: str, changes: Mapping[str, str | None], tags: Mapping[str, str | None]) -> Job:
        """Change what people wrote on a job.

        Args:
            id: The job.
            changes: `name`, `notes` and `project`, those that change; a name of None is the usual title.
            tags: Tags to set; those that are None are removed.

        Raises:
            NotFound: There is no such job.
            InvalidInput: It would have too many tags, or the caller is limited to other projects.
        """
        # Locked, so that of two who change it at once neither writes over the other.
        job = self._session.get(Job, id, with_for_update=True, populate_existing=True)
        if job is None:
            raise NotFound("job", id)
        if "name" in changes:
            job.title = changes["name"] or title_of(job.kind, job.spec)
        if "notes" in changes:
            job.notes = changes["notes"]
        if tags:
            job.tags = changed_tags(job.tags, tags) or None
        if "project" in changes:
            Projects(self._session).move_job(job, changes["project"])
        self._session.flush()
        return job

    def page(
        self,
        cursor: str | None,
        limit: int,
        status: str | None = None,
        kind: str | None = None,
        *,
        dataset_id: str | None = None,
        project: str | None = None,
        tags: WantedTags = (),
        text: str | None = None,
        prefix: str | None = None,
        job_ids: Collection[str] | None = None,
        sort: str = "created",
        direction: Direction | None = None,
    ) -> Page[Job]:
        """List some jobs in an order, a page of them.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            status: Only jobs in it.
            kind: Only jobs of it.
            dataset_id: Only jobs that read or make this dataset.
            project: Only jobs of this project.
            tags: Names of tags with the value that each must have, None where any will do.
            text: Only jobs with this in their name, whatever its case, or of this id.
            prefix: Only jobs whose name or id begins so, whatever its case.
            job_ids: Only these.
            sort: One of `COLUMNS` or of `ORDERS`.
            direction: Of a column.
        """
        rows = narrowed(select(Job), status=status, kind=kind, project=project)
        rows = with_tags(rows, Job.tags, tags)
        if dataset_id is not None:
            using = select(JobDataset.job_id).where(JobDataset.dataset_id == dataset_id)
            rows = rows.where(Job.id.in_(using))
        if text is not None:
            rows = rows.where(or_(Job.title.icontains(text, autoescape=True), Job.id == text))
        if prefix is not None:
            rows = rows.where(begins_with(prefix, Job.title.expression, Job.id.expression))
        if job_ids is not None:
            rows = rows.where(Job.id.in_(job_ids))
        order = ORDERS.get(sort) or order_of(COLUMNS, sort, direction)
        return Span(cursor, limit).take(self._session, rows, Job.id, ids.JOB, order)

    def iterations(self, id: str, after: int = 0) -> list[JobIteration]:
        """List the recorded iterations of a job above `after`, in order.

        Raises:
            NotFound: There is no such job.
        """
        self.get(id)
        rows = select(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration > after)
        return list(self._session.scalars(rows.order_by(JobIteration.iteration)))

    def several(self, job_ids: Collection[str]) -> list[Job]:
        """Return the jobs of some ids in the order of the ids, without those that do not exist."""
        found = {job.id: job for job in self._session.scalars(select(Job).where(Job.id.in_(job_ids)))}
        return [found[job_id] for job_id in dict.fromkeys(job_ids) if job_id in found]

    def values_by_iteration(self, after: Mapping[str, int]) -> dict[str, dict[int, dict[str, Any]]]:
        """Return the recorded values of several jobs in one statement, without their times.

        Args:
            after: Ids of jobs, each with the iteration above which its values are wanted.

        Returns:
            By job and iteration, both in order; a job without such values has an empty entry.
        """
        return self._by_iteration(JobIteration.values, after)

    def milliseconds_by_iteration(self, after: Mapping[str, int]) -> dict[str, dict[int, dict[str, Any]]]:
        """Return the recorded times of several jobs in one statement, as `values_by_iteration`.

        An iteration without recorded times has an empty entry.
        """
        found = self._by_iteration(JobIteration.milliseconds, after)
        return {job_id: {at: times or {} for at, times in rows.items()} for job_id, rows in found.items()}

    def _by_iteration(
        self, column: InstrumentedAttribute[Any], after: Mapping[str, int]
    ) -> dict[str, dict[int, Any]]:
        found: dict[str, dict[int, Any]] = {job_id: {} for job_id in after}
        wanted = [
            and_(JobIteration.job_id == job_id, JobIteration.iteration > iteration)
            for job_id, iteration in after.items()
        ]
        rows = select(JobIteration.job_id, JobIteration.iteration, column).where(or_(*wanted))
        for job_id, iteration, recorded in self._session.execute(
            rows.order_by(JobIteration.job_id, JobIteration.iteration)
        ):
            found[job_id][iteration] = recorded
        return found

    def claim_next(self, kinds: Collection[str], worker: str, lease_seconds: float) -> Job | None:
        """Take the queued job of these kinds whose turn it is, or return None where none waits.

        The greatest priority first; among equals the key that was served the longest ago; then the oldest.
        """
        waiting = select(Job.id).where(Job.status == QUEUED, Job.kind.in_(kinds))
        served = (
            select(Job.key_id, func.max(Job.started_at).label("at"))
            .where(Job.kind.in_(kinds), Job.started_at.is_not(None))
            .group_by(Job.key_id)
            .subquery()
        )
        turns = waiting.outerjoin(served, Job.key_id.is_not_distinct_from(served.c.key_id)).order_by(
            Job.priority.desc(), served.c.at.asc().nulls_first(), Job.id
        )
        job_id = self._session.scalar(turns.limit(1).with_for_update(of=Job, skip_locked=True))
        return None if job_id is None else self.claim(job_id, worker, lease_seconds)

    def claim(self, id: str, worker: str, lease_seconds: float) -> Job | None:
        """Take a queued job, or return None where it does not wait any more.

        A later attempt goes on from the checkpoint of the one before: what was recorded after it is dropped.
        """
        now = utc_now()
        job = self._move(
            id,
            QUEUED,
            RUNNING,
            attempt=Job.attempt + 1,
            token=Job.token + 1,
            worker=worker,
            lease_expires_at=now + timedelta(seconds=lease_seconds),
            started_at=now,
            progress=None,
            metrics=None,
            main_metric=None,
            findings=None,
        )
        if job is None:
            return None
        resumed_from = job.checkpoint["iteration"] if job.checkpoint else None
        if job.token > 1:
            after = JobIteration.iteration > (resumed_from or 0)
            self._session.execute(delete(JobIteration).where(JobIteration.job_id == id, after))
        self._attempts.begin(job, now, resumed_from)
        return job

    def running_on(self, worker: str) -> list[Job]:
        """List the running jobs of the workers whose names begin so."""
        rows = select(Job).where(Job.status == RUNNING, Job.worker.startswith(worker, autoescape=True))
        return list(self._session.scalars(rows))

    def stop_requested(self, id: str, token: int) -> bool:
        """Tell whether the user asked for a running job to stop.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        mine = (Job.id == id, Job.token == token, Job.status == RUNNING)
        asked = self._session.scalar(select(Job.cancel_requested).where(*mine))
        if asked is None:
            raise LeaseLost(id)
        return asked

    def renew(self, id: str, token: int, lease_seconds: float) -> bool:
        """Keep the lease for a while longer; returns whether the user asked for the job to stop.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._write(
            id, token, {"lease_expires_at": utc_now() + timedelta(seconds=lease_seconds)}
        ).cancel_requested

    def record(
        self,
        id: str,
        token: int,
        *,
        progress: dict[str, Any] | None = None,
        metrics: dict[str, Any] | None = None,
        findings: list[dict[str, Any]] | None = None,
        iterations: Sequence[tuple[int, dict[str, Any]]] = (),
        milliseconds: Mapping[int, dict[str, Any]] = MappingProxyType({}),
        phases: list[dict[str, Any]] | None = None,
    ) -> bool:
        """Write down how far the job is; what is left out stays as it was.

        Args:
            id: The job.
            token: The token of the claim.
            progress: The whole new progress.
            metrics: The whole new metrics.
            findings: All that is to be said about its datasets beside each other.
            iterations: Pairs of iteration and values; one already there is replaced.
            milliseconds: Times by the iterations among them.
            phases: All phases of this claim so far.

        Returns:
            Whether the user asked for the job to stop.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        given = {"progress": progress, "metrics": metrics, "findings": findings}
        job = self._write(id, token, {name: value for name, value in given.items() if value is not None})
        if metrics is not None:
            main = main_metric_of(job.kind, job.spec, metrics)
            job.main_metric = None if main is None else main.value
        if iterations:
            self._replace_iterations(id, dict(iterations), milliseconds)
        if phases is not None:
            self._attempts.keep_phases(id, token, phases)
        return job.cancel_requested

    def keep_checkpoint(self, id: str, token: int, checkpoint: dict[str, Any]) -> None:
        """Let a later attempt go on from a checkpoint, `{"key", "sha256", "iteration", "total"}`.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        self._write(id, token, {"checkpoint": checkpoint})

    def drop_checkpoint(self, id: str, token: int) -> None:
        """Let the job begin anew: its checkpoint cannot be used.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        self._write(id, token, {"checkpoint": None})
        self._session.execute(delete(JobIteration).where(JobIteration.job_id == id))

    def succeed(self, id: str, token: int, result: dict[str, Any]) -> Job:
        """End the job with the ids of what it made.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, SUCCEEDED, SUCCEEDED, result=result)

    def fail(self, id: str, token: int, problem: dict[str, Any]) -> Job:
        """End the job with what went wrong.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, FAILED, FAILED, problem.get("detail"), problem=problem)

    def cancelled(self, id: str, token: int) -> Job:
        """End the job as its user asked.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, CANCELLED, CANCELLED, problem=CANCELLED_PROBLEM)

    def release(self, id: str, token: int) -> Job:
        """Hand a running job back unharmed: it is queued again and the attempt does not count.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(
            id, token, QUEUED, HANDED_BACK, "The worker was shutting down.", attempt=Job.attempt - 1
        )

    def put_off(self, id: str, token: int, detail: str) -> Job:
        """Queue a running job again because of something that may pass; the attempt counts.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, QUEUED, HANDED_BACK, detail)

    def request_cancel(self, id: str) -> Job:
        """Stop a job: at once where it is queued, else by asking its worker.

        Raises:
            NotFound: There is no such job.
            WrongState: It has already ended.
        """
        job = self._session.get(Job, id, with_for_update=True, populate_existing=True)
        if job is None:
            raise NotFound("job", id)
        if job.status == QUEUED:
            self._move(id, QUEUED, CANCELLED, problem=CANCELLED_PROBLEM, cancel_requested=True)
        elif job.status == RUNNING:
            job.cancel_requested = True
            self._session.flush()
        else:
            raise WrongState("job", id, job.status, "it has already ended")
        return job

    def take_back(self, lost: Iterable[Job], attempts: int) -> Settled:
        """Settle the running jobs whose worker is lost, see `LeaseWatch`.

        One that its user cancelled is cancelled, one that had `attempts` claims has failed, any other is
        queued again. One that was renewed since it was read is left alone.

        Args:
            lost: The jobs, as they were read.
            attempts: How often a job is claimed at most.

        Returns:
            What became of each; `to_wake` names those queued again too, as their last wake-up is forgotten.
        """
        settled = Settled()
        for job in sorted(lost, key=lambda job: job.id):
            worker = job.worker
            target, problem = _after_loss(job, attempts)
            silent = (Job.token == job.token, Job.lease_expires_at.is_not_distinct_from(job.lease_expires_at))
            moved = self._move(job.id, RUNNING, target, *silent, problem=problem)
            if moved is None:
                continue
            self._attempts.end(moved, LOST, f"The worker {worker} stopped answering.")
            settled.by_process.setdefault(worker or "", []).append(job.id)
            if target == QUEUED:
                settled.requeued.append(job.id)
            else:
                settled.ended.append(moved)
        return settled

    def to_wake(self, now: datetime, older_than_seconds: float) -> list[Job]:
        """List queued jobs that need a wake-up, the oldest few, and note that they got one."""
        age = timedelta(seconds=older_than_seconds)
        # A wake-up of the future was sent before the clock was set back.
        silent = or_(Job.woken_at.is_(None), Job.woken_at < now - age, Job.woken_at > now + age)
        oldest = select(Job).where(Job.status == QUEUED, silent).order_by(Job.id).limit(WAKE_UPS)
        # Two sweeps at once take different jobs and do not wait for each other. The rows are read before they
        # are changed: PostgreSQL may run the subquery of an UPDATE again, and then passes its limit.
        oldest = oldest.with_for_update(skip_locked=True).execution_options(populate_existing=True)
        jobs = list(self._session.scalars(oldest))
        for job in jobs:
            job.woken_at = now
        self._session.flush()
        return jobs

    def _lock_systems(self, spec: dict[str, Any]) -> None:
        """Let no model or ranking that a job names be deleted before the job can be seen."""
        named = set(named_systems(spec))
        versions = [each.rpartition(":") for each in named if ":" in each]
        meant = [
            and_(Model.name == name, Model.version == int(version))
            for name, _, version in versions
            if version.isdecimal()
        ]
        models = select(Model.id).where(or_(Model.id.in_(named), *meant)).order_by(Model.id)
        rankings = select(Ranking.id).where(Ranking.id.in_(named)).order_by(Ranking.id)
        for rows in (models, rankings) if named else ():
            self._session.execute(rows.with_for_update(read=True))

    def _finish(
        self, id: str, token: int, target: str, ending: str, detail: str | None = None, **values: Any
    ) -> Job:
        job = self._move(id, RUNNING, target, Job.token == token, **values)
        if job is None:
            raise LeaseLost(id)
        self._attempts.end(job, ending, detail)
        return job

    def _write(self, id: str, token: int, values: dict[str, Any]) -> Job:
        mine = (Job.id == id, Job.token == token, Job.status == RUNNING)
        written = update(Job).where(*mine).values(values or {"token": token}).returning(Job)
        job = self._session.scalars(written, execution_options=_FRESH).one_or_none()
        if job is None:
            raise LeaseLost(id)
        return job

    def _move(
        self, id: str, source: str, target: str, *guards: ColumnElement[bool], **values: Any
    ) -> Job | None:
        """Change a job's status in one statement; None where it is not in `source` or a guard fails."""
        if not job_states.allows(source, target):
            raise ValueError(f"a job never goes from {source} to {target}")
        values["status"] = target
        if target != RUNNING:
            values["lease_expires_at"] = None
        if target == QUEUED:
            values |= {"worker": None, "woken_at": None}
        if target in job_states.TERMINAL:
            values |= {"finished_at": utc_now(), "checkpoint": None}
        moved = update(Job).where(Job.id == id, Job.status == source, *guards).values(values).returning(Job)
        job = self._session.scalars(moved, execution_options=_FRESH).one_or_none()
        if job is not None and job.problem is not None and specification_of(job.kind).makes_dataset:
            self._invalidate_dataset(job)
        if job is not None and target in job_states.TERMINAL:
            for settle in self._ending:
                settle(job)
        return job

    def _invalidate_dataset(self, job: Job) -> None:
        """Let no dataset wait for a job that has ended without reading it."""
        awaited = select(JobDataset.dataset_id).where(JobDataset.job_id == job.id)
        pending = select(Dataset).where(Dataset.id.in_(awaited), Dataset.status == "pending")
        for dataset in self._session.scalars(pending):
            dataset.status, dataset.problem = "invalid", job.problem
        self._session.flush()

    def _replace_iterations(
        self, id: str, values: dict[int, dict[str, Any]], milliseconds: Mapping[int, dict[str, Any]]
    ) -> None:
        self._session.execute(
            delete(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration.in_(values)),
            execution_options={"synchronize_session": False},
        )
        rows = [
            {"job_id": id, "iteration": number, "values": value, "milliseconds": milliseconds.get(number)}
            for number, value in values.items()
        ]
        self._session.execute(insert(JobIteration), rows)


def _after_loss(job: Job, attempts: int) -> tuple[str, dict[str, Any] | None]:
    if job.cancel_requested:
        return CANCELLED, CANCELLED_PROBLEM
    if job.attempt >= attempts:
        detail = f"The worker {job.worker} stopped answering, the last of {job.attempt} attempts."
        return FAILED, {"title": "Worker lost", "detail": detail}
    return QUEUED, None
