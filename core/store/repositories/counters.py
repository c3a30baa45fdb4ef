"""Monotonic counters in the database, shared by all processes."""

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.store.repositories.repository import upsert
from core.store.tables import StoredCounter

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
        name: Name of the counter.
        labels: Its labels by name.
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
