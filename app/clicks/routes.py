"""Routes to list, show, rename and move click logs."""

from typing import Annotated, Any

from fastapi import Body, Query

from app.clicks.schemas import ClickLog, ClickLogChanges, ClickLogPage
from app.http.labels import ProjectFilter
from app.http.lists import ListQuery, Prefix, SelectedFields, list_query
from app.http.openapi import body_problems, etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import DisplayName
from app.http.services import UseServices
from core.store.repositories.datasets import ClickLogs, DataStatus

router = Router(prefix="/v1/click-logs", tags=["clicks"], route_class=JsonRoute)

_CHANGE_EXAMPLES: Any = {
    "rename": {"summary": "Rename a click log", "value": {"name": "clicks of May"}},
    "move": {"summary": "Move a click log to a project", "value": {"project": "web"}},
}
_Listing = Annotated[ListQuery, list_query(ClickLog, ClickLogs.columns)]


@router.get("", summary="List click logs", responses=etag_responses(422))
def list_click_logs(
    services: UseServices,
    listing: _Listing,
    status: Annotated[DataStatus | None, Query(description="Only logs with this status")] = None,
    name: Annotated[DisplayName | None, Query(description="Only logs of this name")] = None,
    project: ProjectFilter = None,
    prefix: Prefix = None,
) -> ClickLogPage | SelectedFields:
    """List click logs, newest first by default."""
    with services.store.read() as tx:
        page = tx.click_logs.page(status=status, name=name, project=project, prefix=prefix, **listing.paging)
        items = [ClickLog.model_validate(log) for log in page.items]
    return listing.page(ClickLogPage, items, page.next_cursor)


@router.get("/{log_id}", summary="Show a click log", responses=etag_responses(404))
def get_click_log(log_id: str, services: UseServices) -> ClickLog:
    """Show a click log with its statistics and findings, or with its problem."""
    with services.store.read() as tx:
        return ClickLog.model_validate(tx.click_logs.get(log_id))


@router.patch("/{log_id}", summary="Rename a click log or move it to a project", responses=body_problems(404))
def change_click_log(
    log_id: str,
    body: Annotated[ClickLogChanges, Body(openapi_examples=_CHANGE_EXAMPLES)],
    services: UseServices,
) -> ClickLog:
    """Change a click log's name and project; the job that read it moves with it."""
    with services.store.begin() as tx:
        log = tx.click_logs.get(log_id)
        body.apply(tx, log)
    return ClickLog.model_validate(log)
