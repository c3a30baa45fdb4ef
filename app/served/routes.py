"""Route that records events on served rankings."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import Body

from app.http.openapi import BODY_PROBLEMS, problems
from app.http.route import JsonRoute, Router
from app.http.services import UseServices, injected
from app.served.schemas import (
    EVENT_EXAMPLES,
    RecordedServedEvents,
    ServedEvent,
    ServedEventsRequest,
    UnknownEvent,
)
from app.served.writer import ListWriter
from core.store.clock import utc_now
from core.store.repositories.ids import SHOWN_LIST

router = Router(prefix="/v1/served-rankings", tags=["clicks"], route_class=JsonRoute)

UseListWriter = Annotated[ListWriter, injected(ListWriter)]


@router.post("/events", summary="Send events on served rankings", responses=problems(*BODY_PROBLEMS))
def send_served_events(
    body: Annotated[ServedEventsRequest, Body(openapi_examples=EVENT_EXAMPLES)],
    services: UseServices,
    writer: UseListWriter,
) -> RecordedServedEvents:
    """Record actions of users on rankings that `/rank` kept; a repeated event changes nothing.

    Each action on a document counts once. Events that were not recorded are listed with the reason.
    """
    ranking_ids = list({event.ranking_id for event in body.events})
    writer.flush(ranking_ids)
    with services.store.begin() as tx:
        tx.notifies_clients = False
        documents, now = tx.served.documents(ranking_ids), utc_now()
        positions = [_position(event, documents) for event in body.events]
        rows = [
            {
                "ranking_id": event.ranking_id,
                "place": position,
                "action": event.action,
                "at": event.at or now,
            }
            for event, position in zip(body.events, positions, strict=True)
            if isinstance(position, int)
        ]
        recorded = tx.served.record(rows)
    unknown = [
        UnknownEvent(index=index, reason=reason)
        for index, reason in enumerate(positions)
        if isinstance(reason, str)
    ]
    return RecordedServedEvents(recorded=recorded, repeated=len(rows) - recorded, unknown=unknown)


def _position(
    event: ServedEvent, documents: Mapping[str, Sequence[str]]
) -> int | Literal["ranking", "document", "interleaved"]:
    """Return the position of an event's document, or the reason why it has none."""
    if event.ranking_id.startswith(SHOWN_LIST):
        return "interleaved"
    ranking = documents.get(event.ranking_id)
    if ranking is None:
        return "ranking"
    return ranking.index(event.document_id) if event.document_id in ranking else "document"
