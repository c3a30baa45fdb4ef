"""Check requests to inspect a model."""

from collections.abc import Iterable, Sequence

from app.jobs.requests.inspecting import InspectRequest
from app.jobs.submission.checks import (
    check_dataset_labels,
    conventions_of,
    label_map_problems,
    metric_without_differences,
    require_ready,
)
from app.jobs.submission.measuring import check_features, model_named
from core.errors import InputProblem, InvalidInput
from core.jobs.inspect import InspectJob
from core.store import Transaction


def inspection(tx: Transaction, request: InspectRequest) -> InspectJob:
    """Check a request to inspect a model, and return its job specification.

    Raises:
        InvalidInput: The request is invalid.
        NotFound: The dataset or model does not exist.
        WrongState: The dataset is not ready.
    """
    problems = [*metric_without_differences("/metric", request.metric)]
    contract = conventions_of(request.contract, problems)
    system = model_named(tx, request.model)
    model_features = tx.models.get(system["model_id"]).feature_names
    problems += [
        *label_map_problems(request.label_map),
        *_feature_problems(request.partial_dependence.features or [], model_features),
    ]
    if problems:
        raise InvalidInput(*problems)
    (dataset,) = require_ready(tx, [request.dataset_id])
    check_features(dataset, [system])
    check_dataset_labels(dataset, request.label_map, None, [request.metric], contract)
    return InspectJob.from_json({**request.model_dump(mode="json"), **system, "contract": contract.to_json()})


def _feature_problems(names: Sequence[str], model_features: Sequence[str]) -> Iterable[InputProblem]:
    valid_names = set(model_features)
    for i, name in enumerate(names):
        pointer = f"/partial_dependence/features/{i}"
        if name not in valid_names:
            yield InputProblem(
                pointer, f"the model has no feature {name[:40]!r}; its `feature_names` list all features"
            )
        elif name in names[:i]:
            yield InputProblem(pointer, f"{name[:40]!r} is listed twice")
