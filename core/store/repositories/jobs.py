"""Stored jobs: queued, listed, labelled and cancelled by their users."""

import json
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, String, and_, exists, func, or_, select
from sqlalchemy.orm import aliased

from core.errors import NotFound, WrongState
from core.jobs import JobKind, title_of
from core.jobs.base import ACTIVE, CANCELLED, QUEUED, RUNNING
from core.jobs.measuring import named_systems
from core.store.repositories.job_claims import JobClaims, JobRecovery
from core.store.repositories.job_rows import CANCELLED_PROBLEM
from core.store.repositories.pages import (
    NEWEST_FIRST,
    Direction,
    Order,
    Page,
    WantedTags,
    order_of,
    with_tags,
)
from core.store.repositories.projects import NO_LABELS, Labels, Projects, changed_tags
from core.store.tables import Dataset, Job, JobDataset, Model, Ranking, Trial
from core.telemetry import current_trace_context

# Sort orders of earlier releases, which are still accepted.
ORDERS: Mapping[str, Order] = MappingProxyType(
    {
        "newest": NEWEST_FIRST,
        "oldest": Order(ascending=True),
        "longest": Order(Job.took_seconds.expression),
    }
)


class Jobs(JobClaims, JobRecovery):
    """Jobs within one transaction.

    Users queue, label, list and cancel them; workers claim them; the sweeper recovers jobs of lost workers.
    """

    columns = MappingProxyType(
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
    searched = (Job.title.expression,)

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
        """Queue a job, and protect its datasets from deletion until it ends.

        Args:
            dataset_ids: The datasets that it reads or makes.
            id: Its id, None for a new one.
            priority: Jobs of a higher priority are claimed first.
            key_id: The API key that submits it, None without authentication.
            labels: Name, notes, tags and project.

        Raises:
            NotFound: One of the datasets does not exist.
            InvalidInput: The caller is limited to other projects, or must select a project.
        """
        job = self._insert(
            id=id,
            kind=kind,
            status=QUEUED,
            spec=spec,
            priority=priority,
            key_id=key_id,
            title=labels.name or title_of(kind, spec),
            notes=labels.notes,
            tags=dict(labels.tags) if labels.tags else None,
            project=Projects(self._session).for_new_object(labels.project),
            trace_context=current_trace_context(),
        )
        # Lock the datasets against deletion before the commit, in a fixed order, so that transactions do not
        # deadlock.
        for dataset_id in sorted(set(dataset_ids)):
            if self._session.get(Dataset, dataset_id, with_for_update={"read": True}) is None:
                raise NotFound("dataset", dataset_id)
            self._session.add(JobDataset(job_id=job.id, dataset_id=dataset_id))
        self._session.flush()
        self._lock_systems(spec)
        return job

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
        dataset_id: str | None = None,
        object_id: str | None = None,
        tags: WantedTags = (),
        text: str | None = None,
        job_ids: Collection[str] | None = None,
        folded: bool = False,
        **wanted: Any,
    ) -> Page[Job]:
        """List jobs as `Repository.page` does.

        Args:
            cursor: Cursor of the page, None for the first page.
            limit: Maximum number of rows.
            prefix: Only jobs whose name or id begins with it, ignoring case.
            sort: One of `columns` or of `ORDERS`.
            dataset_id: Only jobs that read or make this dataset.
            object_id: Only jobs whose specification has this id.
            tags: Names of tags with their required value, None for any value.
            text: Only jobs whose name contains this text, ignoring case, or whose id is this text.
            folded: Whether to leave out the jobs that try candidates for automatic trainings, and all trials
                of each study except the last.
            wanted: Only rows with these values, by column.
        """
        rows = with_tags(self._select(prefix, **wanted), Job.tags, tags)
        if dataset_id is not None:
            using = select(JobDataset.job_id).where(JobDataset.dataset_id == dataset_id)
            rows = rows.where(Job.id.in_(using))
        if object_id is not None:
            rows = rows.where(Job.specification_has(json.dumps(object_id)))
        if text is not None:
            rows = rows.where(or_(Job.title.icontains(text, autoescape=True), Job.id == text))
        if job_ids is not None:
            rows = rows.where(Job.id.in_(job_ids))
        if folded:
            rows = rows.where(Job.kind != JobKind.TRY_CANDIDATES, ~_has_later_trial())
        order = ORDERS.get(sort) or order_of(self.columns, sort, direction)
        return self._take(rows, cursor, limit, order)

    def get_many(self, job_ids: Collection[str]) -> list[Job]:
        """Return the jobs of some ids in the order of the ids, without those that do not exist."""
        jobs = {job.id: job for job in self._session.scalars(select(Job).where(Job.id.in_(job_ids)))}
        return [jobs[job_id] for job_id in dict.fromkeys(job_ids) if job_id in jobs]

    def label(self, id: str, changes: Mapping[str, str | None], tags: Mapping[str, str | None]) -> Job:
        """Change the labels of a job.

        Args:
            changes: New `name`, `notes` or `project`; a name of None restores the default title.
            tags: Tags to set; None removes a tag.

        Raises:
            InvalidInput: It would have too many tags, or the caller is limited to other projects.
        """
        job = self.locked(id)  # so that concurrent changes do not overwrite each other
        # Refuse invalid labels before the first change, since bulk changes commit despite refused jobs.
        new_tags = changed_tags(job.tags, tags) or None
        if "project" in changes:
            Projects(self._session).move_job(job, changes["project"])
        if "name" in changes:
            job.title = changes["name"] or title_of(job.kind, job.spec)
        if "notes" in changes:
            job.notes = changes["notes"]
        if tags:
            job.tags = new_tags
        self._session.flush()
        return job

    def request_cancel(self, id: str) -> Job:
        """Cancel a queued job immediately, or request the cancellation of a running one.

        Raises:
            WrongState: The job has already ended.
        """
        job = self.locked(id)
        if job.status == QUEUED:
            self._change_status(id, QUEUED, CANCELLED, problem=CANCELLED_PROBLEM, cancel_requested=True)
            self._delete_artifacts_later(job)
        elif job.status == RUNNING:
            job.cancel_requested = True
            self._session.flush()
        else:
            raise WrongState("job", id, job.status, "it has already ended")
        return job

    def cancel_active(self, job_ids: Iterable[str]) -> list[Job]:
        """Cancel jobs as `request_cancel`; return those that had not ended.

        Raises:
            NotFound: A job does not exist.
        """
        # Jobs are locked in a fixed order, so that requests do not deadlock.
        return [self.request_cancel(each) for each in sorted(job_ids) if self.locked(each).status in ACTIVE]

    def _lock_systems(self, spec: dict[str, Any]) -> None:
        """Lock the models and rankings of a job's specification against deletion before the commit."""
        references = set(named_systems(spec))
        versions = [each.rpartition(":") for each in references if ":" in each]
        named_versions = [
            and_(Model.name == name, Model.version == int(version))
            for name, _, version in versions
            if version.isdecimal()
        ]
        models = select(Model.id).where(or_(Model.id.in_(references), *named_versions)).order_by(Model.id)
        rankings = select(Ranking.id).where(Ranking.id.in_(references)).order_by(Ranking.id)
        for rows in (models, rankings) if references else ():
            self._session.execute(rows.with_for_update(read=True))


def _has_later_trial() -> ColumnElement[bool]:
    """Return the condition that a job is a trial of a study that has later trials."""
    own, later = aliased(Trial), aliased(Trial)
    is_later = (later.study_id == own.study_id, later.number > own.number)
    return exists().where(own.job_id == Job.id, *is_later)
