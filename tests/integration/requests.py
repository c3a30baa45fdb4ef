"""Requests and notebooks that several tests send."""

from collections.abc import Iterable
from typing import Any, TypeVar

import nbformat

Value = TypeVar("Value")


def not_none(value: Value | None) -> Value:
    """Return a value of a response that must not be None."""
    assert value is not None
    return value


def notebook_of(sources: Iterable[str]) -> Any:
    """Return a notebook with these code cells."""
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [code | {"source": source} for source in sources]
    notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
    return nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]


def train_job(datasets: dict[str, str], *, model_name: str, num_iterations: int) -> dict[str, Any]:
    """Return a training request with validation and test data."""
    return {
        "kind": "train",
        "model_name": model_name,
        "dataset_id": datasets["train"],
        "validation": {"dataset_id": datasets["validation"]},
        "test_dataset_id": datasets["test"],
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": num_iterations, "min_data_in_leaf": 5},
        "metrics": ["ndcg@5", "ndcg@10"],
    }
