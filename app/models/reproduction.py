"""Jobs that reproduce a training."""

from core.errors import NotFound, WrongState
from core.jobs.auto_train import AutoTrainJob
from core.jobs.train import ReproduceJob
from core.store import Model, Transaction


def reproduction(tx: Transaction, model: Model) -> ReproduceJob:
    """Build the job that reproduces the training of a model.

    Raises:
        WrongState: The model was imported or is of an automatic training, or one of its datasets was deleted.
    """
    if model.source == "imported":
        detail = "only a model that was trained here can be trained again"
        raise WrongState("model", model.reference, "imported", detail)
    # A model without a lineage was made before lineages were stored: use the request of its job.
    request = model.lineage["spec"] if model.lineage else tx.jobs.get(model.job_id).spec
    if request.get("kind") == AutoTrainJob.kind:
        detail = "the result depends on running times; submit an automatic training instead"
        raise WrongState("model", model.reference, "made by an automatic training", detail)
    spec = ReproduceJob.from_json({**request, "model_id": model.id, "system": model.reference})
    for dataset_id in spec.dataset_ids.values():
        _require_dataset(tx, model, dataset_id)
    return spec


def _require_dataset(tx: Transaction, model: Model, dataset_id: str) -> None:
    try:
        tx.datasets.get(dataset_id)
    except NotFound as missing:
        detail = f"its dataset {dataset_id} was deleted; it cannot be trained again"
        raise WrongState("model", model.reference, "without its data", detail) from missing
