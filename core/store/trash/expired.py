"""Find the objects whose retention period or time in the trash is over."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select
from sqlalchemy.orm import Session

from core.jobs.status import TERMINAL
from core.store.tables import AliasMove, ClickLog, Experiment, Job, Model, ModelAlias
from core.store.tables.datasets import INTERLEAVED, SERVED
from core.store.trash.kinds import JOB, OWNERS_FIRST, Kind
from core.store.visibility import with_trash

KEEP = "keep"
# One statement for all kinds, since most sweeps of the workers find nothing.
_HAS_OVERDUE_TRASH = select(
    or_(*(exists().where(kind.table.deleted_at < bindparam("before")) for kind in OWNERS_FIRST))
)


class ExpiredObjects:
    """Expired objects, within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def past_retention(self, kind: Kind, before: datetime, after: str, limit: int) -> list[str]:
        """List ids of objects without the tag `keep` that are older than a moment, in ascending order.

        Leave out results of jobs with this tag, models that the rollback of an alias would restore, and click
        logs of users, such as uploads.

        Args:
            kind: Kind of the objects.
            before: The moment, compared with creation times, or with the ends of jobs and experiments.
            after: Only ids above this one.
            limit: Maximum number of ids.
        """
        table = kind.table
        age = table.finished_at if table in (Job, Experiment) else table.created_at
        rows = select(table.id).where(age < before, table.id > after)
        if table is Job:
            rows = rows.where(Job.status.in_(TERMINAL))
        if table in (Job, Model):
            rows = rows.where(~_has_keep_tag(table))
        if table is Model:
            rows = rows.where(~_is_restored_by_rollback())
        if table is ClickLog:
            rows = rows.where(ClickLog.source["kind"].as_string().in_((SERVED, INTERLEAVED)))
        if JOB in kind.needs:
            # The tag of a job also keeps its results.
            rows = rows.where(table.job_id.not_in(select(Job.id).where(_has_keep_tag(Job))))
        return list(self._session.scalars(rows.order_by(table.id).limit(limit)))

    def has_overdue_trash(self, before: datetime) -> bool:
        """Return whether an object of any kind was moved to the trash before a moment."""
        with with_trash(self._session):
            return bool(self._session.scalar(_HAS_OVERDUE_TRASH, {"before": before}))

    def overdue_trash(self, kind: Kind, before: datetime, after: str, limit: int) -> list[str]:
        """List ids of objects that were moved to the trash before a moment, in ascending order.

        Args:
            kind: Kind of the objects.
            before: The moment.
            after: Only ids above this one.
            limit: Maximum number of ids.
        """
        table = kind.table
        rows = select(table.id).where(table.deleted_at < before, table.id > after)
        with with_trash(self._session):
            return list(self._session.scalars(rows.order_by(table.id).limit(limit)))


def _is_restored_by_rollback() -> ColumnElement[bool]:
    """Return the condition that the rollback of an alias would restore a model."""
    undone = and_(AliasMove.id == ModelAlias.move_id, AliasMove.name == Model.name)
    return exists().where(undone, AliasMove.from_version == Model.version)


def _has_keep_tag(table: Any) -> ColumnElement[bool]:
    """Return the condition that a row has the tag `keep`."""
    return and_(table.tags.is_not(None), table.tags[KEEP].as_string().is_not(None))
