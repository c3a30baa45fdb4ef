"""Requests that record events on served rankings."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import Body
from pydantic import Field

from app.http.openapi import body_problems
from app.http.route import JsonRoute, Router
from app.http.schemas import Moment, RequestModel, ResponseModel, example
from app.http.services import UseServices, injected
from app.served.writer import ListWriter
from core.store.clock import utc_now
from core.store.repositories.ids import SHOWN_LIST

MAX_ID_LENGTH = 1024
_ID = "srv_01k9x2m4q7c8v5n3b6r2"
EVENT_EXAMPLES: Any = {
    "clicks": {
        "summary": "A click and a purchase",
        "value": {
            "events": [
                {"ranking_id": _ID, "document_id": "d1"},
                {"ranking_id": _ID, "document_id": "d1", "action": "purchase", "at": "2026-01-05T09:31:00Z"},
            ]
        },
    }
}

Action = Annotated[str, Field(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9_.:-]+$")]


class ServedEvent(RequestModel):
    """An action of a user on a document of a served ranking."""

    ranking_id: str = Field(max_length=64, examples=[_ID])
    document_id: str = Field(max_length=MAX_ID_LENGTH, examples=["d1"])
    action: Action = Field(
        "click", description="Name of the action, whose weight `actions` sets when a click log is created"
    )
    at: Moment | None = Field(None, description="Time of the action; now when null")


class ServedEventsRequest(RequestModel):
    """Events on served rankings."""

    events: list[ServedEvent] = Field(min_length=1, max_length=1_000)


class UnknownEvent(ResponseModel):
    """An event that was not recorded."""

    index: int = Field(description="Index of the event in `events`, from 0")
    reason: Literal["ranking", "document", "interleaved"] = Field(
        description="`ranking`: the ranking is not stored, or not any more; `document`: the ranking lacks the"
        " document; `interleaved`: send clicks on interleaved lists to their interleaving"
    )


class RecordedServedEvents(ResponseModel):
    """The number of sent events by outcome."""

    model_config = example({"recorded": 1, "repeated": 1, "unknown": [{"index": 2, "reason": "ranking"}]})

    recorded: int = Field(description="New events")
    repeated: int = Field(description="Events that had been recorded before")
    unknown: list[UnknownEvent] = Field(description="Events that were not recorded")


router = Router(prefix="/v1/served-rankings", tags=["clicks"], route_class=JsonRoute)

UseListWriter = Annotated[ListWriter, injected(ListWriter)]


@router.post("/events", summary="Send events on served rankings", responses=body_problems())
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
