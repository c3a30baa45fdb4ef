"""Stored events."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, delete, func, insert, select
from sqlalchemy.orm import Session

from core.errors import InvalidInput
from core.events import (
    ALIAS_MOVED,
    DATASET_READY,
    EVENT_KINDS,
    GATE_REFUSED,
    JOB_ENDED,
    STUDY_CONCLUDED,
    WORKER_LOST,
)
from core.jobs import JobStatus, specification_of
from core.store import tables
from core.store.clock import utc_now
from core.store.engines import advisory_lock
from core.store.repositories.deliveries import WAITING
from core.store.repositories.pages import Page
from core.store.visibility import limited_to

_LOCK = 0x45564E54  # namespace of advisory locks: "EVNT"
# How long events wait for webhooks after their retention; the default retries end sooner.
_WAIT_FOR_WEBHOOKS = timedelta(days=7)
# Largest id: the largest integer of SQLite.
MAX_ID = 2**63 - 1

MakePayload = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Gap:
    """A possible gap after the id of an event: later events may have been removed.

    Attributes:
        after: Id of the last event that the reader has.
        oldest: Id of the oldest stored event, None without events.
    """

    after: int
    oldest: int | None


class Events:
    """Events within one transaction.

    `write` inserts the added events just before the commit, under an advisory lock that it takes
    after all other locks. Ids are committed in order: a reader that has an id never finds a new event with a
    smaller id.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._added: list[tuple[dict[str, Any], MakePayload]] = []

    def add(
        self,
        kind: str,
        object_kind: str,
        object_id: str,
        data: dict[str, Any] | MakePayload,
        *,
        project: str | None = None,
        key_id: str | None = None,
    ) -> None:
        """Record an event; a rollback of the transaction undoes it.

        Args:
            kind: One of `core.events.EVENT_KINDS`.
            object_kind: Kind of its object, such as `job`.
            data: Payload, or a function that returns it at the end of the transaction.
            key_id: The API key that caused it.

        Raises:
            ValueError: There is no such kind.
        """
        if kind not in EVENT_KINDS:
            raise ValueError(f"unknown kind of event {kind!r}")
        row = {"kind": kind, "object_kind": object_kind, "object_id": object_id}
        make_payload = data if callable(data) else lambda: data
        self._added.append(({**row, "project": project, "key_id": key_id}, make_payload))

    @property
    def any_added(self) -> bool:
        """Whether this transaction records an event."""
        return bool(self._added)

    def write(self) -> None:
        """Write the added events; called at the very end of a transaction."""
        if not self._added:
            return
        self._session.flush()  # take all other locks before that of the events
        rows = [{**row, "data": make_payload()} for row, make_payload in self._added]
        self._added.clear()
        advisory_lock(self._session, _LOCK, "")
        now = utc_now()
        self._session.execute(insert(tables.Event), [{**row, "at": now} for row in rows])

    def job_ended(self, job: tables.Job) -> None:
        """Record the end of a job, and that the dataset it made is ready."""
        owner = {"project": job.project, "key_id": job.key_id}
        self.add(JOB_ENDED, "job", job.id, lambda: _job_payload(job), **owner)
        if job.status == JobStatus.SUCCEEDED and specification_of(job.kind).makes_dataset:
            dataset = self._session.get(tables.Dataset, (job.result or {}).get("dataset_id", ""))
            if dataset is not None:
                self.add(DATASET_READY, "dataset", dataset.id, lambda: _dataset_payload(dataset), **owner)

    def study_concluded(self, study: tables.Study) -> None:
        """Record the end of a study."""
        self.add(
            STUDY_CONCLUDED,
            "study",
            study.id,
            lambda: _study_payload(study),
            project=study.project,
            key_id=study.key_id,
        )

    def alias_moved(self, move: tables.AliasMove) -> None:
        """Record a move of an alias."""
        self._add_alias_event(ALIAS_MOVED, move, {"change": move.kind})

    def gate_refused(self, move: tables.AliasMove) -> None:
        """Record that the gate of an alias refused a version."""
        self._add_alias_event(GATE_REFUSED, move, {"sentence": (move.report or {}).get("sentence")})

    def worker_lost(self, worker: tables.Worker) -> None:
        """Record that the lease of a worker has expired."""
        data = {"lane": worker.lane, "processes": worker.processes, "jobs": []}
        self.add(WORKER_LOST, "worker", worker.name, {**data, "seen_at": _moment(worker.seen_at)})

    def process_lost(self, process: str, job_id: str) -> None:
        """Record that a process of a worker was lost with the job that it ran."""
        worker, _, _ = process.rpartition("/")
        data = {"lane": None, "processes": None, "jobs": [job_id], "seen_at": None}
        self.add(WORKER_LOST, "worker", worker or process, data)

    def latest_id(self) -> int:
        """Return the id of the newest event of all projects, 0 before the first event."""
        with limited_to(None):
            return self._session.scalar(select(func.max(tables.Event.id))) or 0

    def after(
        self,
        id: int,
        limit: int,
        *,
        kinds: Collection[str] = (),
        object_id: str | None = None,
        project: str | None = None,
    ) -> list[tables.Event]:
        """List the events after an id, the oldest first.

        Args:
            id: Id of the event before, 0 to begin with the first event.
            kinds: Only events of these kinds; empty for all.
        """
        rows = _select_events(id, kinds, object_id)
        if project is not None:
            rows = rows.where(tables.Event.project == project)
        return list(self._session.scalars(rows.order_by(tables.Event.id).limit(limit)))

    def gap(self, after: int) -> Gap | None:
        """Return the gap if events after an id may have been removed, else None."""
        with limited_to(None):
            first, last = self._session.execute(
                select(func.min(tables.Event.id), func.max(tables.Event.id))
            ).one()
        # An id between the first and the last event may never have been committed.
        complete = after == 0 if first is None else first - 1 <= after <= last
        return None if complete else Gap(after, first)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        after: int = 0,
        kinds: Collection[str] = (),
        object_id: str | None = None,
        ascending: bool = False,
    ) -> Page[tables.Event]:
        """List events, newest first by default.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = _select_events(after, kinds, object_id)
        if cursor is not None:
            last = _parse_cursor(cursor)
            rows = rows.where(tables.Event.id > last if ascending else tables.Event.id < last)
        order = tables.Event.id.asc() if ascending else tables.Event.id.desc()
        events = list(self._session.scalars(rows.order_by(order).limit(limit + 1)))
        items = events[:limit]
        return Page(items, str(items[-1].id) if len(events) > limit else None)

    def remove_before(self, moment: datetime, limit: int) -> int:
        """Remove up to `limit` of the oldest events before a time, with deliveries; return their number.

        An event that waits for an enabled webhook, and later events, are kept for up to a week longer. The
        newest event is kept, so that `latest_id` never decreases.
        """
        oldest = select(tables.Event.id).where(tables.Event.at < moment, tables.Event.id < self.latest_id())
        oldest = oldest.order_by(tables.Event.id).limit(limit)
        waiting = self._first_waiting(moment - _WAIT_FOR_WEBHOOKS)
        if waiting is not None:
            oldest = oldest.where(tables.Event.id < waiting)  # later ones stay, since `gap` expects no holes
        removed = self._session.execute(
            delete(tables.Event).where(tables.Event.id.in_(oldest)).returning(tables.Event.id),
            execution_options={"synchronize_session": False},
        )
        return len(removed.all())

    def _first_waiting(self, since: datetime) -> int | None:
        """Return the id of the first event since a time that waits for an enabled webhook, or None."""
        rows = (
            select(func.min(tables.Event.id))
            .join(tables.WebhookDelivery, tables.WebhookDelivery.event_id == tables.Event.id)
            .join(tables.Webhook, tables.Webhook.id == tables.WebhookDelivery.webhook_id)
            .where(tables.Webhook.enabled, tables.WebhookDelivery.state == WAITING, tables.Event.at >= since)
        )
        return self._session.scalar(rows)

    def _add_alias_event(self, kind: str, move: tables.AliasMove, data: dict[str, Any]) -> None:
        name = self._session.get(tables.ModelName, move.name)
        versions = {"from_version": move.from_version, "to_version": move.to_version}
        self.add(
            kind,
            "alias",
            f"{move.name}@{move.alias}",
            {"name": move.name, "alias": move.alias, **versions, "job_id": move.job_id, **data},
            project=name.project if name else None,
            key_id=move.key_id,
        )


def _select_events(after: int, kinds: Collection[str], object_id: str | None) -> Select[tables.Event]:
    rows = select(tables.Event).where(tables.Event.id > after)
    if kinds:
        rows = rows.where(tables.Event.kind.in_(kinds))
    return rows if object_id is None else rows.where(tables.Event.object_id == object_id)


def _parse_cursor(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal()) or int(cursor) > MAX_ID:
        raise InvalidInput.at("/cursor", "must be the next_cursor of the previous page")
    return int(cursor)


def _job_payload(job: tables.Job) -> dict[str, Any]:
    return {
        "kind": job.kind,
        "title": job.title,
        "status": job.status,
        "result": job.result,
        "problem": job.problem,
        "metric": job.main_metric,
        "took_seconds": job.took_seconds,
    }


def _dataset_payload(dataset: tables.Dataset) -> dict[str, Any]:
    statistics = dataset.statistics or {}
    counts = {name: statistics.get(name) for name in ("queries", "documents", "features")}
    return {"name": dataset.name, **counts}


def _study_payload(study: tables.Study) -> dict[str, Any]:
    conclusion = study.conclusion or {}
    return {
        "name": study.name,
        "status": study.status,
        "best_trial": study.best_number,
        "best_value": study.best_value,
        "verdict": conclusion.get("verdict"),
        "sentence": conclusion.get("sentence"),
        "problem": study.problem,
    }


def _moment(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
