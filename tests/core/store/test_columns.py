"""Columns return the values that were stored."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from core.store import Job, Store
from core.store.engines import open_engine
from core.store.tables.base import UtcDateTime


@pytest.mark.both_stores
def test_times_come_back_aware(store: Store, job: Job) -> None:
    """A time that is read is aware, in UTC and exact to the microsecond."""
    moment = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=timezone(timedelta(hours=2)))
    with store.begin() as tx:
        tx.jobs.to_wake(moment, 0)
    with store.read() as tx:
        woken_at = tx.jobs.get(job.id).woken_at
    assert woken_at == moment
    assert woken_at is not None
    assert woken_at.tzinfo is UTC


def test_naive_times_are_refused() -> None:
    """A naive time is ambiguous."""
    with pytest.raises(ValueError, match="has no time zone"):
        UtcDateTime().process_bind_param(datetime(2026, 1, 1), SQLiteDialect_pysqlite())


def test_postgresql_keeps_the_zone() -> None:
    """PostgreSQL gets an aware time, since it would read a naive one in the time zone of its session."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    dialect = open_engine("postgresql://db.invalid/rankery").dialect
    assert UtcDateTime().process_bind_param(moment, dialect) == moment


@pytest.mark.both_stores
def test_undefined_numbers_are_stored_as_null(store: Store, claimed: Job) -> None:
    """NaN and infinities, which JSON lacks, become null at any depth; other numbers stay."""
    values = {"train": {"ndcg@10": float("nan"), "map": 0.5, "list": [float("inf"), 1]}}
    with store.begin() as tx:
        tx.jobs.record(claimed.id, claimed.token, iterations=[(1, values)])
    with store.read() as tx:
        assert tx.jobs.iterations(claimed.id)[0].values == {
            "train": {"ndcg@10": None, "map": 0.5, "list": [None, 1]}
        }
