"""The trash within one transaction: move objects there, restore them, delete their rows."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, delete, exists, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute

from core.errors import InvalidInput
from core.store.clock import utc_now
from core.store.repositories.artifacts import ArtifactRecords
from core.store.repositories.datasets import shared_contents
from core.store.repositories.pages import Page
from core.store.repositories.repository import insert_absent
from core.store.tables import (
    ArtifactDigest,
    ClickLog,
    Dataset,
    Experiment,
    ExperimentTraining,
    PendingDeletion,
)
from core.store.trash import kinds
from core.store.trash.dependency_graph import DependencyGraph, Node
from core.store.trash.holders import (
    ActiveJobs,
    foreign_holders,
    holders_of,
    is_foreign,
    result_holder,
    without_foreign_names,
)
from core.store.trash.plan import ExpiredObjects, Plan, Refused, Trashed, folders_of
from core.store.visibility import limited_to, visible_projects, with_trash

# Kinds whose checksums are deleted by folder, since ids do not determine the keys of their artifacts.
_OWN_FOLDERS = (kinds.EXPERIMENT, kinds.STUDY, kinds.DATASET, kinds.CLICK_LOG)
_NO_SYNCHRONIZATION = {"synchronize_session": False}
# Columns that refer to a job and become NULL when it is purged, since their rows stay.
_CLEARED_JOB_REFERENCES: tuple[InstrumentedAttribute[str | None], ...] = (
    Dataset.job_id,
    ClickLog.job_id,
    Experiment.report_job_id,
    ExperimentTraining.job_id,
    ExperimentTraining.evaluation_job_id,
)


class Trash(ExpiredObjects):
    """The trash within one transaction."""

    def plan(
        self,
        kind: kinds.Kind,
        object_ids: Sequence[str],
        active: ActiveJobs,
        *,
        with_results: bool,
        permanently: bool = False,
        deleted_ids: Collection[str] = frozenset(),
        lock: bool = True,
    ) -> Plan:
        """Plan the deletion of some objects with their results.

        Args:
            object_ids: Their ids, deleted in this order.
            active: The models, rankings and click logs that active jobs use.
            with_results: Whether to delete their results as well; otherwise results prevent the deletion.
            permanently: Whether results in the trash of another project prevent the deletion, too.
            deleted_ids: Ids that count as deleted.
            lock: Whether to lock the rows until the transaction ends.
        """
        plan, own_projects = Plan(), visible_projects()
        graph = DependencyGraph(self._session, lock=lock)
        roots = graph.find(kind, [object_id for object_id in object_ids if object_id not in deleted_ids])
        with limited_to(None):  # objects that other projects require are kept, too
            graph.expand(roots.values())
            holders = holders_of(self._session, graph, graph.nodes.values(), active)
        all_results = graph
        if permanently and own_projects is not None:
            all_results = DependencyGraph(self._session, lock=lock, comparisons=True)
            with limited_to(None), with_trash(self._session):
                all_results.expand(roots.values())
        if own_projects is not None:
            holders = without_foreign_names(self._session, holders)
        for object_id in dict.fromkeys(object_ids):
            if object_id in plan.nodes or object_id in deleted_ids:
                continue
            if object_id not in roots:
                plan.missing.append(object_id)
                continue
            family = graph.with_results(roots[object_id])
            excluded = deleted_ids | plan.nodes.keys() | family.keys()
            remaining = {
                each: node
                for each, node in family.items()
                if each not in plan.nodes and each not in deleted_ids
            }
            held = [
                holder
                for each in remaining
                for holder in holders.get(each, ())
                if holder.id not in excluded or holder.id == each
            ]
            hidden = foreign_holders(all_results.with_results(roots[object_id]).values(), own_projects)
            results = [
                result_holder(node, roots[object_id])
                for node in remaining.values()
                if not with_results and node.id != object_id and not is_foreign(node, own_projects)
            ]
            if held or results or hidden:
                reasons = tuple(dict.fromkeys([*held, *hidden, *results]))
                plan.refused.append(Refused(roots[object_id], reasons, only_results=not held and not hidden))
            else:
                plan.roots.append(roots[object_id])
                plan.nodes |= remaining
        self._keep_shared(plan, deleted_ids)
        return plan

    def move(self, nodes: Iterable[Node], key_id: str | None) -> datetime:
        """Move objects to the trash; return the time of deletion, which they share."""
        now = utc_now()
        for kind, object_ids in _by_kind(nodes):
            moved = update(kind.table).where(kind.table.id.in_(object_ids))
            self._session.execute(
                moved.values(deleted_at=now, deleted_by=key_id), execution_options=_NO_SYNCHRONIZATION
            )
        return now

    def purge_plan(
        self, object_ids: Collection[str], deleted_ids: Collection[str] = frozenset(), *, lock: bool = True
    ) -> Plan:
        """Plan the deletion of the rows of objects in the trash.

        The plan includes all objects in the trash that require them. Objects outside the trash count as
        missing. An object that an object outside the trash requires counts as missing, too. One that an
        object of another project requires is refused.

        Args:
            deleted_ids: Ids that count as deleted.
            lock: Whether to lock the rows until the transaction ends.
        """
        plan, own_projects = Plan(), visible_projects()
        graph = DependencyGraph(self._session, lock=lock, comparisons=True)
        with with_trash(self._session):
            roots = graph.find_all(object_ids)
            with limited_to(None):
                graph.expand(roots.values())
        for object_id in dict.fromkeys(object_ids):
            family = graph.with_results(roots[object_id]) if object_id in roots else {}
            if not family or any(node.deleted_at is None for node in family.values()):
                plan.missing.append(object_id)
                continue
            hidden = foreign_holders(family.values(), own_projects)
            if hidden:
                plan.refused.append(Refused(roots[object_id], tuple(hidden), only_results=False))
                continue
            plan.roots.append(roots[object_id])
            plan.nodes |= family
        with with_trash(self._session):
            self._keep_shared(plan, deleted_ids, lock=lock)
        return plan

    def add_trashed(
        self, plan: Plan, deleted_ids: Collection[str] = frozenset(), *, lock: bool = True
    ) -> None:
        """Add to a plan the objects in the trash that require its objects.

        Args:
            deleted_ids: Ids that count as deleted.
            lock: Whether to lock the rows until the transaction ends.
        """
        graph = DependencyGraph(self._session, lock=lock, comparisons=True)
        with limited_to(None), with_trash(self._session):
            if not self._is_trash_empty():
                graph.expand(plan.nodes.values())
                plan.nodes |= graph.nodes
            self._keep_shared(plan, deleted_ids, lock=lock)

    def purge(self, plan: Plan) -> None:
        """Delete rows permanently, and record the folders of their artifacts as pending deletions.

        The caller deletes `plan.folders` after the commit.
        """
        keys: list[str] = []
        for kind, object_ids in _by_kind(plan.nodes.values()):
            if kind.name == kinds.JOB:
                for column in _CLEARED_JOB_REFERENCES:
                    cleared = update(column.class_).where(column.in_(object_ids)).values({column: None})
                    self._session.execute(cleared, execution_options=_NO_SYNCHRONIZATION)
            deleted = delete(kind.table).where(kind.table.id.in_(object_ids))
            self._session.execute(deleted, execution_options=_NO_SYNCHRONIZATION)
            keys += [key_of(object_id) for object_id in object_ids for key_of in kind.artifacts]
        if keys:
            digests = delete(ArtifactDigest).where(ArtifactDigest.key.in_(keys))
            self._session.execute(digests, execution_options=_NO_SYNCHRONIZATION)
        owners = [node for node in plan.nodes.values() if node.kind.name in _OWN_FOLDERS]
        for folder in folders_of(owners, plan.shared):
            ArtifactRecords(self._session).delete_checksums(folder)
        now = utc_now()
        # The folder of a cancelled job may be pending already.
        rows = [{"folder": folder, "at": now} for folder in plan.folders]
        insert_absent(self._session, PendingDeletion, rows, "folder")

    def pending(self, limit: int) -> list[str]:
        """List the folders of pending deletions, the least recently tried first."""
        rows = select(PendingDeletion.folder).order_by(PendingDeletion.at, PendingDeletion.folder)
        return list(self._session.scalars(rows.limit(limit)))

    def forget_pending(self, folders: Collection[str]) -> None:
        """Delete the pending deletions of folders that have been deleted."""
        deleted = delete(PendingDeletion).where(PendingDeletion.folder.in_(list(folders)))
        self._session.execute(deleted, execution_options=_NO_SYNCHRONIZATION)

    def postpone_pending(self, folders: Collection[str]) -> None:
        """Record that folders could not be deleted now, so that the others are deleted before them."""
        tried = update(PendingDeletion).where(PendingDeletion.folder.in_(list(folders))).values(at=utc_now())
        self._session.execute(tried, execution_options=_NO_SYNCHRONIZATION)

    def restore(self, object_ids: Collection[str]) -> Plan:
        """Restore objects with the results deleted together with them, and the objects that they require.

        Returns:
            The restored objects; ids that are not in the trash are in `missing`.

        Raises:
            InvalidInput: They require an object in the trash that the caller must not restore.
        """
        plan = Plan()
        graph = DependencyGraph(self._session, lock=True)
        with with_trash(self._session):
            roots = graph.find_all(object_ids)
            graph.expand(roots.values())
            for object_id in dict.fromkeys(object_ids):
                root = roots.get(object_id)
                if root is None or root.deleted_at is None:
                    plan.missing.append(object_id)
                    continue
                deleted_together = (
                    node for node in graph.with_results(root).values() if node.deleted_at == root.deleted_at
                )
                plan.roots.append(root)
                plan.nodes |= {node.id: node for node in deleted_together}
            self._add_needed(graph, plan, visible_projects())
        for kind, object_ids_of_kind in _by_kind(plan.nodes.values()):
            restored = update(kind.table).where(kind.table.id.in_(object_ids_of_kind))
            self._session.execute(
                restored.values(deleted_at=None, deleted_by=None), execution_options=_NO_SYNCHRONIZATION
            )
        return plan

    def page(self, cursor: str | None, limit: int, kind: kinds.Kind | None = None) -> Page[Trashed]:
        """List the objects in the trash, the latest first.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        page_and_next: list[Trashed] = []
        with with_trash(self._session):
            last = None if cursor is None else self._cursor_position(cursor)
            for each in kinds.KINDS.values() if kind is None else (kind,):
                page_and_next += self._latest_trashed(each, last, limit + 1)
        page_and_next.sort(key=lambda item: (item.deleted_at, item.node.id), reverse=True)
        items = page_and_next[:limit]
        return Page(items, items[-1].node.id if len(page_and_next) > limit else None)

    def ids(self, kind: kinds.Kind, before: datetime | None = None) -> list[str]:
        """List the ids of the objects of a kind in the trash.

        Args:
            before: Only objects that were moved to the trash up to this moment; None for all.
        """
        moved = kind.table.deleted_at
        rows = select(kind.table.id).where(moved.is_not(None) if before is None else moved <= before)
        with with_trash(self._session):
            return list(self._session.scalars(rows))

    def contents(self) -> set[str]:
        """Return the contents of datasets in the trash that no dataset in use shares."""
        column = Dataset.data_key
        with with_trash(self._session):
            rows = select(column).where(Dataset.deleted_at.is_not(None), column.is_not(None))
            trashed = {key for key in self._session.scalars(rows) if key is not None}
        return trashed - set(self._session.scalars(select(column)))

    def _keep_shared(self, plan: Plan, deleted_ids: Collection[str], *, lock: bool = False) -> None:
        """Record in a plan which contents to keep, since remaining datasets share them.

        Datasets in the trash count as remaining only if the session selects rows in the trash.
        """
        plan.shared = self._shared_contents(plan.nodes, deleted_ids, lock=lock)

    def _shared_contents(
        self, nodes: Mapping[str, Node], deleted_ids: Collection[str] = frozenset(), *, lock: bool = False
    ) -> set[str]:
        contents = {node.content for node in nodes.values() if node.content is not None}
        if not contents:
            return set()
        with limited_to(None):
            return shared_contents(self._session, contents, {*nodes, *deleted_ids}, lock=lock)

    def _is_trash_empty(self) -> bool:
        columns = (kind.table.deleted_at for kind in kinds.KINDS.values())
        return not self._session.scalar(select(or_(*(exists().where(each.is_not(None)) for each in columns))))

    def _latest_trashed(
        self, kind: kinds.Kind, last: tuple[datetime, str] | None, limit: int
    ) -> list[Trashed]:
        table = kind.table
        rows = select(table.id, table.deleted_at, table.deleted_by).where(table.deleted_at.is_not(None))
        if last is not None:
            at, object_id = last
            rows = rows.where(or_(table.deleted_at < at, and_(table.deleted_at == at, table.id < object_id)))
        rows = rows.order_by(table.deleted_at.desc(), table.id.desc()).limit(limit)
        page = list(self._session.execute(rows))
        nodes = DependencyGraph(self._session).find(kind, [row.id for row in page])
        shared = self._shared_contents(nodes)
        return [
            Trashed(nodes[row.id], row.deleted_at, row.deleted_by, folders_of([nodes[row.id]], shared))
            for row in page
        ]

    def _cursor_position(self, cursor: str) -> tuple[datetime, str]:
        kind = kinds.kind_of(cursor)
        if kind is None:
            raise InvalidInput.at("/cursor", "must be the next_cursor of the previous page")
        at = self._session.scalar(select(kind.table.deleted_at).where(kind.table.id == cursor))
        if at is None:
            raise InvalidInput.at(
                "/cursor", "refers to an object that left the trash; start again at the first page"
            )
        return at, cursor

    def _add_needed(self, graph: DependencyGraph, plan: Plan, own_projects: tuple[str, ...] | None) -> None:
        """Add objects that restored ones require: the job of a model, the systems of a comparison."""
        frontier = list(plan.nodes.values())
        while frontier:
            needed: dict[str, set[str]] = defaultdict(set)
            for node in frontier:
                for need, object_id in node.needs.items():
                    needed[need].add(object_id)
            compared = [node.id for node in frontier if node.kind.name == kinds.COMPARISON]
            if compared:
                for name, systems in kinds.by_kind(graph.systems_of(compared)).items():
                    needed[name] |= set(systems)
            with limited_to(None):
                required = [
                    node
                    for name, object_ids in needed.items()
                    for node in graph.find(kinds.KINDS[name], object_ids).values()
                ]
            frontier = [
                node for node in required if node.deleted_at is not None and node.id not in plan.nodes
            ]
            for node in frontier:
                if is_foreign(node, own_projects):
                    needs = f"the {node.kind.name} {node.id}, which is in the trash of another project"
                    raise InvalidInput.at("/ids", f"need {needs}; restore both with a key of both projects")
            plan.nodes |= {node.id: node for node in frontier}


def _by_kind(nodes: Iterable[Node]) -> Iterable[tuple[kinds.Kind, list[str]]]:
    """Group ids by kind, in the order in which rows are deleted."""
    grouped: Mapping[str, list[str]] = defaultdict(list)
    for node in nodes:
        grouped[node.kind.name].append(node.id)
    return [(kind, sorted(grouped[name])) for name, kind in kinds.KINDS.items() if grouped.get(name)]
