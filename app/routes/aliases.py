"""Aliases: which version of a model a name means, moved, undone, and on record."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.access.caller import UseCaller
from app.answers import ACCEPTED, accepted
from app.documentation import BODY_PROBLEMS, NOT_MODIFIED, problems
from app.idempotency import BodySha256, UseOnce
from app.routes.route import JsonRoute
from app.schemas.aliases import Alias, AliasHistory, AliasList, AliasRequest
from app.schemas.base import Cursor, Limit
from app.schemas.jobs import Job
from app.schemas.models import Model
from app.services import UseServices
from app.submission import enqueue
from app.submission.gates import promotion
from core.store import ModelAlias, Transaction

router = APIRouter(prefix="/models/{name}/aliases", tags=["models"], route_class=JsonRoute)

Name = Annotated[str, Path(description="The model's name", examples=["web"])]
AliasName = Annotated[str, Path(description="The alias", examples=["champion"])]
_EXAMPLES: Any = {"promote": {"summary": "Point at version 3", "value": {"version": 3}}}
_JOB_RESPONSE: dict[int | str, dict[str, Any]] = {
    ACCEPTED: {"model": Job, "description": "The job that moves it, if its gate lets the version pass"}
}


@router.get("", summary="List aliases", responses={**NOT_MODIFIED, **problems(404)})
def list_aliases(name: Name, services: UseServices) -> AliasList:
    """List the aliases of a name."""
    with services.store.read() as tx:
        rows, gated = tx.aliases.of_name(name), tx.gates.aliases_of(name)
    return AliasList(items=[Alias.of(row, row.alias in gated) for row in rows])


@router.get("/{alias}", summary="Show an alias", responses={**NOT_MODIFIED, **problems(404)})
def get_alias(name: Name, alias: AliasName, services: UseServices) -> Alias:
    """Show which version an alias points at."""
    with services.store.read() as tx:
        return Alias.of(tx.aliases.get(name, alias), tx.gates.find(name, alias) is not None)


@router.put(
    "/{alias}",
    summary="Set an alias",
    response_model=Model,
    responses={**_JOB_RESPONSE, **problems(404, *BODY_PROBLEMS)},
)
def set_alias(
    name: Name,
    alias: AliasName,
    body: Annotated[AliasRequest, Body(openapi_examples=_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
) -> Model | Response:
    """Let `name@alias` mean one version from now on; scoring follows at once, everywhere within a second.

    An alias with a gate that points at another version is moved by a job, `202`, which compares the two
    first: it fails with the reason where the gate, as it is now, does not let the version pass, or where the
    alias was moved meanwhile.
    """
    job = None
    with services.store.begin() as tx:
        challenger = tx.models.resolve(f"{name}:{body.version}")
        row = tx.aliases.find_in_turn(name, alias)
        gate = tx.gates.find(name, alias)
        if gate is None or row is None or row.model_id == challenger.id:
            model = _model(tx, tx.aliases.move(name, alias, body.version, caller.key_id))
        else:
            tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
            job = enqueue(tx, promotion(row, challenger, gate), caller.key_id)
            queued = accepted(Job.of(tx, job), f"/v1/jobs/{job.id}")
    if job is not None:
        services.submitted(job)
        return queued
    services.models.forget_meanings()
    return model


@router.delete("/{alias}", summary="Remove an alias", status_code=204, responses=problems(404))
def remove_alias(name: Name, alias: AliasName, services: UseServices, caller: UseCaller) -> None:
    """Let an alias point nowhere; its history and its gate stay."""
    with services.store.begin() as tx:
        tx.aliases.remove(name, alias, caller.key_id)
    services.models.forget_meanings()


@router.get(
    "/{alias}/history", summary="Show what was done with it", responses={**NOT_MODIFIED, **problems(404, 422)}
)
def list_alias_moves(
    name: Name, alias: AliasName, services: UseServices, cursor: Cursor = None, limit: Limit = 50
) -> AliasHistory:
    """List the moves of an alias and the refusals of its gate, newest first, with what the gate found."""
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
    caller: UseCaller,
    once: UseOnce,
    body_sha256: BodySha256,
) -> Model | Response:
    """Point an alias at the version before its last move, at once and past its gate.

    Repeated, it goes further back, not to and fro. Refused promotions moved nothing and are passed over.
    With an `Idempotency-Key` a request that is sent again goes back no further.
    """
    with services.store.begin() as tx:
        if answer := once.earlier_answer(tx, body_sha256):
            return answer
        model = _model(tx, tx.aliases.roll_back(name, alias, caller.key_id))
        once.keep(tx, body_sha256, JSONResponse(model.model_dump(mode="json")))
    services.models.forget_meanings()
    return model


def _model(tx: Transaction, row: ModelAlias) -> Model:
    return Model.of(row.model, tx.models.aliases_of([row.model_id])[row.model_id])
