"""Who changed what."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.documentation import NOT_MODIFIED, problems
from app.routes.route import JsonRoute
from app.schemas.audit import AuditPage
from app.schemas.base import PRINTABLE, Cursor, Limit
from app.services import UseServices

router = APIRouter(prefix="/audit", tags=["keys"], route_class=JsonRoute)


@router.get("", summary="List the audit", responses={**NOT_MODIFIED, **problems(422)})
def list_audit(
    services: UseServices,
    key_id: Annotated[
        str | None, Query(max_length=64, pattern=PRINTABLE, description="Only what came with this key")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """List the requests that changed something, or tried to, newest first.

    Those that were refused are listed with their status. Scoring changes nothing and is listed only where a
    key was refused.
    """
    with services.store.read() as tx:
        page = tx.audit.page(cursor, limit, key_id)
    return AuditPage.model_validate(page)
