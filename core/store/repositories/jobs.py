"""Stored jobs: queued, labelled and cancelled by their users."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import and_, or_, select

from core.errors import NotFound, WrongState
from core.jobs import title_of
from core.jobs.status import CANCELLED, QUEUED, RUNNING
from core.jobs.systems import named_systems
from core.store.repositories import ids
from core.store.repositories.job_claims import JobClaims
from core.store.repositories.job_lists import JobLists
from core.store.repositories.job_recovery import JobRecovery
from core.store.repositories.job_rows import CANCELLED_PROBLEM
from core.store.repositories.projects import NO_LABELS, Labels, Projects
from core.store.repositories.rows import locked
from core.store.repositories.tags import changed_tags
from core.store.tables import Dataset, Job, JobDataset, Model, Ranking
from core.telemetry import current_trace_context


class Jobs(JobLists, JobClaims, JobRecovery):
    """Jobs within one transaction.

    Users queue, label, list and cancel them; workers claim them; the sweeper recovers those of lost workers.
    """

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
            kind: Kind of the job.
            spec: Its specification.
            dataset_ids: The datasets that it reads or makes.
            id: Its id, None for a new one.
            priority: Jobs of a higher priority are claimed first.
            key_id: The API key that submits it, where one is needed.
            labels: Name, notes, tags and project.

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
        # Locked against deletion before the commit; in one order everywhere, so that transactions do not
        # deadlock.
        for dataset_id in sorted(set(dataset_ids)):
            if self._session.get(Dataset, dataset_id, with_for_update={"read": True}) is None:
                raise NotFound("dataset", dataset_id)
            self._session.add(JobDataset(job_id=job.id, dataset_id=dataset_id))
        self._session.flush()
        self._lock_systems(spec)
        return job

    def label(self, id: str, changes: Mapping[str, str | None], tags: Mapping[str, str | None]) -> Job:
        """Change the labels of a job.

        Args:
            id: The job.
            changes: New `name`, `notes` or `project`; a name of None restores the default title.
            tags: Tags to set; None removes a tag.

        Raises:
            NotFound: There is no such job.
            InvalidInput: It would have too many tags, or the caller is limited to other projects.
        """
        # Locked, so that concurrent changes do not overwrite each other.
        job = locked(self._session, Job, "job", id)
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

    def request_cancel(self, id: str) -> Job:
        """Cancel a queued job immediately, or request the cancellation of a running one.

        Raises:
            NotFound: There is no such job.
            WrongState: It has already ended.
        """
        job = locked(self._session, Job, "job", id)
        if job.status == QUEUED:
            self._move(id, QUEUED, CANCELLED, problem=CANCELLED_PROBLEM, cancel_requested=True)
        elif job.status == RUNNING:
            job.cancel_requested = True
            self._session.flush()
        else:
            raise WrongState("job", id, job.status, "it has already ended")
        return job

    def _lock_systems(self, spec: dict[str, Any]) -> None:
        """Lock the models and rankings of a job's specification against deletion before the commit."""
        references = set(named_systems(spec))
        versions = [each.rpartition(":") for each in references if ":" in each]
        meant = [
            and_(Model.name == name, Model.version == int(version))
            for name, _, version in versions
            if version.isdecimal()
        ]
        models = select(Model.id).where(or_(Model.id.in_(references), *meant)).order_by(Model.id)
        rankings = select(Ranking.id).where(Ranking.id.in_(references)).order_by(Ranking.id)
        for rows in (models, rankings) if references else ():
            self._session.execute(rows.with_for_update(read=True))
