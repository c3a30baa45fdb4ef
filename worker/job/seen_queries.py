"""Warn of metrics on queries that a model was trained on, according to its lineage."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.data.folds import HoldOut
from core.doctor.report import Finding
from core.jobs.base_training import BaseTrainingJob, HeldOutDataset
from core.store import Model, Transaction


@dataclass(frozen=True)
class MeasuredQueries:
    """Queries on which models are measured.

    Attributes:
        held_out_by: Stored fields of a training, with their values, that hold these queries out of the
            dataset; none for all queries of the dataset.
    """

    dataset_id: str
    held_out_by: Mapping[str, Any] = field(default_factory=dict)


def test_queries(job: BaseTrainingJob) -> MeasuredQueries | None:
    """Return the test queries of a training, or None."""
    if job.test is not None:
        return _held_out(job, "test")
    test_id = job.dataset_ids.get("test")
    return MeasuredQueries(test_id) if test_id else None


def validation_queries(job: BaseTrainingJob) -> MeasuredQueries | None:
    """Return the validation queries of a training: those of all folds in a cross-validation, or None."""
    if job.validation is None:
        return None
    if isinstance(job.validation, HeldOutDataset):
        return MeasuredQueries(job.validation.dataset_id)
    if isinstance(job.validation, HoldOut):
        return _held_out(job, "test", "validation")
    return MeasuredQueries(job.dataset_id)


def _held_out(job: BaseTrainingJob, *parts: str) -> MeasuredQueries:
    stored = job.to_json()
    are_random = any(stored[name] and getattr(job, name).is_random for name in parts)
    names = (*parts, "seed") if are_random else parts
    return MeasuredQueries(job.dataset_id, {name: stored[name] for name in names})


def has_seen(tx: Transaction, model: Model, queries: MeasuredQueries) -> bool | None:
    """Return whether a model, or a model that it contains, was trained on these queries.

    None if this is unknown because a contained model was deleted.
    """
    lineage = model.lineage or {}
    contained = {each["id"] for each in (lineage.get("init_model"), *(lineage.get("members") or ())) if each}
    rows = tx.models.get_many(contained)
    spec, held_out_by = lineage.get("spec", {}), queries.held_out_by
    is_held_out = held_out_by and all(spec.get(name) == value for name, value in held_out_by.items())
    if not is_held_out and _was_trained_on(tx, model, queries.dataset_id):
        return True
    seen = {has_seen(tx, row, queries) for row in rows.values()}
    if True in seen:
        return True
    return None if None in seen or len(rows) < len(contained) else False


def _was_trained_on(tx: Transaction, model: Model, dataset_id: str) -> bool:
    """Return whether a model was trained on a dataset, or on another upload of the same content."""
    trained = ((model.lineage or {}).get("datasets") or {}).get("train") or {}
    digests = {trained.get("digest"), tx.datasets.get(dataset_id).digest}
    return model.dataset_id == dataset_id or (len(digests) == 1 and None not in digests)


def seen_findings(
    tx: Transaction, models: Iterable[Model], queries: MeasuredQueries, part: str
) -> Iterator[Finding]:
    """Report models that were, or may have been, trained on queries on which they are measured.

    Args:
        tx: Transaction that reads models and datasets.
        part: Name of the queries in the title, as `this dataset`.
    """
    for model in models:
        seen = has_seen(tx, model, queries)
        if seen is not False:
            yield Finding(
                code="seen-queries",
                severity="warning",
                title=f"{model.reference} {'was' if seen else 'may have been'} trained on queries of {part}:"
                " metrics on them are too high",
                advice="Measure a model on queries that neither it nor a model that it contains was trained"
                " on: on another dataset, or on a test part that all their trainings hold out.",
                count=0,
                total=0,
                unit="queries",
            )
