"""Promotion gates of aliases, and the jobs that apply them."""

from collections.abc import Iterator

from app.http.pointers import pointers_below
from app.http.schemas import Json
from app.jobs.submission import checks
from app.jobs.submission.clicks import checked_estimation
from app.models.alias_schemas import GateRequest
from core.errors import InputProblem, InvalidInput
from core.jobs import System
from core.jobs.promote import PromoteJob
from core.store import AliasGate, Dataset, Model, ModelAlias, Transaction


def gate_rule(tx: Transaction, request: GateRequest) -> Json:
    """Validate a gate and return its stored rule, with the contract resolved.

    Raises:
        InvalidInput: The gate is invalid, or the metric does not fit the labels of its dataset.
        NotFound: A dataset or the click log does not exist.
        WrongState: A dataset or the click log is not ready.
    """
    problems: list[InputProblem] = list(_field_problems(request))
    if request.metric is not None:
        problems += checks.compared_metric_problems("/metric", request.metric)
    contract = checks.conventions_of(request.contract, problems)
    problems += checks.label_map_problems(request.label_map)
    if problems:
        raise InvalidInput(*problems)
    if request.dataset_id is not None and request.metric is not None:
        dataset = _dataset_with_features(tx, request.dataset_id)
        checks.check_dataset_labels(dataset, request.label_map, None, [request.metric], contract)
    # Leave out unset fields: the previous release does not have them and refuses rules that do.
    unset = {name for name in ("better_than_baselines", "interleaving") if not getattr(request, name)}
    rule = request.model_dump(mode="json", exclude={"dataset_id", "counterfactual", *unset})
    if request.counterfactual is not None:
        with pointers_below("/counterfactual"):
            rule["counterfactual"] = checked_estimation(tx, request.counterfactual)
            _dataset_with_features(tx, request.counterfactual.dataset_id)
    return {**rule, "contract": contract.to_json()}


def _field_problems(request: GateRequest) -> Iterator[InputProblem]:
    """Yield a problem for each missing field, and for each field that needs a dataset."""
    if request.dataset_id is not None:
        if request.metric is None:
            yield InputProblem("/metric", "required to compare versions on the dataset")
        return
    if request.interleaving is None and request.counterfactual is None:
        detail = "required to compare versions, unless interleaving or counterfactual is set"
        yield InputProblem("/dataset_id", detail)
    for name in ("metric", "max_slice_drop", "better_than_baselines"):
        if getattr(request, name):
            yield InputProblem(f"/{name}", "requires a dataset; set dataset_id, too")


def _dataset_with_features(tx: Transaction, dataset_id: str) -> Dataset:
    (dataset,) = checks.require_ready(tx, [dataset_id])
    if checks.has_no_features(dataset):
        raise InvalidInput.at("/dataset_id", "has judgments without features, which no model can score")
    return dataset


def promotion(row: ModelAlias, challenger: Model, gate: AliasGate) -> PromoteJob:
    """Return the job that moves an alias if the challenger passes the alias's current gate."""
    systems = System(row.model.reference, row.model.id), System(challenger.reference, challenger.id)
    return PromoteJob.by_gate(row.name, row.alias, systems, gate.dataset_id, gate.rule)
