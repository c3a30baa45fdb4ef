"""Requests and responses of events on served rankings."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.http.schemas import Moment, RequestModel, ResponseModel

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

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"recorded": 1, "repeated": 1, "unknown": [{"index": 2, "reason": "ranking"}]},
            ]
        }
    )

    recorded: int = Field(description="New events")
    repeated: int = Field(description="Events that had been recorded before")
    unknown: list[UnknownEvent] = Field(description="Events that were not recorded")
