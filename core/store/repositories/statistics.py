"""Counts of stored objects, and monotonic counters that all processes share."""

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.jobs.base import ACTIVE, STATUSES
from core.store.repositories.repository import upsert
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
    StoredCounter,
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
        status: `queued` or `running`.
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
        """Count the objects outside the trash by plural of their kind; contents of datasets are `data`."""
        counted = {
            name: self._session.scalar(select(func.count(column))) or 0 for name, column in _COUNTED.items()
        }
        contents = select(func.count(Dataset.data_key.distinct()))
        return counted | {"data": self._session.scalar(contents) or 0}


_CHANGES = "changes"

JOB_ATTEMPTS = "job_attempts"
JOB_SECONDS = "job_seconds"
JOB_SECONDS_BUCKET = "job_seconds_bucket"
TRAINING_ITERATIONS = "training_iterations"
TRAINING_SECONDS = "training_seconds"
CACHE_HITS = "cache_hits"
CACHE_MISSES = "cache_misses"

# Upper bounds in seconds, from parsing a small file to training through a weekend.
_BOUNDS_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400, 259_200)
BOUNDS = (*(str(float(bound)) for bound in _BOUNDS_SECONDS), "+Inf")


@dataclass(frozen=True)
class Count:
    """The value of a counter.

    Attributes:
        value: Sum of the amounts added so far.
    """

    name: str
    labels: Mapping[str, str]
    value: float


class Counters:
    """Counters within one transaction.

    `write` writes all added amounts by one statement just before the commit. Transactions with the same
    counters therefore never deadlock, and hold the locks of these rows only briefly.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._added: Counter[tuple[str, str]] = Counter()

    def add(self, name: str, labels: Mapping[str, str] | None = None, amount: float = 1) -> None:
        """Add to a counter; a rollback of the transaction undoes it.

        Raises:
            ValueError: The amount is negative; counters only grow.
        """
        if amount < 0:
            raise ValueError(f"{name} cannot grow by {amount}")
        self._added[name, json.dumps(dict(labels or {}), sort_keys=True)] += amount  # type: ignore[assignment]

    def add_change(self) -> None:
        """Count a transaction that changed data shown on pages."""
        self.add(_CHANGES)

    def changes(self) -> int:
        """Return the number of transactions that changed data shown on pages."""
        row = select(StoredCounter.value).where(StoredCounter.name == _CHANGES)
        return int(self._session.scalar(row) or 0)

    def write(self) -> None:
        """Write the added counts; called at the end of a transaction."""
        if not self._added:
            return
        rows = [
            {"name": name, "labels": labels, "value": float(amount)}
            for (name, labels), amount in sorted(self._added.items())
        ]
        insert = upsert(self._session, StoredCounter).values(rows)
        total = {"value": StoredCounter.value + insert.excluded.value}
        self._session.execute(insert.on_conflict_do_update(index_elements=["name", "labels"], set_=total))
        self._added.clear()

    def all(self) -> list[Count]:
        """List the stored counters by name and labels, without the counter of changes."""
        rows = select(StoredCounter.name, StoredCounter.labels, StoredCounter.value)
        named = rows.where(StoredCounter.name != _CHANGES)
        ordered = named.order_by(StoredCounter.name, StoredCounter.labels)
        return [Count(row.name, json.loads(row.labels), row.value) for row in self._session.execute(ordered)]


def count_attempt(counters: Counters, kind: str, outcome: str) -> None:
    """Count one attempt by its outcome, such as `succeeded`, `lost` or `handed_back`."""
    counters.add(JOB_ATTEMPTS, {"kind": kind, "ending": outcome})


def count_job(counters: Counters, kind: str, status: str, seconds: float) -> None:
    """Count an ended job by outcome and duration.

    Each job is in one bucket, whose label is its upper bound in seconds; the last bucket has no bound.
    """
    seconds = max(0.0, seconds)  # clocks of two machines may disagree
    bound = BOUNDS[bisect_left(_BOUNDS_SECONDS, seconds)]
    counters.add(JOB_SECONDS_BUCKET, {"kind": kind, "status": status, "le": bound})
    counters.add(JOB_SECONDS, {"kind": kind, "status": status}, seconds)
