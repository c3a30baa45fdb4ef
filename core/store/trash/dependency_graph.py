"""Dependencies between objects and their results: a job has its models, a model its evaluations."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, null, or_, select
from sqlalchemy.orm import Session

from core.store.tables import ComparedSystem
from core.store.trash.kinds import COMPARISON, JOB, KINDS, MODEL, RANKING, Kind, by_kind


@dataclass(frozen=True)
class Node:
    """An object in the dependency graph.

    Attributes:
        deleted_at: Time at which it was moved to the trash, or None.
        status: Status of a job, an experiment or a study, else None.
        needs: Ids of the objects that it requires, by their kind.
        content: Key of an artifact that several objects may share: the Parquet of a dataset; None for other
            kinds.
    """

    kind: Kind
    id: str
    name: str
    project: str | None
    deleted_at: datetime | None
    status: str | None
    needs: Mapping[str, str]
    content: str | None = None

    @property
    def job_id(self) -> str | None:
        """Id of the job that made the object, for a job its own id; None if no job made the object."""
        return self.id if self.kind.name == JOB else self.needs.get(JOB)


class DependencyGraph:
    """The dependencies between objects and their results, within one transaction.

    Args:
        session: Session of the transaction; it selects rows in the trash or omits them.
        lock: Whether to lock the rows until the transaction ends.
        comparisons: Whether a comparison requires the models and rankings that it includes.

    Attributes:
        nodes: The objects that `expand` was called with, and their results, by id.
    """

    def __init__(self, session: Session, *, lock: bool = False, comparisons: bool = False) -> None:
        self._session = session
        self._lock = lock
        self._comparisons = comparisons
        self._results: defaultdict[str, dict[str, Node]] = defaultdict(dict)
        self.nodes: dict[str, Node] = {}

    def find(self, kind: Kind, object_ids: Iterable[str]) -> dict[str, Node]:
        """Return the objects with the given ids, by id; ids that do not exist are omitted."""
        return {node.id: node for node in self.select(kind, kind.table.id.in_(list(object_ids)))}

    def find_all(self, object_ids: Iterable[str]) -> dict[str, Node]:
        """Return the objects of any kind with the given ids, by id; ids that do not exist are omitted.

        Raises:
            InvalidInput: An id is of no kind.
        """
        return {
            object_id: node
            for name, ids_of_kind in by_kind(object_ids).items()
            for object_id, node in self.find(KINDS[name], ids_of_kind).items()
        }

    def expand(self, roots: Iterable[Node]) -> None:
        """Add all direct and indirect results of some objects."""
        frontier = [node for node in roots if node.id not in self.nodes]
        self.nodes |= {node.id: node for node in frontier}
        while frontier:
            results = list(self._direct_results(frontier))
            frontier = []
            for node, needed_id in results:
                self._results[needed_id][node.id] = node
                if node.id not in self.nodes:
                    self.nodes[node.id] = node
                    frontier.append(node)

    def with_results(self, root: Node) -> dict[str, Node]:
        """Return an object and its direct and indirect results, by id."""
        family, frontier = {root.id: root}, [root]
        while frontier:
            for node in self._results[frontier.pop().id].values():
                if node.id not in family:
                    family[node.id] = node
                    frontier.append(node)
        return family

    def select(self, kind: Kind, condition: ColumnElement[bool]) -> list[Node]:
        """Return the objects of a kind that fulfil a condition."""
        table, needs = kind.table, list(kind.needs)
        status = table.status if kind.active else null()
        key = null() if kind.content is None else kind.content
        columns: tuple[Any, ...] = (table.id, kind.label, table.project, table.deleted_at, status, key)
        rows = select(*columns, *kind.needs.values()).where(condition).order_by(table.id)
        if self._lock:
            rows = rows.with_for_update(of=table)
        return [
            Node(
                kind,
                object_id,
                name,
                project,
                deleted_at,
                status,
                {need: value for need, value in zip(needs, needed, strict=True) if value is not None},
                content,
            )
            for object_id, name, project, deleted_at, status, content, *needed in self._session.execute(rows)
        ]

    def comparisons_of(self, system_ids: Iterable[str]) -> list[tuple[str, str]]:
        """Return pairs of ids: a comparison, and one of the given models or rankings that it includes."""
        rows = select(ComparedSystem.comparison_id, ComparedSystem.system_id)
        comparisons = self._session.execute(rows.where(ComparedSystem.system_id.in_(list(system_ids))))
        return [(row.comparison_id, row.system_id) for row in comparisons]

    def systems_of(self, comparison_ids: Iterable[str]) -> list[str]:
        """Return the ids of the models and rankings that some comparisons include."""
        rows = select(ComparedSystem.system_id).where(ComparedSystem.comparison_id.in_(list(comparison_ids)))
        return list(self._session.scalars(rows.distinct()))

    def _direct_results(self, nodes: Iterable[Node]) -> Iterable[tuple[Node, str]]:
        """Yield the objects that directly require one of the given objects, each with the required id."""
        wanted: defaultdict[str, set[str]] = defaultdict(set)
        for node in nodes:
            wanted[node.kind.name].add(node.id)
        for kind in KINDS.values():
            conditions = [column.in_(wanted[need]) for need, column in kind.needs.items() if need in wanted]
            if not conditions:
                continue
            for node in self.select(kind, or_(*conditions)):
                for need, needed_id in node.needs.items():
                    if needed_id in wanted.get(need, ()):
                        yield node, needed_id
        systems = wanted.get(MODEL, set()) | wanted.get(RANKING, set())
        if self._comparisons and systems:
            pairs = self.comparisons_of(systems)
            kind = KINDS[COMPARISON]
            comparisons = self.find(kind, {comparison_id for comparison_id, _ in pairs})
            for comparison_id, system_id in pairs:
                if comparison_id in comparisons:
                    yield comparisons[comparison_id], system_id
