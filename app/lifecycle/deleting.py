"""Execute deletions."""

from collections.abc import Iterable

import structlog
from fastapi import Request

from app.http.caller import caller_in, recorded_address
from app.http.services import registered, services_of
from app.lifecycle.caches import ModelReferences
from app.lifecycle.filters import DeleteRequest
from app.lifecycle.schemas import Deletion
from core.errors import Holder, NotFound, StillNeeded
from core.store.lifecycle.deletion import DELETED, Actor, DeletionMode, delete_objects, preview
from core.store.lifecycle.inventory import FolderSizes
from core.store.trash.kinds import DATASET, EXPERIMENT, KINDS, MODEL, STUDY
from core.store.trash.plan import Refused

_REQUIRED_STEPS = {
    "alias": "move or remove the alias",
    "comparison": "delete the comparison",
    "gate": "change or delete the gate",
    "job": "cancel the job or wait for its end",
    "schedule": "change or delete the schedule",
    "study": "delete the study",
}


def actor_of(request: Request, action: str = DELETED) -> Actor:
    """Return the caller, for the trash and for an audit entry of each object."""
    return Actor(
        key_id=caller_in(request.scope).key_id,
        request_id=structlog.contextvars.get_contextvars().get("request_id", ""),
        address=recorded_address(request.scope),
        action=action,
    )


def delete_one(
    request: Request,
    kind: str,
    object_id: str,
    *,
    with_results: bool = False,
    permanently: bool,
    actor: Actor | None = None,
) -> Deletion:
    """Delete one object.

    Args:
        request: The request, which has the caller.
        with_results: Whether to delete the results of the object as well.
        permanently: Whether to free the bytes immediately, without the trash.
        actor: Caller for a separate audit entry; None if the audit entry of the request names the object.

    Raises:
        NotFound: The object does not exist.
        StillNeeded: The object has dependents, or results while `with_results` is false.
    """
    services = services_of(request)
    mode = DeletionMode(with_results, 0 if permanently else services.settings.trash_days)
    actor = actor or Actor(caller_in(request.scope).key_id, is_audited=False)  # the request is audited
    deletion = delete_objects(services.store, KINDS[kind], [object_id], mode, actor)
    if deletion.missing:
        raise NotFound(kind, object_id)
    for refused in deletion.refused:
        raise StillNeeded(kind, object_id, refused.holders, _required_steps(refused))
    _invalidate_deleted(request, deletion.counts)
    return Deletion.of(deletion, dry_run=False)


def delete_many(request: Request, kind: str, body: DeleteRequest) -> Deletion:  # type: ignore[type-arg]
    """Delete the selected objects, or list them in a dry run."""
    services = services_of(request)
    store, days = services.store, 0 if body.permanently else services.settings.trash_days
    object_ids = body.object_ids(store, KINDS[kind])
    mode = DeletionMode(body.with_results, days)
    if body.dry_run:
        sizes = FolderSizes(store.artifacts)
        return Deletion.of(preview(store, KINDS[kind], object_ids, mode, set(), sizes), dry_run=True)
    deletion = delete_objects(store, KINDS[kind], object_ids, mode, actor_of(request))
    _invalidate_deleted(request, deletion.counts)
    return Deletion.of(deletion, dry_run=False)


def _invalidate_deleted(request: Request, counts: Iterable[str]) -> None:
    """Invalidate references to deleted models, so that none is scored."""
    if KINDS[MODEL].plural in counts:
        registered(request.app, ModelReferences).invalidate()


def _required_steps(refused: Refused) -> str:
    if refused.only_results:
        return "delete its results first, or delete all together with with_results=true"
    steps = dict.fromkeys(_step(holder, refused) for holder in refused.holders)
    return f"first {', '.join(steps)}"


def _step(holder: Holder, refused: Refused) -> str:
    uses_dataset = refused.node.kind.name == DATASET and holder.kind in (EXPERIMENT, STUDY)
    if holder.id == refused.node.id or uses_dataset:
        return f"cancel the {holder.kind} or wait for its end"
    return _REQUIRED_STEPS.get(holder.kind, f"delete the {holder.kind}")
