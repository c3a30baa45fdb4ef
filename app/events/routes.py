"""Events as a list and as a stream."""

from typing import Annotated, Any, Literal

from fastapi import Header, Query, Request
from pydantic import BeforeValidator, Field
from starlette.responses import Response

from app.auth.authenticator import UseAuthenticator, is_still_authorized
from app.events.feed import UseFeed
from app.events.schemas import EVENT_EXAMPLE, Event, EventKind, EventPage
from app.events.stream import MEDIA_TYPE, EventStream, Selection
from app.http.caller import rate_limit_key
from app.http.openapi import etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import PRINTABLE, Cursor, Limit
from app.http.services import UseServices
from app.http.thread_pools import EVENTS
from core.store.repositories.events import MAX_ID

router = Router(prefix="/v1/events", tags=["events"], route_class=JsonRoute)

_STREAM_EXAMPLE = (
    "retry: 2000\n\n"
    "id: 1233\nevent: ready\ndata: {}\n\n"
    "id: 1234\nevent: job.ended\n"
    f'data: {{"id":{EVENT_EXAMPLE["id"]},"kind":"job.ended","at":"{EVENT_EXAMPLE["at"]}",'
    '"object":{"kind":"job","id":"job_01k9x2z4q7c8v5n3b6r1"},"project":"search",'
    '"key_id":"key_01k9x2m4q7c8v5n3b6r1","data":{"kind":"train","title":"web","status":"succeeded",'
    '"result":{"model_id":"mdl_01k9x3a7d5f8g2h4j6k9"},"problem":null,"metric":0.4312,"took_seconds":81.4}}\n\n'
    "event: changed\ndata: {}\n\n"
)
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A page of events, or with `Accept: text/event-stream` a stream of events",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": _STREAM_EXAMPLE}},
    }
}
After = Annotated[
    int | None, Query(ge=0, le=MAX_ID, description="Only events after this id", examples=[1233])
]
Kinds = Annotated[
    list[EventKind],
    Query(alias="kind", description="Only events of this kind; repeat the parameter for several kinds"),
]
ObjectId = Annotated[
    str | None,
    Query(
        alias="object",
        max_length=255,
        pattern=PRINTABLE,
        description="Only events about this object: its id, `name@alias`, or the name of a worker",
        examples=["job_01k9x2z4q7c8v5n3b6r1"],
    ),
]
LastEventId = Annotated[
    Annotated[int, Field(ge=0, le=MAX_ID)] | None,
    # By the standard of server-sent events, a client that has received no event may send an empty id.
    BeforeValidator(lambda value: None if value == "" else value),
    Header(
        alias="Last-Event-ID",
        description="For a stream: id of the last event that the client has; takes precedence over `after`",
    ),
]


@router.get(
    "",
    summary="List or follow events",
    response_model=EventPage,
    responses={**_RESPONSES, **etag_responses(422)},
)
async def list_events(
    request: Request,
    services: UseServices,
    feed: UseFeed,
    authenticator: UseAuthenticator,
    after: After = None,
    kinds: Kinds = [],  # noqa: B006 - FastAPI copies it
    object_id: ObjectId = None,
    changes: Annotated[
        bool, Query(description="For a stream: whether to send `changed` when any object has changed")
    ] = True,
    order: Annotated[
        Literal["asc", "desc"],
        Query(description="For a list: `desc` for newest first, `asc` for oldest first"),
    ] = "desc",
    cursor: Cursor = None,
    limit: Limit = 50,
    last_event_id: LastEventId = None,
) -> EventPage | Response:
    """List events, newest first; with `Accept: text/event-stream` follow them as they happen.

    A stream begins with `ready`, then sends events with their `id`. It resumes after the id in
    `Last-Event-ID` or `after`; `gap`, before `ready`, means that events since then were removed. `changed`,
    without id, means that pages should reload.
    """
    if MEDIA_TYPE in request.headers.get("Accept", ""):
        return EventStream(
            feed,
            services.store,
            Selection(frozenset(kinds), object_id, changes),
            after if last_event_id is None else last_event_id,
            rate_limit_key(request.scope),
            lambda: is_still_authorized(request, authenticator),
        )

    def read() -> EventPage:
        with services.store.read() as tx:
            page = tx.events.page(
                cursor, limit, after=after or 0, kinds=kinds, object_id=object_id, ascending=order == "asc"
            )
        return EventPage(items=[Event.of(row) for row in page.items], next_cursor=page.next_cursor)

    return await EVENTS.run(read)
