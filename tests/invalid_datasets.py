"""Datasets that are invalid, as after the failure of their ingestion."""

from typing import Any

from core.store import Transaction


def mark_invalid(tx: Transaction, dataset_id: str, problem: dict[str, Any]) -> None:
    """Make a dataset invalid with the problem of a job."""
    dataset = tx.datasets.get(dataset_id)
    dataset.status, dataset.problem = "invalid", problem
