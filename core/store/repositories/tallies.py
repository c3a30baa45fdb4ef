"""Monotonic counters in the database, shared by all processes."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from core.store.tables import Tally

_ROWS = cast("Table", Tally.__table__)
_CHANGES = "changes"


@dataclass(frozen=True)
class Count:
    """The value of a counter.

    Attributes:
        name: What is counted.
        labels: Which of those.
        value: How many, or how much.
    """

    name: str
    labels: Mapping[str, str]
    value: float


class Tallies:
    """Counters within one transaction.

    What is added is written by one statement just before the commit: two transactions that count the same
    things then never wait for each other while either has work to do, nor in opposite orders.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._added: Counter[tuple[str, str]] = Counter()

    def add(self, name: str, labels: Mapping[str, str] | None = None, amount: float = 1) -> None:
        """Count something; undone with the transaction.

        Raises:
            ValueError: The amount is negative, and counters only grow.
        """
        if amount < 0:
            raise ValueError(f"{name} cannot grow by {amount}")
        self._added[name, json.dumps(dict(labels or {}), sort_keys=True)] += amount  # type: ignore[assignment]

    def add_change(self) -> None:
        """Count a transaction that changed what pages show."""
        self.add(_CHANGES)

    def changes(self) -> int:
        """Return how many transactions changed what pages show."""
        row = select(_ROWS.c.value).where(_ROWS.c.name == _CHANGES)
        return int(self._session.scalar(row) or 0)

    def write(self) -> None:
        """Write the added counts; called at the end of a transaction."""
        if not self._added:
            return
        rows = [
            {"name": name, "labels": labels, "value": float(amount)}
            for (name, labels), amount in sorted(self._added.items())
        ]
        # The same words on both databases, but SQLAlchemy has them once for each.
        dialect = import_module(f"sqlalchemy.dialects.{self._session.get_bind().dialect.name}")
        insert = dialect.insert(_ROWS).values(rows)
        total = {"value": _ROWS.c.value + insert.excluded.value}
        self._session.execute(insert.on_conflict_do_update(index_elements=["name", "labels"], set_=total))
        self._added.clear()

    def all(self) -> list[Count]:
        """List the stored counters by name and labels, without that of changes."""
        counted = select(_ROWS).where(_ROWS.c.name != _CHANGES)
        rows = self._session.execute(counted.order_by(_ROWS.c.name, _ROWS.c.labels))
        return [Count(row.name, json.loads(row.labels), row.value) for row in rows]
