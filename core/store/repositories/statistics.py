"""Counts of stored objects for monitoring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.jobs.status import ACTIVE, STATUSES
from core.store.tables import (
    ClickLog,
    Comparison,
    Dataset,
    DriftReport,
    Evaluation,
    Experiment,
    Inspection,
    Interleaving,
    Job,
    Model,
    Ranking,
    ScoreSamples,
    Study,
    Upload,
)

_COUNTED: Mapping[str, Any] = MappingProxyType(
    {
        "datasets": Dataset.id,
        "click-logs": ClickLog.id,
        "models": Model.id,
        "rankings": Ranking.id,
        "evaluations": Evaluation.id,
        "comparisons": Comparison.id,
        "inspections": Inspection.id,
        "drift-reports": DriftReport.id,
        "interleavings": Interleaving.id,
        "score-samples": ScoreSamples.id,
        "experiments": Experiment.id,
        "studies": Study.id,
        "jobs": Job.id,
        "uploads": Upload.id,
    }
)


@dataclass(frozen=True)
class ActiveJobCount:
    """The number of active jobs by kind, status and priority.

    Attributes:
        kind: Kind of the jobs.
        status: `queued` or `running`.
        priority: Priority of the jobs.
        number: Number of jobs.
        oldest_at: Time at which the oldest was submitted.
    """

    kind: str
    status: str
    priority: int
    number: int
    oldest_at: datetime


@dataclass(frozen=True)
class StoredCount:
    """The count and size of one kind of object.

    Attributes:
        status: Status of datasets, empty for models.
        number: Number of objects.
        size_bytes: Bytes of the datasets as sent, or of the files of the models.
    """

    status: str
    number: int
    size_bytes: int


class Statistics:
    """Counts within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def active_jobs(self) -> Sequence[ActiveJobCount]:
        """Count the jobs that have not ended."""
        groups = (Job.kind, Job.status, Job.priority)
        rows = select(*groups, func.count(), func.min(Job.created_at)).where(Job.status.in_(ACTIVE))
        return [ActiveJobCount(*row) for row in self._session.execute(rows.group_by(*groups))]

    def jobs(self) -> dict[str, int]:
        """Count the jobs by status, including zeros."""
        rows = select(Job.status, func.count()).group_by(Job.status)
        return dict.fromkeys(STATUSES, 0) | dict(iter(self._session.execute(rows)))

    def object_counts(self) -> dict[str, int]:
        """Count datasets, models, evaluations, comparisons and rankings by table."""
        tables = (Dataset, Model, Evaluation, Comparison, Ranking)
        counts = (select(func.count()).select_from(table).scalar_subquery() for table in tables)
        row = self._session.execute(select(*counts)).one()
        return dict(zip((table.__tablename__ for table in tables), row, strict=True))

    def datasets(self) -> Sequence[StoredCount]:
        """Count the datasets by status."""
        rows = select(Dataset.status, func.count(), func.sum(Dataset.size_bytes)).group_by(Dataset.status)
        return [
            StoredCount(status, number, int(size_bytes or 0))
            for status, number, size_bytes in self._session.execute(rows)
        ]

    def models(self) -> StoredCount:
        """Count the models."""
        number, size_bytes = self._session.execute(
            select(func.count(), func.sum(Model.size_bytes)).select_from(Model)
        ).one()
        return StoredCount("", number, int(size_bytes or 0))

    def by_kind(self) -> dict[str, int]:
        """Count the objects outside the trash by the kinds of `core.store.lifecycle.storage`."""
        counted = {
            name: self._session.scalar(select(func.count(column))) or 0 for name, column in _COUNTED.items()
        }
        contents = select(func.count(Dataset.data_key.distinct()))
        return counted | {"data": self._session.scalar(contents) or 0}
