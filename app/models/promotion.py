"""Promotion gates of aliases, and the jobs that apply them."""

from app.http.schemas import Json
from app.jobs.submission.checks import (
    check_dataset_labels,
    contract_of,
    is_bare,
    label_map_problems,
    metric_without_differences,
    require_ready,
)
from app.models.alias_schemas import GateRequest
from core.errors import InputProblem, InvalidInput
from core.jobs import System
from core.jobs.promote import PromoteJob
from core.store import AliasGate, Model, ModelAlias, Transaction


def gate_rule(tx: Transaction, request: GateRequest) -> Json:
    """Validate a gate and return its stored rule, with the contract resolved.

    Raises:
        InvalidInput: For what is wrong with it by itself, or with its labels.
        NotFound: When the dataset does not exist.
        WrongState: When the dataset is not ready.
    """
    problems: list[InputProblem] = [*metric_without_differences("/metric", request.metric)]
    contract = contract_of(request.contract, problems)
    problems += label_map_problems(request.label_map)
    if problems:
        raise InvalidInput(*problems)
    (dataset,) = require_ready(tx, [request.dataset_id])
    if is_bare(dataset):
        raise InvalidInput.at("/dataset_id", "has judgments without features, which no model can score")
    check_dataset_labels(dataset, request.label_map, None, [request.metric], contract)
    # An API of the release before the field refuses it.
    unasked = set() if request.better_than_baselines else {"better_than_baselines"}
    rule = request.model_dump(mode="json", exclude={"dataset_id", *unasked})
    return {**rule, "contract": contract.to_json()}


def promotion(row: ModelAlias, challenger: Model, gate: AliasGate) -> PromoteJob:
    """Return the job that moves an alias if the challenger passes its current gate."""
    systems = System(row.model.reference, row.model.id), System(challenger.reference, challenger.id)
    return PromoteJob.by_gate(row.name, row.alias, systems, gate.dataset_id, gate.rule)
