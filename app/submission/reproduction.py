"""Trainings that are to be carried out again."""

from app.submission.resolved import Resolved
from core.errors import NotFound, WrongState
from core.store import Model, Transaction

# What says how it was queued and what was measured beside it, none of which decides the model.
_ASIDE = {"model_name", "test_dataset_id", "diagnostics", "limits", "priority"}


def reproduction(tx: Transaction, model: Model) -> Resolved:
    """Return the job that trains a model again as it was trained.

    Raises:
        WrongState: It was not trained here, or a dataset that decides it is gone.
    """
    if model.source == "imported":
        detail = "only a model that was trained here can be trained again"
        raise WrongState("model", model.reference, "imported", detail)
    # Of a model from before lineages were kept, its job still knows what was asked for.
    asked = model.lineage["spec"] if model.lineage else tx.jobs.get(model.job_id).spec
    spec = {name: value for name, value in asked.items() if name not in _ASIDE}
    validation = (spec.get("validation") or {}).get("dataset_id")
    dataset_ids = [dataset_id for dataset_id in (spec["dataset_id"], validation) if dataset_id]
    for dataset_id in dataset_ids:
        _require(tx, model, dataset_id)
    return Resolved(
        {**spec, "kind": "reproduce", "model_id": model.id, "system": model.reference}, dataset_ids
    )


def _require(tx: Transaction, model: Model, dataset_id: str) -> None:
    try:
        tx.datasets.get(dataset_id)
    except NotFound as missing:
        detail = f"{dataset_id}, which it was trained with, was deleted; it cannot be trained again"
        raise WrongState("model", model.reference, "without its data", detail) from missing
