"""Lists of jobs: their filters and orders."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from sqlalchemy import String, func, or_, select

from core.store.repositories import ids
from core.store.repositories.job_rows import JobRows
from core.store.repositories.pages import (
    NEWEST_FIRST,
    Columns,
    Direction,
    Order,
    Page,
    Span,
    begins_with,
    narrowed,
    order_of,
)
from core.store.repositories.tags import WantedTags, with_tags
from core.store.tables import Job, JobDataset

COLUMNS: Columns = MappingProxyType(
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
# Sort orders of releases before lists were sorted by column.
ORDERS: Mapping[str, Order] = MappingProxyType(
    {
        "newest": NEWEST_FIRST,
        "oldest": Order(ascending=True),
        "longest": Order(COLUMNS["duration"]),
    }
)


class JobLists(JobRows):
    """Lists of jobs within one transaction."""

    def page(
        self,
        cursor: str | None,
        limit: int,
        status: str | None = None,
        kind: str | None = None,
        *,
        dataset_id: str | None = None,
        project: str | None = None,
        tags: WantedTags = (),
        text: str | None = None,
        prefix: str | None = None,
        job_ids: Collection[str] | None = None,
        sort: str = "created",
        direction: Direction | None = None,
    ) -> Page[Job]:
        """List a page of jobs.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            status: Only jobs with this status.
            kind: Only jobs of this kind.
            dataset_id: Only jobs that read or make this dataset.
            project: Only jobs of this project.
            tags: Names of tags with their required value, None for any value.
            text: Only jobs with this in their name, ignoring case, or of this id.
            prefix: Only jobs whose name or id begins with it, ignoring case.
            job_ids: Only these.
            sort: One of `COLUMNS` or of `ORDERS`.
            direction: Sort direction.
        """
        rows = narrowed(select(Job), status=status, kind=kind, project=project)
        rows = with_tags(rows, Job.tags, tags)
        if dataset_id is not None:
            using = select(JobDataset.job_id).where(JobDataset.dataset_id == dataset_id)
            rows = rows.where(Job.id.in_(using))
        if text is not None:
            rows = rows.where(or_(Job.title.icontains(text, autoescape=True), Job.id == text))
        if prefix is not None:
            rows = rows.where(begins_with(prefix, Job.title.expression, Job.id.expression))
        if job_ids is not None:
            rows = rows.where(Job.id.in_(job_ids))
        order = ORDERS.get(sort) or order_of(COLUMNS, sort, direction)
        return Span(cursor, limit).take(self._session, rows, Job.id, ids.JOB, order)

    def several(self, job_ids: Collection[str]) -> list[Job]:
        """Return the jobs of some ids in the order of the ids, without those that do not exist."""
        found = {job.id: job for job in self._session.scalars(select(Job).where(Job.id.in_(job_ids)))}
        return [found[job_id] for job_id in dict.fromkeys(job_ids) if job_id in found]
