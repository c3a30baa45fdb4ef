"""Find the objects whose retention period is over."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, select
from sqlalchemy.orm import Session

from core.jobs.status import TERMINAL
from core.store.tables import AliasMove, Experiment, Job, Model, ModelAlias
from core.store.trash.kinds import JOB, Kind

KEEP = "keep"


class ExpiredObjects:
    """Expired objects, within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def outdated(self, kind: Kind, before: datetime, after: str, limit: int) -> list[str]:
        """List ids of objects without the tag `keep` that are older than a moment, in ascending order.

        Leave out results of jobs with this tag, and models that the rollback of an alias would restore.

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
            rows = rows.where(~_kept(table))
        if table is Model:
            rows = rows.where(~_is_restored_by_rollback())
        if JOB in kind.needs:
            # The results of a kept job are kept, too.
            rows = rows.where(table.job_id.not_in(select(Job.id).where(_kept(Job))))
        return list(self._session.scalars(rows.order_by(table.id).limit(limit)))


def _is_restored_by_rollback() -> ColumnElement[bool]:
    """Return the condition that the rollback of an alias would restore a model."""
    undone = and_(AliasMove.id == ModelAlias.move_id, AliasMove.name == Model.name)
    return exists().where(undone, AliasMove.from_version == Model.version)


def _kept(table: Any) -> ColumnElement[bool]:
    """Return the condition that a row has the tag `keep`."""
    return and_(table.tags.is_not(None), table.tags[KEEP].as_string().is_not(None))
