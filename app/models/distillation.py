"""Train again: distil a model into a forest, which every search engine can read, or reproduce a training."""

from typing import Any

from pydantic import Field

from app.http.pointers import validated
from app.http.schemas import Id, ModelName
from app.jobs.requests.fields import DEFAULT_METRICS, MetricNames, QueuedRequest
from app.jobs.requests.training import FeatureChoiceRequest, TrainRequest
from core.errors import InvalidInput, NotFound, WrongState
from core.jobs.auto_train import AutoTrainJob
from core.jobs.train import ReproduceJob
from core.store import Model, Transaction
from core.stored import Json
from core.training.distillation import PREFIX


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


_SUFFIX, _MAX_NAME_LENGTH = "-distilled", 90  # limit of the teacher's name before the suffix
_HELD_OUT, _SEED = {"fraction": 0.2}, 42
# Many small trees approximate a smooth teacher more closely than fewer large trees.
_LEAVES, _ITERATIONS, _MIN_DOCUMENTS = 15, 1_000, 5


class DistilRequest(QueuedRequest):
    """Train a forest on the scores of a model; all fields have defaults."""

    model_name: ModelName | None = Field(
        None, description="Name of the new model; the teacher's name with `-distilled` when null"
    )
    dataset_id: Id | None = Field(
        None,
        description="Dataset with documents for the teacher to score, judged or not; the teacher's training"
        " dataset when null",
    )
    test_dataset_id: Id | None = Field(
        None,
        description="Judged dataset to evaluate both models on; when null the teacher's test data, or else a"
        " fifth of the queries",
    )
    leaves: int = Field(_LEAVES, ge=2, le=4_096, description="Maximum number of leaves per tree")
    iterations: int = Field(_ITERATIONS, ge=1, le=10_000, description="Number of trees")
    metrics: MetricNames | None = Field(
        None,
        description="Metrics of the evaluation; the first one measures the loss of quality",
        examples=[None],
    )
    features: FeatureChoiceRequest | None = Field(
        None, description="Features of the forest; the teacher's features when null"
    )


def distillation(tx: Transaction, teacher: Model, body: DistilRequest) -> TrainRequest:
    """Build the request to train a forest with the loss `mse` on the scores of a model.

    Raises:
        InvalidInput: The model was imported, and the request names no dataset; or no training may have its
            features.
    """
    dataset_id = body.dataset_id or teacher.dataset_id
    if dataset_id is None:
        raise InvalidInput.at("/dataset_id", f"required: {teacher.reference} was imported without a dataset")
    teacher_spec: Json = teacher.lineage["spec"] if teacher.lineage else tx.jobs.get(teacher.job_id).spec
    queue_fields: dict[str, Any] = {name: getattr(body, name) for name in QueuedRequest.model_fields}
    metrics = (
        body.metrics or teacher_spec.get("metrics") or [teacher_spec.get("metric") or DEFAULT_METRICS[-1]]
    )
    features = body.features.model_dump() if body.features else {"use": list(teacher.feature_names)}
    return validated(
        TrainRequest,
        {
            **queue_fields,
            "kind": "train",
            "model_name": body.model_name or f"{teacher.name[:_MAX_NAME_LENGTH]}{_SUFFIX}",
            "dataset_id": dataset_id,
            "labels_from": PREFIX + teacher.reference,
            "loss": {"name": "mse"},
            "hyperparameters": {
                "num_leaves": body.leaves,
                "num_iterations": body.iterations,
                "min_data_in_leaf": _MIN_DOCUMENTS,
            },
            "features": features,
            "metrics": metrics,
            "metric_interval": body.iterations,
            "contract": teacher_spec.get("contract") or "default",
            "label_map": teacher_spec.get("label_map") or {},
            "seed": teacher_spec.get("seed", _SEED),
            **_test_data(tx, teacher_spec, body, is_other_dataset=dataset_id != teacher.dataset_id),
        },
    )


def _test_data(tx: Transaction, teacher_spec: Json, body: DistilRequest, *, is_other_dataset: bool) -> Json:
    """Return the test data fields: the requested ones, else the teacher's, else a part of the dataset."""
    if body.test_dataset_id is not None:
        return {"test_dataset_id": body.test_dataset_id}
    tested_on = teacher_spec.get("test_dataset_id")
    if tested_on is not None and tested_on != body.dataset_id and _is_ready(tx, tested_on):
        return {"test_dataset_id": tested_on}
    if teacher_spec.get("test") and not is_other_dataset:
        # The same seed gives the queries that the teacher was not trained on.
        return {"test": teacher_spec["test"]}
    return {"test": _HELD_OUT}


def _is_ready(tx: Transaction, dataset_id: str) -> bool:
    try:
        return tx.datasets.get(dataset_id).status == "ready"
    except NotFound:
        return False
