"""Find the objects whose retention period or time in the trash is over."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select
from sqlalchemy.orm import Session

from core.jobs.status import TERMINAL
from core.store.tables import AliasMove, Experiment, Job, Model, ModelAlias
from core.store.trash.kinds import JOB, OWNERS_FIRST, Kind
from core.store.visibility import with_trash

KEEP = "keep"
# One statement for all kinds, since most sweeps of the workers find nothing.
_HAS_EXPIRED = select(
    or_(*(exists().where(kind.table.deleted_at < bindparam("before")) for kind in OWNERS_FIRST))
)


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

    def expired(self, before: datetime, limit: int, ignored: Collection[str] = ()) -> list[str]:
        """List ids of objects that were moved to the trash before a moment, all of one kind.

        Jobs come before models, and models before their results, so that objects that were deleted together
        are purged together.

        Args:
            before: The moment.
            limit: Maximum number of ids.
            ignored: Ids to ignore.
        """
        with with_trash(self._session):
            if not self._session.scalar(_HAS_EXPIRED, {"before": before}):
                return []
            for kind in OWNERS_FIRST:
                deleted_at = kind.table.deleted_at
                old = select(kind.table.id).where(deleted_at < before, kind.table.id.not_in(ignored))
                found = list(self._session.scalars(old.order_by(deleted_at).limit(limit)))
                if found:
                    return found
        return []


def _is_restored_by_rollback() -> ColumnElement[bool]:
    """Return the condition that the rollback of an alias would restore a model."""
    undone = and_(AliasMove.id == ModelAlias.move_id, AliasMove.name == Model.name)
    return exists().where(undone, AliasMove.from_version == Model.version)


def _kept(table: Any) -> ColumnElement[bool]:
    """Return the condition that a row has the tag `keep`."""
    return and_(table.tags.is_not(None), table.tags[KEEP].as_string().is_not(None))
