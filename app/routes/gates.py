"""Gates: what a version must show before an alias moves to it."""

from typing import Annotated, Any

from fastapi import APIRouter, Body

from app.access.caller import UseCaller
from app.documentation import BODY_PROBLEMS, NOT_MODIFIED, problems
from app.routes.aliases import AliasName, Name
from app.routes.route import JsonRoute
from app.schemas.aliases import Gate, GateRequest
from app.services import UseServices
from app.submission.gates import gate_rule

router = APIRouter(prefix="/models/{name}/aliases/{alias}/gate", tags=["models"], route_class=JsonRoute)

_EXAMPLES: Any = {
    "not-worse": {
        "summary": "Not worse by NDCG@10, and no group of queries falls by more than 0.02",
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
}


@router.get("", summary="Show the gate of an alias", responses={**NOT_MODIFIED, **problems(404)})
def get_gate(name: Name, alias: AliasName, services: UseServices) -> Gate:
    """Show what a version must show before the alias moves to it."""
    with services.store.read() as tx:
        return Gate.of(tx.gates.get(name, alias))


@router.put("", summary="Set the gate of an alias", responses=problems(404, 409, *BODY_PROBLEMS))
def set_gate(
    name: Name,
    alias: AliasName,
    body: Annotated[GateRequest, Body(openapi_examples=_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
) -> Gate:
    """Ask every version from now on for a comparison with the one that the alias points at.

    Its dataset cannot be deleted while the gate is there. Rollbacks pass by it, as does the first version
    that the alias points at; whoever may write may also delete it. The history and the audit tell of each.
    """
    with services.store.begin() as tx:
        tx.models.require_name(name)
        rule = gate_rule(tx, body)
        gate = tx.gates.put(name, alias, dataset_id=body.dataset_id, rule=rule, key_id=caller.key_id)
    return Gate.of(gate)


@router.delete("", summary="Delete the gate of an alias", status_code=204, responses=problems(404))
def delete_gate(name: Name, alias: AliasName, services: UseServices) -> None:
    """Let the alias move freely; jobs that were queued before still judge by the gate as it was."""
    with services.store.begin() as tx:
        tx.gates.delete(name, alias)
