"""Aliases and the gates that guard their moves."""

from typing import Annotated, Any

from fastapi import Body, Path
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import ACCEPTED, JsonRoute, Router, accepted
from app.http.schemas import Cursor, Limit
from app.http.services import UseServices
from app.jobs.schemas import Job
from app.lifecycle.caches import UseReferences
from app.models.alias_schemas import Alias, AliasHistory, AliasList, AliasRequest, Gate, GateRequest
from app.models.promotion import gate_rule, promotion
from app.models.schemas import Model
from core.store import ModelAlias, Transaction
from core.store.repositories.projects import Labels

router = Router(prefix="/v1/models/{name}/aliases", tags=["models"], route_class=JsonRoute)

Name = Annotated[str, Path(description="The model's name", examples=["web"])]
AliasName = Annotated[str, Path(description="The alias", examples=["champion"])]
_EXAMPLES: Any = {"promote": {"summary": "Promote version 3", "value": {"version": 3}}}
_JOB_RESPONSE: dict[int | str, dict[str, Any]] = {
    ACCEPTED: {"model": Job, "description": "The job that moves the alias if the version passes its gate"}
}


@router.get("", summary="List aliases", responses=etag_responses(404))
def list_aliases(name: Name, services: UseServices) -> AliasList:
    """List the aliases of a name."""
    with services.store.read() as tx:
        rows, gated = tx.aliases.of_name(name), tx.aliases.gated_aliases(name)
    return AliasList(
        items=[Alias.of(row, row.alias in gated) for row in rows],
        gates_without_version=sorted(gated.difference(row.alias for row in rows)),
    )


@router.get("/{alias}", summary="Show an alias", responses=etag_responses(404))
def get_alias(name: Name, alias: AliasName, services: UseServices) -> Alias:
    """Show which version an alias points at."""
    with services.store.read() as tx:
        return Alias.of(tx.aliases.get(name, alias), tx.aliases.find_gate(name, alias) is not None)


@router.put(
    "/{alias}",
    summary="Set an alias",
    response_model=Model,
    responses={**_JOB_RESPONSE, **body_problems(404)},
)
def set_alias(
    name: Name,
    alias: AliasName,
    body: Annotated[AliasRequest, Body(openapi_examples=_EXAMPLES)],
    services: UseServices,
    references: UseReferences,
    caller: UseCaller,
) -> Model | Response:
    """Point `name@alias` at a version; all processes follow within a second.

    With a gate, a job compares both versions first, `202`; it fails if the gate refuses the version, or if
    the alias was moved meanwhile.
    """
    job = None
    with services.store.begin() as tx:
        challenger = tx.models.resolve(f"{name}:{body.version}")
        row = tx.aliases.find_locked(name, alias)
        gate = tx.aliases.find_gate(name, alias)
        if gate is None or row is None or row.model_id == challenger.id:
            model = _model_of(tx, tx.aliases.move(name, alias, body.version, caller.key_id))
        else:
            tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
            labels = Labels(project=challenger.project)
            job = tx.enqueue(promotion(row, challenger, gate), caller.key_id, labels)
            queued = accepted(Job.of(tx, job), f"/v1/jobs/{job.id}")
    if job is not None:
        services.wake_workers(job)
        return queued
    references.invalidate()
    return model


@router.delete("/{alias}", summary="Remove an alias", status_code=204, responses=problems(404))
def remove_alias(
    name: Name, alias: AliasName, services: UseServices, references: UseReferences, caller: UseCaller
) -> None:
    """Remove an alias; its history and its gate stay."""
    with services.store.begin() as tx:
        tx.aliases.remove(name, alias, caller.key_id)
    references.invalidate()


@router.get("/{alias}/history", summary="Show the history of an alias", responses=etag_responses(404, 422))
def list_alias_moves(
    name: Name, alias: AliasName, services: UseServices, cursor: Cursor = None, limit: Limit = 50
) -> AliasHistory:
    """List the moves and gate refusals of an alias, newest first, with the gate's reports."""
    with services.store.read() as tx:
        page = tx.aliases.history(name, alias, cursor, limit)
    return AliasHistory.model_validate(page)


@router.post(
    "/{alias}/rollback", summary="Undo the last move", response_model=Model, responses=problems(404, 409, 422)
)
def roll_back_alias(
    name: Name,
    alias: AliasName,
    services: UseServices,
    references: UseReferences,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Model | Response:
    """Point an alias at the version before its last move, immediately, ignoring its gate.

    A repeated request goes further back, unless it has the same `Idempotency-Key`. Refused promotions are
    skipped.
    """
    with idempotency.begin(services.store) as tx:
        model = _model_of(tx, tx.aliases.roll_back(name, alias, caller.key_id))
        idempotency.keep(tx, JSONResponse(model.model_dump(mode="json")))
    references.invalidate()
    return model


def _model_of(tx: Transaction, row: ModelAlias) -> Model:
    return Model.of(row.model, tx.models.aliases_of([row.model_id])[row.model_id])


gates_router = Router(prefix="/v1/models/{name}/aliases/{alias}/gate", tags=["models"], route_class=JsonRoute)

_GATE_EXAMPLES: Any = {
    "not-worse": {
        "summary": "Not worse by NDCG@10, and no segment of the queries is worse by more than 0.02",
        "value": {
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metric": "ndcg@10",
            "require": "not_worse",
            "max_slice_drop": 0.02,
        },
    },
    "better": {
        "summary": "Shown to be better",
        "value": {
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metric": "mrr",
            "require": "better",
            "p": 0.01,
            "contract": "trec_eval",
        },
    },
    "clicks": {
        "summary": "Not worse by more than 0.01, estimated from a click log",
        "value": {
            "counterfactual": {
                "click_log_id": "clk_01k9x2m4q7c8v5n3b6r1",
                "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
                "metric": "dcg@10",
                "normalised": True,
                "margin": 0.01,
            }
        },
    },
    "users": {
        "summary": "Preferred by users in an interleaving, without a dataset",
        "value": {"interleaving": "better"},
    },
}


@gates_router.get("", summary="Show the gate of an alias", responses=etag_responses(404))
def get_gate(name: Name, alias: AliasName, services: UseServices) -> Gate:
    """Show the promotion gate of an alias."""
    with services.store.read() as tx:
        return Gate.of(tx.aliases.gate(name, alias))


@gates_router.put("", summary="Set the gate of an alias", responses=body_problems(404, 409))
def set_gate(
    name: Name,
    alias: AliasName,
    body: Annotated[GateRequest, Body(openapi_examples=_GATE_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
) -> Gate:
    """Set the promotion gate of an alias: later moves must pass a comparison on a dataset, clicks, or both.

    The gate's datasets and click log cannot be deleted before the gate. The gate does not apply to rollbacks,
    nor to the alias's first version. Any key with the scope `write` may delete the gate.
    """
    with services.store.begin() as tx:
        tx.models.require_name(name)
        rule = gate_rule(tx, body)
        gate = tx.aliases.set_gate(name, alias, dataset_id=body.dataset_id, rule=rule, key_id=caller.key_id)
    return Gate.of(gate)


@gates_router.delete("", summary="Delete the gate of an alias", status_code=204, responses=problems(404))
def delete_gate(name: Name, alias: AliasName, services: UseServices) -> None:
    """Delete the promotion gate of an alias; jobs already queued keep the former gate."""
    with services.store.begin() as tx:
        tx.aliases.delete_gate(name, alias)
