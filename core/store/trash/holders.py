"""Holders: objects that prevent the deletion of others, such as active jobs and aliases."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from core.errors import Holder
from core.jobs.base import ACTIVE
from core.jobs.measuring import named_click_logs, named_datasets, named_systems
from core.store.repositories.experiments import ACTIVE_EXPERIMENTS
from core.store.repositories.study_progress import ACTIVE_STUDIES
from core.store.tables import (
    AliasGate,
    Comparison,
    Experiment,
    ExperimentTraining,
    Interleaving,
    Job,
    JobDataset,
    Model,
    ModelAlias,
    Schedule,
    Study,
    Trial,
)
from core.store.trash.dependency_graph import DependencyGraph, Node
from core.store.trash.kinds import CLICK_LOG, COMPARISON, DATASET, JOB, KINDS, MODEL, RANKING

GATE = "gate"
_SPECIFICATIONS = 500  # maximum number that one statement reads
# Tables of holders whose project may differ from that of the held object. Aliases are absent: they are in the
# project of their model.
_TABLES: Mapping[str, Any] = MappingProxyType(
    {
        JOB: Job,
        COMPARISON: Comparison,
        "study": Study,
        "experiment": Experiment,
        "schedule": Schedule,
        "interleaving": Interleaving,
    }
)


class ActiveJobs:
    """The models, rankings and click logs in the specifications of queued and running jobs.

    A specification never changes, so each is read once for all transactions.
    """

    def __init__(self) -> None:
        self._names_by_job: dict[str, frozenset[str]] = {}

    def holders(self, session: Session, names: Iterable[str]) -> Iterator[tuple[str, Holder]]:
        """Yield the given ids and references that active jobs use, each with such a job as its holder."""
        wanted = frozenset(names)
        labels = {
            object_id: (title or kind, status)
            for object_id, title, kind, status in session.execute(
                select(Job.id, Job.title, Job.kind, Job.status).where(Job.status.in_(ACTIVE))
            )
        }
        unread = [job_id for job_id in labels if job_id not in self._names_by_job]
        for begin in range(0, len(unread), _SPECIFICATIONS):
            part = unread[begin : begin + _SPECIFICATIONS]
            for job_id, spec in session.execute(select(Job.id, Job.spec).where(Job.id.in_(part))):
                self._names_by_job[job_id] = frozenset((*named_systems(spec), *named_click_logs(spec)))
        for job_id, (label, status) in labels.items():
            for name in self._names_by_job.get(job_id, frozenset()) & wanted:
                yield name, Holder(JOB, job_id, label, f"is {status} and uses it")


def holders_of(
    session: Session, graph: DependencyGraph, nodes: Iterable[Node], active: ActiveJobs
) -> dict[str, list[Holder]]:
    """Return the holders of each object; objects without holders are omitted.

    Results made from an object are not reported as its holders.

    Args:
        session: Session of the transaction; must not be limited to projects.
        graph: Dependency graph of the same session.
        active: The models, rankings and click logs that active jobs use.
    """
    objects = list(nodes)
    holders: defaultdict[str, list[Holder]] = defaultdict(list)
    systems = {node.id: node for node in objects if node.kind.name in (MODEL, RANKING)}
    for object_id, holder in chain(
        _held_by_status(objects),
        _holders_of_systems(session, graph, systems, active) if systems else (),
        _holders_of_datasets(session, [node.id for node in objects if node.kind.name == DATASET]),
        _holders_of_click_logs(session, [node.id for node in objects if node.kind.name == CLICK_LOG], active),
    ):
        holders[object_id].append(holder)
    made_by: defaultdict[str, list[str]] = defaultdict(list)
    for node in objects:
        if node.job_id is not None:
            made_by[node.job_id].append(node.id)
    for job_id, holder in _holders_of_jobs(session, list(made_by)):
        for object_id in made_by[job_id]:
            if holder not in holders[object_id]:
                holders[object_id].append(holder)
    return dict(holders)


def result_holder(node: Node, root: Node) -> Holder:
    """Return a result of an object as its holder."""
    relation = "was made by" if node.needs.get(JOB) == root.id else "belongs to"
    return Holder(node.kind.name, node.id, node.name, f"{relation} {root.name}")


def foreign_holders(nodes: Iterable[Node], own_projects: Collection[str] | None) -> list[Holder]:
    """Return the objects outside the caller's projects as holders, without their names.

    Args:
        own_projects: The caller's projects; None for all projects.
    """
    return [_foreign_holder(node.kind.name, node.id) for node in nodes if is_foreign(node, own_projects)]


def is_foreign(node: Node, own_projects: Collection[str] | None) -> bool:
    """Return whether an object is outside the caller's projects, which are None for all projects."""
    return own_projects is not None and node.project not in own_projects


def without_foreign_names(session: Session, holders: Mapping[str, list[Holder]]) -> dict[str, list[Holder]]:
    """Return the holders; leave out names and details of holders that the session does not select.

    Args:
        session: Session of the transaction, limited to projects.
        holders: Holders by object, see `holders_of`.
    """
    seen: set[str] = set()
    for kind, table in _TABLES.items():
        object_ids = {each.id for held in holders.values() for each in held if each.kind == kind}
        if object_ids:
            seen |= set(session.scalars(select(table.id).where(table.id.in_(object_ids))))
    if any(each.kind == GATE for held in holders.values() for each in held):
        seen |= {gate.reference for gate in session.scalars(select(AliasGate))}

    def hide_foreign(holder: Holder) -> Holder:
        if holder.id in seen or holder.kind not in (*_TABLES, GATE):
            return holder
        # The id of a gate contains the name of a model.
        return _foreign_holder(holder.kind, GATE if holder.kind == GATE else holder.id)

    return {object_id: list(map(hide_foreign, held)) for object_id, held in holders.items()}


def _foreign_holder(kind: str, id: str) -> Holder:
    return Holder(kind, id, kind, "belongs to another project")


def _held_by_status(nodes: Iterable[Node]) -> Iterator[tuple[str, Holder]]:
    """Yield the objects whose own status prevents their deletion, such as running jobs."""
    for node in nodes:
        if node.status in node.kind.active:
            yield node.id, Holder(node.kind.name, node.id, node.name, f"is {node.status}")


def _holders_of_systems(
    session: Session, graph: DependencyGraph, systems: Mapping[str, Node], active: ActiveJobs
) -> Iterator[tuple[str, Holder]]:
    aliases = select(ModelAlias.name, ModelAlias.alias, ModelAlias.model_id)
    for name, alias, model_id in session.execute(aliases.where(ModelAlias.model_id.in_(systems))):
        reference = f"{name}@{alias}"
        yield model_id, Holder("alias", reference, reference, f"points at {systems[model_id].name}")
    pairs = graph.comparisons_of(systems)
    comparisons = graph.find(KINDS[COMPARISON], {comparison_id for comparison_id, _ in pairs})
    for comparison_id, system_id in pairs:
        if comparison_id in comparisons:
            label = comparisons[comparison_id].name
            yield system_id, Holder(COMPARISON, comparison_id, label, f"includes {systems[system_id].name}")
    named = {object_id: object_id for object_id in systems}
    named |= {node.name: object_id for object_id, node in systems.items() if node.kind.name == MODEL}
    for name, holder in active.holders(session, named):
        yield named[name], holder
    of_models = select(Interleaving.id, Interleaving.name, Interleaving.model_ids)
    for object_id, title, model_ids in session.execute(of_models.where(Interleaving.model_ids.is_not(None))):
        for model_id in systems.keys() & set(model_ids or ()):
            yield model_id, Holder("interleaving", object_id, title, f"includes {systems[model_id].name}")
    named |= _latest_versions(session, systems.values())
    for name, holder in _schedules(session, named_systems):
        if name in named:
            yield named[name], holder


def _latest_versions(session: Session, nodes: Iterable[Node]) -> dict[str, str]:
    """Return the ids of the given models that a name without a version refers to, by that name."""
    models = {node.name: node.id for node in nodes if node.kind.name == MODEL}
    names = {reference.rpartition(":")[0] for reference in models}
    latest = (
        select(Model.name, func.max(Model.version))
        .where(Model.name.in_(names), Model.deleted_at.is_(None))
        .group_by(Model.name)
    )
    versions = {name: f"{name}:{version}" for name, version in session.execute(latest)}
    return {name: models[reference] for name, reference in versions.items() if reference in models}


def _holders_of_datasets(session: Session, dataset_ids: list[str]) -> Iterator[tuple[str, Holder]]:
    if not dataset_ids:
        return
    using = select(JobDataset.dataset_id, Job.id, Job.title, Job.kind, Job.status).join(
        Job, Job.id == JobDataset.job_id
    )
    for dataset_id, job_id, title, kind, status in session.execute(
        using.where(JobDataset.dataset_id.in_(dataset_ids), Job.status.in_(ACTIVE))
    ):
        yield dataset_id, Holder(JOB, job_id, title or kind, f"is {status} and uses it")
    studies = select(Study.id, Study.name, Study.status, Study.spec).where(Study.status.in_(ACTIVE_STUDIES))
    experiments = select(Experiment.id, Experiment.paper, Experiment.status, Experiment.datasets).where(
        Experiment.status.in_(ACTIVE_EXPERIMENTS)
    )
    for kind, active in (("study", studies), ("experiment", experiments)):
        for object_id, name, status, stored in session.execute(active):
            # Their next jobs may not be queued yet, and a paused study may have no active job.
            for dataset_id in set(named_datasets(stored)).intersection(dataset_ids):
                yield dataset_id, Holder(kind, object_id, name, f"is {status} and uses it")
    for dataset_id, holder in _schedules(session, named_datasets):
        if dataset_id in dataset_ids:
            yield dataset_id, holder
    for gate in session.scalars(select(AliasGate)):
        for dataset_id in gate.dataset_ids & set(dataset_ids):
            yield dataset_id, Holder(GATE, gate.reference, gate.reference, "compares versions on it")


def _holders_of_click_logs(
    session: Session, log_ids: list[str], active: ActiveJobs
) -> Iterator[tuple[str, Holder]]:
    if not log_ids:
        return
    yield from active.holders(session, log_ids)
    for log_id, holder in _schedules(session, named_click_logs):
        if log_id in log_ids:
            yield log_id, holder
    for gate in session.scalars(select(AliasGate)):
        for used_id in gate.click_log_ids & set(log_ids):
            yield used_id, Holder(GATE, gate.reference, gate.reference, "compares versions on it")


def _schedules(session: Session, named_in: Callable[[Any], Iterator[str]]) -> Iterator[tuple[str, Holder]]:
    """Yield each schedule once for each name in its job."""
    for schedule_id, title, requested in session.execute(select(Schedule.id, Schedule.name, Schedule.job)):
        holder = Holder("schedule", schedule_id, title, "uses it in every run")
        yield from ((name, holder) for name in set(named_in(requested)))


def _holders_of_jobs(session: Session, job_ids: list[str]) -> Iterator[tuple[str, Holder]]:
    trials = select(Study.id, Study.name, Trial.job_id).join(Trial, Trial.study_id == Study.id)
    for object_id, name, job_id in session.execute(trials.where(Trial.job_id.in_(job_ids))):
        yield job_id, Holder("study", object_id, name, "has it as a trial")
    trained = (Study.default_job_id, Study.winner_job_id, Study.conclude_job_id)
    rows = select(Study.id, Study.name, *trained).where(or_(*(column.in_(job_ids) for column in trained)))
    for study_id, name, *result_ids in session.execute(rows):
        for job_id in {each for each in result_ids if each in job_ids}:
            yield job_id, Holder("study", study_id, name, "concludes from it")
    needed = (ExperimentTraining.job_id, ExperimentTraining.evaluation_job_id)
    reported = select(Experiment.id, Experiment.paper, *needed, Experiment.report_job_id).outerjoin(
        ExperimentTraining, ExperimentTraining.experiment_id == Experiment.id
    )
    conditions = (column.in_(job_ids) for column in (*needed, Experiment.report_job_id))
    for object_id, paper, *result_ids in session.execute(reported.where(or_(*conditions))):
        for job_id in {each for each in result_ids if each in job_ids}:
            yield job_id, Holder("experiment", object_id, paper, "reports on it")
