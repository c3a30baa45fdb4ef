"""Routes of schedules and their runs."""

from typing import Annotated

from fastapi import Body, Query, status
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.lists import ListQuery, Prefix, list_query
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import ACCEPTED, JsonRoute, PolledRoute, Router, accepted
from app.http.schemas import Cursor, Limit
from app.http.services import UseServices
from app.schedules import schemas
from app.schedules.submission import check_promotion, job_spec, requested_job
from core.errors import InvalidInput
from core.schedules import Cron
from core.store import Schedule as ScheduleRow
from core.store import Transaction
from core.store.clock import utc_now
from core.store.repositories.schedules import RunStatus, Schedules

router = Router(prefix="/v1/schedules", tags=["schedules"], route_class=JsonRoute)
polled_router = Router(prefix="/v1/schedules", tags=["schedules"], route_class=PolledRoute)


@router.post(
    "",
    summary="Create a schedule",
    status_code=status.HTTP_201_CREATED,
    response_model=schemas.Schedule,
    responses=body_problems(404, 409),
)
def create_schedule(
    body: Annotated[schemas.ScheduleRequest, Body(openapi_examples=schemas.REQUEST_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Queue a job at each due time of a cron expression, on the newest datasets of some names.

    The job is validated now. Due times that pass while no worker runs share one run; a due time during the
    previous run is skipped. Jobs belong to the API key that changed the schedule last; if the key is revoked
    or expires, the schedule is paused.
    """
    with idempotency.begin(services.store) as tx:
        cron = Cron.parse(body.cron, body.timezone)
        project = tx.projects.for_new_object(body.project or body.job.project)
        requested = requested_job(body.job, project)
        row = tx.schedules.add(
            name=body.name,
            cron=cron.expression,
            timezone=cron.timezone,
            enabled=body.enabled,
            job=requested,
            spec=job_spec(tx, requested, project),
            alias=check_promotion(tx, requested, body.promote),
            only_new_data=body.only_new_data,
            next_run_at=cron.next_after(utc_now()) if body.enabled else None,
            key_id=caller.key_id,
            project=project,
        )
        content = schemas.Schedule.of(row, None).model_dump(mode="json")
        location = {"Location": f"/v1/schedules/{row.id}"}
        return idempotency.keep(tx, JSONResponse(content, status.HTTP_201_CREATED, location))


_Listing = Annotated[ListQuery, list_query(None, Schedules.columns, "Sort key; `next` is the next due time")]


@polled_router.get("", summary="List schedules", responses=etag_responses(422))
def list_schedules(
    services: UseServices,
    listing: _Listing,
    enabled: Annotated[
        bool | None, Query(description="Whether to list only enabled or only paused schedules")
    ] = None,
    prefix: Prefix = None,
) -> schemas.SchedulePage:
    """List schedules with their last runs, newest first by default."""
    with services.store.read() as tx:
        page = tx.schedules.page(enabled=enabled, prefix=prefix, **listing.paging)
        last = tx.schedules.last_runs(row.id for row in page.items)
    items = [schemas.Schedule.of(row, last.get(row.id)) for row in page.items]
    return schemas.SchedulePage(items=items, next_cursor=page.next_cursor)


# Declared before the route of one schedule, which would match `due-times` as an id.
@router.get("/due-times", summary="Show the due times of a cron expression", responses=etag_responses(422))
def get_due_times(
    cron: Annotated[
        schemas.CronExpression, Query(description="Minute, hour, day of the month, month, weekday")
    ],
    timezone: Annotated[
        schemas.TimeZone, Query(description="Name of a time zone in the IANA database")
    ] = "UTC",
) -> schemas.DueTimes:
    """Show when a schedule with this cron expression would run next."""
    return schemas.DueTimes(items=Cron.parse(cron, timezone).upcoming(utc_now(), schemas.SHOWN_DUE_TIMES))


@polled_router.get("/{schedule_id}", summary="Show a schedule", responses=etag_responses(404))
def get_schedule(schedule_id: str, services: UseServices) -> schemas.Schedule:
    """Show a schedule, its last run and its next due times."""
    with services.store.read() as tx:
        return _response(tx, tx.schedules.get(schedule_id))


@router.patch("/{schedule_id}", summary="Change a schedule", responses=body_problems(404, 409))
def change_schedule(
    schedule_id: str,
    body: Annotated[schemas.ScheduleChange, Body(openapi_examples=schemas.CHANGE_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
) -> schemas.Schedule:
    """Change, pause or resume a schedule; an active run is not affected.

    Jobs of the schedule belong to the API key of this request from now on. Due times during a pause have no
    run.
    """
    changed = body.model_fields_set
    nulls = [name for name in changed - {"promote"} if getattr(body, name) is None]
    if nulls:
        raise InvalidInput.at(f"/{nulls[0]}", "must not be null; omit the field to keep its value")
    with services.store.begin() as tx:
        row = tx.schedules.locked(schedule_id)
        row.name = body.name or row.name
        if body.only_new_data is not None:
            row.only_new_data = body.only_new_data
        if body.job is not None:
            row.job = requested_job(body.job, row.project)
            row.spec = job_spec(tx, row.job, row.project)
        if "promote" in changed or (body.job is not None and row.alias is not None):
            current = schemas.PromoteRequest(alias=row.alias) if row.alias is not None else None
            row.alias = check_promotion(tx, row.job, body.promote if "promote" in changed else current)
        _set_times(row, body)
        row.key_id = caller.key_id
        return _response(tx, row)


def _set_times(row: ScheduleRow, change: schemas.ScheduleChange) -> None:
    """Apply new times or a pause, and compute the next due time if either changed."""
    cron = Cron.parse(change.cron or row.cron, change.timezone or row.timezone)
    was_enabled, enabled = row.enabled, row.enabled if change.enabled is None else change.enabled
    has_moved = (cron.expression, cron.timezone) != (row.cron, row.timezone)
    row.cron, row.timezone, row.enabled = cron.expression, cron.timezone, enabled
    if not enabled:
        row.next_run_at = None
    elif has_moved or not was_enabled:
        row.next_run_at, row.problem = cron.next_after(utc_now()), None


@router.delete("/{schedule_id}", summary="Delete a schedule", status_code=204, responses=problems(404))
def delete_schedule(schedule_id: str, services: UseServices) -> None:
    """Delete a schedule and the record of its runs; an active job is not stopped."""
    with services.store.begin() as tx:
        tx.schedules.delete(schedule_id)


@router.post(
    "/{schedule_id}/run",
    summary="Run a schedule now",
    status_code=ACCEPTED,
    response_model=schemas.ScheduleRun,
    responses=problems(404, 409, 422),
)
def run_schedule(
    schedule_id: str,
    services: UseServices,
    idempotency: UseIdempotency,
) -> Response:
    """Request a run outside the due times, also of a paused schedule; a worker starts it within seconds."""
    with idempotency.begin(services.store) as tx:
        run = tx.schedules.request_run(schedule_id)
        queued = accepted(schemas.ScheduleRun.model_validate(run), f"/v1/schedules/{schedule_id}/runs")
        return idempotency.keep(tx, queued)


@polled_router.get(
    "/{schedule_id}/runs", summary="List the runs of a schedule", responses=etag_responses(404, 422)
)
def list_schedule_runs(
    schedule_id: str,
    services: UseServices,
    status: Annotated[RunStatus | None, Query(description="Only runs in this status")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> schemas.ScheduleRunPage:
    """List the runs of a schedule, skipped ones included, newest first."""
    with services.store.read() as tx:
        page = tx.schedules.runs(schedule_id, cursor, limit, status=status)
    return schemas.ScheduleRunPage.model_validate(page)


def _response(tx: Transaction, row: ScheduleRow) -> schemas.Schedule:
    return schemas.Schedule.of(row, tx.schedules.last_runs([row.id]).get(row.id))
