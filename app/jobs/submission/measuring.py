"""Check requests to evaluate, rank, compare and inspect, and to detect drift.

The errors are those of `app.jobs.submission.submit`.
"""

from collections.abc import Iterable, Sequence

from app.http.pointers import problems_of
from app.http.schemas import Json
from app.jobs.requests.measuring import (
    CompareRequest,
    DriftRequest,
    EvaluateRequest,
    InspectRequest,
    ModelSystem,
    RankDatasetRequest,
    RankingSystem,
)
from app.jobs.submission import checks
from core.drift import smallest_p
from core.errors import InputProblem, InvalidInput
from core.jobs.drift import DriftJob
from core.jobs.measuring import CompareJob, EvaluateJob, InspectJob, RankJob
from core.losses import check_combination, loss_values, make_loss, seeded
from core.metrics import Conventions
from core.store import Dataset, Transaction


def resolve_evaluation(tx: Transaction, request: EvaluateRequest) -> EvaluateJob:
    """Check a request to evaluate a model or a ranking, and return its job specification."""
    problems = []
    if (request.model is None) == (request.ranking_id is None):
        problems.append(InputProblem("/model", "name either a model or a ranking_id"))
    if request.diagnostics is not None:
        if request.model is None:
            problems.append(InputProblem("/diagnostics", "needs a model; a ranking has no gradient"))
        requested_loss = request.diagnostics.loss.model_dump(mode="json")
        problems += problems_of(lambda: check_combination(make_loss(**requested_loss)), "/diagnostics/loss")
    contract = _checked_contract(request, problems)
    if request.model is not None:
        system = resolve_model(tx, request.model)
    else:
        system = _ranking_fields(tx, RankingSystem(ranking_id=str(request.ranking_id)))
    _check_data(tx, request, contract, [system])
    spec = {**request.model_dump(mode="json"), **system, "contract": contract.to_json()}
    if spec["diagnostics"] is not None:
        loss = make_loss(**spec["diagnostics"]["loss"])
        spec["diagnostics"]["loss"] = loss_values(seeded(loss, request.seed))
    return EvaluateJob.from_json(spec)


def resolve_ranking(tx: Transaction, request: RankDatasetRequest) -> RankJob:
    """Check a request to rank a dataset, and return its job specification."""
    system = resolve_model(tx, request.model)
    (dataset,) = checks.require_ready(tx, [request.dataset_id])
    check_features(dataset, [system])
    return RankJob.from_json({**request.model_dump(mode="json"), **system})


def resolve_comparison(tx: Transaction, request: CompareRequest) -> CompareJob:
    """Check a request to compare systems, and return its job specification."""
    problems = []
    if request.reference is not None and request.reference >= len(request.systems):
        problems.append(
            InputProblem("/reference", f"must be below {len(request.systems)}, the number of systems")
        )
    contract = _checked_contract(request, problems)
    systems = [
        _fold_ranking(tx, request, index, system)
        if request.pool_folds and isinstance(system, ModelSystem)
        else _system_fields(tx, system)
        for index, system in enumerate(request.systems)
    ]
    _name_uniquely(systems)
    _check_data(tx, request, contract, systems)
    spec = {**request.model_dump(mode="json"), "systems": systems, "contract": contract.to_json()}
    return CompareJob.from_json(spec)


def _checked_contract(request: EvaluateRequest | CompareRequest, problems: list[InputProblem]) -> Conventions:
    contract = checks.conventions_of(request.contract, problems)
    is_comparison = isinstance(request, CompareRequest)
    of_metric = checks.compared_metric_problems if is_comparison else checks.metric_problems
    problems += [
        *checks.repeated_metric_problems(request.metrics),
        *(problem for i, name in enumerate(request.metrics) for problem in of_metric(f"/metrics/{i}", name)),
        *checks.label_map_problems(request.label_map),
    ]
    if problems:
        raise InvalidInput(*problems)
    return contract


def _check_data(
    tx: Transaction, request: EvaluateRequest | CompareRequest, contract: Conventions, systems: list[Json]
) -> None:
    (dataset,) = checks.require_ready(tx, [request.dataset_id])
    check_features(dataset, systems)
    checks.check_dataset_labels(dataset, request.label_map, None, request.metrics, contract)


def check_features(dataset: Dataset, systems: list[Json]) -> None:
    """Refuse models on a dataset of judgments without features."""
    if checks.has_no_features(dataset) and any("model_id" in system for system in systems):
        raise InvalidInput.at(
            "/dataset_id", "has judgments without features; pass existing rankings instead of models"
        )


def resolve_systems(tx: Transaction, requested: Sequence[ModelSystem | RankingSystem]) -> list[Json]:
    """Return the systems for a job specification, with unique names."""
    systems = [_system_fields(tx, system) for system in requested]
    _name_uniquely(systems)
    return systems


def _system_fields(tx: Transaction, system: ModelSystem | RankingSystem) -> Json:
    return resolve_model(tx, system.model) if isinstance(system, ModelSystem) else _ranking_fields(tx, system)


def resolve_model(tx: Transaction, ref: str) -> Json:
    """Return the fields of a model in a job specification."""
    model = tx.models.resolve(ref)
    return {"model": ref, "model_id": model.id, "system": model.reference}


def _ranking_fields(tx: Transaction, system: RankingSystem) -> Json:
    return {"ranking_id": system.ranking_id, "system": tx.rankings.get(system.ranking_id).system}


def _fold_ranking(tx: Transaction, request: CompareRequest, index: int, system: ModelSystem) -> Json:
    """Return the ranking of the training data by the models of a cross-validation."""
    model = tx.models.resolve(system.model)
    folds = (model.validation or {}).get("cross_validation")
    if folds is None:
        raise InvalidInput.at(
            f"/systems/{index}/model", "was not cross-validated; train it with folds as validation"
        )
    trained_on = ((model.lineage or {}).get("datasets") or {}).get("train") or {}
    dataset = tx.datasets.get(request.dataset_id)
    if dataset.id != model.dataset_id and (not dataset.digest or dataset.digest != trained_on.get("digest")):
        raise InvalidInput.at(f"/systems/{index}/model", "was cross-validated on another dataset")
    return _ranking_fields(tx, RankingSystem(ranking_id=folds["ranking_id"]))


def _name_uniquely(systems: list[Json]) -> None:
    """Refuse a duplicate system, and add the id to ambiguous ranking names."""
    system_ids = [system.get("model_id") or system["ranking_id"] for system in systems]
    problems = [
        InputProblem(f"/systems/{i}", "is listed twice")
        for i, system_id in enumerate(system_ids)
        if system_id in system_ids[:i]
    ]
    if problems:
        raise InvalidInput(*problems)
    names = [system["system"] for system in systems]
    for system, system_id, name in zip(systems, system_ids, names, strict=True):
        if names.count(name) > 1:
            system["system"] = f"{name} ({system_id})"


def resolve_inspection(tx: Transaction, request: InspectRequest) -> InspectJob:
    """Check a request to inspect a model, and return its job specification."""
    problems = [*checks.compared_metric_problems("/metric", request.metric)]
    contract = checks.conventions_of(request.contract, problems)
    system = resolve_model(tx, request.model)
    model_features = tx.models.get(system["model_id"]).feature_names
    problems += [
        *checks.label_map_problems(request.label_map),
        *_feature_problems(request.partial_dependence.features or [], model_features),
    ]
    if problems:
        raise InvalidInput(*problems)
    (dataset,) = checks.require_ready(tx, [request.dataset_id])
    check_features(dataset, [system])
    checks.check_dataset_labels(dataset, request.label_map, None, [request.metric], contract)
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


def resolve_drift(tx: Transaction, request: DriftRequest) -> DriftJob:
    """Check a request for a drift report, and return its job specification."""
    system = resolve_model(tx, request.model)
    model = tx.models.get(system["model_id"])
    datasets = DriftJob.reference_datasets(
        request.dataset_id, model.dataset_id, model.lineage, tx.datasets.exists
    )
    (dataset,) = checks.require_ready(tx, [datasets["dataset_id"]])
    if checks.has_no_features(dataset):
        raise InvalidInput.at(
            "/dataset_id", "has judgments without features, but drift is measured on features"
        )
    job = DriftJob.from_json({**request.model_dump(mode="json"), **system, **datasets})
    least = smallest_p(job.n_comparisons)
    if job.thresholds.p < least:
        raise InvalidInput.at(
            "/thresholds/p", f"must be at least {least:g}, the smallest probability that a report can show"
        )
    return job
