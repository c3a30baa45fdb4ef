"""Permanent deletion within a transaction of a test."""

from core.store import Transaction
from core.store.trash.holders import ActiveJobs
from core.store.trash.kinds import KINDS


def purge(tx: Transaction, kind: str, *ids: str) -> list[str]:
    """Delete objects without the trash, as `delete_objects` does; return the folders that are unused now."""
    plan = tx.trash.plan(KINDS[kind], ids, ActiveJobs(), with_results=False)
    assert (plan.refused, plan.missing) == ([], [])
    tx.trash.add_trashed(plan)
    tx.trash.purge(plan)
    return plan.folders
