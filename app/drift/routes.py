"""Routes of drift reports."""

from typing import Annotated

from fastapi import Query

from app.drift.schemas import DriftReport, DriftReportPage, Verdict
from app.http.labels import ProjectFilter
from app.http.openapi import etag_responses, problems
from app.http.route import JsonRoute, Router
from app.http.schemas import Cursor, Limit, ModelReference
from app.http.services import UseServices

router = Router(prefix="/v1/drift-reports", tags=["results"], route_class=JsonRoute)


@router.get("", summary="List reports of drift", responses=etag_responses(404, 422))
def list_drift_reports(
    services: UseServices,
    model: Annotated[
        ModelReference | None,
        Query(
            description="Only reports on this version, or on all versions if it is a name without a version"
        ),
    ] = None,
    verdict: Annotated[Verdict | None, Query(description="Only reports with this verdict")] = None,
    project: ProjectFilter = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DriftReportPage:
    """List drift reports, newest first, without their comparisons."""
    with services.store.read() as tx:
        resolved = None if model is None else tx.models.resolve(model)
        is_name = resolved is not None and resolved.name == model
        page = tx.drift.page(
            cursor,
            limit,
            name=model if is_name else None,
            model_id=None if resolved is None or is_name else resolved.id,
            verdict=verdict,
            project=project,
        )
    return DriftReportPage.model_validate(page)


@router.get("/{report_id}", summary="Show a report of drift", responses=etag_responses(404))
def get_drift_report(report_id: str, services: UseServices) -> DriftReport:
    """Show how the score samples of a model differ from its training data, and from earlier samples."""
    with services.store.read() as tx:
        return DriftReport.model_validate(tx.drift.get(report_id))


@router.delete("/{report_id}", summary="Delete a report of drift", status_code=204, responses=problems(404))
def delete_drift_report(report_id: str, services: UseServices) -> None:
    """Delete a report of drift; its job and the samples stay."""
    with services.store.begin() as tx:
        tx.drift.delete(report_id)
