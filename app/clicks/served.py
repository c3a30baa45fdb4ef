"""Create click logs from served rankings and from interleaved lists."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.responses import Response

from app.clicks.schemas import Actions, ClickLog
from app.clicks.uploads import accepted_log
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.labels import NewProject
from app.http.openapi import body_problems
from app.http.route import ACCEPTED, JsonRoute, Router
from app.http.schemas import DisplayName, Id, ModelReference, Moment, RequestModel
from app.http.services import UseServices
from app.served.routes import UseListWriter
from core.clicks.reading.options import log_options
from core.errors import InvalidInput
from core.store.clock import utc_now
from core.store.served_logs import CLICK_WINDOW, InterleavedLists, ServedPeriod, queue_served_log

_EXAMPLES: Any = {
    "all": {"summary": "All stored rankings of a model", "value": {"model": "web"}},
    "period": {
        "summary": "A week of one version, with purchases",
        "value": {
            "model": "web:3",
            "since": "2026-05-01T00:00:00Z",
            "until": "2026-05-08T00:00:00Z",
            "actions": {"click": 1, "purchase": 5},
        },
    },
}


class ServedLogRequest(RequestModel):
    """Served rankings that become a click log."""

    model: ModelReference = Field(
        description="Name of a model for all its versions, or a reference of one version", examples=["web"]
    )
    since: Moment | None = Field(None, description="Start of the period; null for all stored rankings")
    until: Moment | None = Field(
        None, description="End of the period; half an hour ago when null, as later lists may still be clicked"
    )
    name: DisplayName | None = Field(None, description="Display name; by default `served by` and the model")
    actions: Actions = None
    project: NewProject = None

    def period(self) -> tuple[datetime | None, datetime]:
        """Return start and end of the period.

        Raises:
            InvalidInput: The period ends before it starts.
        """
        until = self.until or utc_now() - CLICK_WINDOW
        if self.since is not None and self.since >= until:
            raise InvalidInput.at(
                "/since", "must be before the end of the period, half an hour ago by default"
            )
        return self.since, until


class InterleavedLogRequest(RequestModel):
    """An interleaving whose lists become a click log."""

    interleaving_id: Id = Field(description="Id of the interleaving")
    name: DisplayName | None = Field(
        None, description="Display name; by default the name of the interleaving"
    )
    project: NewProject = None


_INTERLEAVED_EXAMPLES: Any = {
    "lists": {"summary": "All its lists", "value": {"interleaving_id": "itl_01k9x2m4q7c8v5n3b6r1"}}
}

router = Router(prefix="/v1/click-logs", tags=["clicks"], route_class=JsonRoute)


@router.post(
    "/served",
    summary="Create a click log from served rankings",
    status_code=ACCEPTED,
    response_model=ClickLog,
    responses=body_problems(404, 409),
)
def make_served_log(
    body: Annotated[ServedLogRequest, Body(openapi_examples=_EXAMPLES)],
    services: UseServices,
    writer: UseListWriter,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Create a click log from the rankings that a model served with `keep`, and from their events.

    A job creates it. Each list has the version of the model, the time, and the hash of the user, or of the
    session without a user. If one version served all lists, each propensity (probability of the document at
    its rank) is 1, since a version always returns the same ranking. A log of several versions has no
    propensities.
    """
    since, until = body.period()
    options = {} if body.actions is None else {"actions": body.actions}
    log_options(options)
    writer.flush()
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        period = ServedPeriod.of_model(tx, body.model, since, until)
        project = tx.projects.for_new_object(body.project, tx.models.resolve(body.model).project)
        name = body.name or f"served by {body.model}"
        log, job = queue_served_log(tx, name, period, options, key_id=caller.key_id, project=project)
        created = idempotency.keep(tx, accepted_log(log))
    services.wake_workers(job)
    return created


@router.post(
    "/interleaved",
    summary="Create a click log from interleaved lists",
    status_code=ACCEPTED,
    response_model=ClickLog,
    responses=body_problems(404, 409),
)
def make_interleaved_log(
    body: Annotated[InterleavedLogRequest, Body(openapi_examples=_INTERLEAVED_EXAMPLES)],
    services: UseServices,
    writer: UseListWriter,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Create a click log from the lists that an interleaving showed, and from their clicks.

    A job creates it from lists whose time for clicks is over. In lists of team draft, documents have the
    `team` that contributed them: the position of the ranker, from 0.
    """
    writer.flush()
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        row = tx.interleavings.get(body.interleaving_id)
        project = tx.projects.for_new_object(body.project, row.project)
        lists, name = InterleavedLists(row.id), body.name or row.name
        log, job = queue_served_log(tx, name, lists, {}, key_id=caller.key_id, project=project)
        created = idempotency.keep(tx, accepted_log(log))
    services.wake_workers(job)
    return created
