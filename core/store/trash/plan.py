"""Plans of deletions: requested objects, expired objects, and the objects to keep."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select
from sqlalchemy.orm import Session

from core.errors import Holder
from core.jobs.base import TERMINAL
from core.store.artifacts.keys import data_folder
from core.store.tables import AliasMove, ClickLog, Experiment, Job, Model, ModelAlias
from core.store.tables.datasets import INTERLEAVED, SERVED
from core.store.trash.dependency_graph import Node
from core.store.trash.kinds import JOB, OWNERS_FIRST, Kind
from core.store.visibility import with_trash


@dataclass(frozen=True)
class Refused:
    """An object that is not deleted.

    Attributes:
        holders: Objects that prevent its deletion.
        only_results: Whether all of the holders are results of the object.
    """

    node: Node
    holders: tuple[Holder, ...]
    only_results: bool


@dataclass(frozen=True)
class Trashed:
    """An object in the trash.

    Attributes:
        deleted_at: Time at which it was moved to the trash.
        deleted_by: The API key that moved it, or None.
        folders: The folders of its artifacts, without contents that other datasets share.
    """

    node: Node
    deleted_at: datetime
    deleted_by: str | None
    folders: list[str]


@dataclass
class Plan:
    """The objects to delete and to keep, for a requested deletion.

    Attributes:
        roots: The requested objects to delete, in the requested order.
        nodes: All objects to delete, by id.
        missing: The ids that do not exist.
        shared: Contents to keep, since other datasets share them.
    """

    roots: list[Node] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)

    @property
    def counts(self) -> Counter[str]:
        """Number of objects to delete, by the plural of their kind."""
        return Counter(node.kind.plural for node in self.nodes.values())

    @property
    def folders(self) -> list[str]:
        """The folders of artifacts to delete, without shared contents."""
        return folders_of(self.nodes.values(), self.shared)


def folders_of(nodes: Iterable[Node], shared: Collection[str] = ()) -> list[str]:
    """Return the folders of artifacts of some objects, each once, without shared contents."""
    folders: dict[str, None] = {}  # in order, each once
    for node in nodes:
        if node.kind.folder is not None:
            folders[node.kind.folder(node.id)] = None
        if node.content is not None and node.content not in shared:
            folders[data_folder(node.content)] = None
    return list(folders)


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
            before: The moment, compared with creation times, or with the ends of jobs and experiments.
            after: Only ids above this one.
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
            after: Only ids above this one.
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
