"""Routes of the trash and of storage usage."""

from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Body, HTTPException, Query, Request

from app.http.admission.expensive_reads import UseExpensive
from app.http.openapi import body_problems, etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import Cursor, Limit
from app.http.services import UseServices
from app.lifecycle import schemas
from app.lifecycle.caches import UseReferences, UseStorage
from app.lifecycle.deleting import actor_of
from core.errors import InvalidInput
from core.store import Store
from core.store.clock import utc_now
from core.store.lifecycle.deletion import (
    PURGED,
    RESTORED,
    DeletionMode,
    empty_trash,
    preview_of_emptying,
)
from core.store.lifecycle.inventory import FolderSizes
from core.store.trash.kinds import KINDS, OWNERS_FIRST, by_kind
from core.store.visibility import visible_projects

router = Router(prefix="/v1", tags=["lifecycle"], route_class=JsonRoute)

_RESTORE_EXAMPLES: Any = {
    "job": {
        "summary": "A job with the results deleted with it",
        "value": {"ids": ["job_01k9x2z4q7c8v5n3b6r1"]},
    },
    "dataset": {"summary": "A dataset", "value": {"ids": ["ds_01k9x2m4q7c8v5n3b6r1"]}},
}
_EMPTY_EXAMPLES: Any = {
    "all": {"summary": "Free all bytes of the trash", "value": {"all": True}},
    "old": {
        "summary": "List objects that have been in the trash for two days",
        "value": {"older_than_days": 2, "dry_run": True},
    },
}


@router.get("/trash", summary="List the trash", responses=etag_responses(422))
def list_trash(
    services: UseServices,
    kind: Annotated[schemas.KindName | None, Query(description="Only objects of this kind")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> schemas.TrashPage:
    """List deleted objects that can be restored, the latest deletion first."""
    with services.store.read() as tx:
        page = tx.trash.page(cursor, limit, None if kind is None else KINDS[kind])
    sizes = FolderSizes(services.store.artifacts).of(folder for item in page.items for folder in item.folders)
    days = services.settings.trash_days
    items = [
        schemas.TrashedObject.of(item, sum(sizes.get(folder, 0) for folder in item.folders), days)
        for item in page.items
    ]
    return schemas.TrashPage(items=items, next_cursor=page.next_cursor)


@router.post("/trash/restore", summary="Restore objects", responses=body_problems())
def restore_objects(
    body: Annotated[schemas.RestoreRequest, Body(openapi_examples=_RESTORE_EXAMPLES)],
    request: Request,
    services: UseServices,
    references: UseReferences,
) -> schemas.Restored:
    """Restore objects from the trash, with the results deleted with them and the jobs that they need."""
    with services.store.begin() as tx:
        plan = tx.trash.restore(body.ids)
        actor_of(request, RESTORED).record(tx, plan)
    references.invalidate()
    return schemas.Restored(restored=dict(plan.counts), missing=plan.missing)


@router.post("/trash/empty", summary="Empty the trash", responses=body_problems())
def empty(
    body: Annotated[schemas.EmptyTrashRequest, Body(openapi_examples=_EMPTY_EXAMPLES)],
    request: Request,
    services: UseServices,
) -> schemas.Deletion:
    """Free the bytes of objects in the trash, and of the trashed objects that need them."""
    object_ids = _ids_to_empty(services.store, body)
    if body.dry_run:
        return schemas.Deletion.of(
            preview_of_emptying(services.store, object_ids, DeletionMode()), dry_run=True
        )
    emptied = empty_trash(services.store, object_ids, DeletionMode(), actor_of(request, PURGED))
    return schemas.Deletion.of(emptied, dry_run=False)


@router.get("/storage", summary="Show storage usage", responses=etag_responses(403, 422))
async def get_storage(
    services: UseServices,
    storage: UseStorage,
    expensive: UseExpensive,
    refresh: Annotated[
        bool, Query(description="Measure again now; by default the measurement is up to a minute old")
    ] = False,
) -> schemas.Storage:
    """Show the bytes of all artifacts by kind, and those that retention would move to the trash now.

    This lists all artifacts, which takes seconds for hundreds of thousands of them.
    """
    if visible_projects() is not None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "a key that is bound to projects cannot see the storage of all projects"
        )
    measured = await expensive.answer(("storage", refresh), lambda: storage.measured(refresh=refresh))
    return schemas.Storage.of(measured, services.settings.trash_days)


def _ids_to_empty(store: Store, body: schemas.EmptyTrashRequest) -> Iterator[str]:
    if sum(each is not None for each in (body.ids, body.all, body.older_than_days)) != 1:
        raise InvalidInput.at("", "must have exactly one of ids, all and older_than_days")
    if body.ids is None:
        return _ids_older_than(store, body.older_than_days or 0.0)
    by_kind(body.ids)  # refuses invalid ids before the first objects are deleted
    return iter(body.ids)


def _ids_older_than(store: Store, older_than_days: float) -> Iterator[str]:
    """Yield the ids of objects that have been in the trash longer than an age.

    Jobs come first, so that each goes with all of its results in one transaction.
    """
    before = utc_now() - timedelta(days=older_than_days)
    for kind in OWNERS_FIRST:
        with store.read() as tx:
            object_ids = tx.trash.ids(kind, before)
        yield from object_ids
