"""Responses of events."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.http.schemas import Json, PageModel, ResponseModel, example
from core.store.tables import Event as StoredEvent

EventKind = Literal[
    "job.ended",
    "study.concluded",
    "gate.refused",
    "alias.moved",
    "dataset.ready",
    "drift.found",
    "schedule.ran",
    "schedule.failed",
    "worker.lost",
]

EVENT_EXAMPLE: dict[str, Any] = {
    "id": 1234,
    "kind": "job.ended",
    "at": "2026-01-05T10:02:11.482Z",
    "object": {"kind": "job", "id": "job_01k9x2z4q7c8v5n3b6r1"},
    "project": "search",
    "key_id": "key_01k9x2m4q7c8v5n3b6r1",
    "data": {
        "kind": "train",
        "title": "web",
        "status": "succeeded",
        "result": {"model_id": "mdl_01k9x3a7d5f8g2h4j6k9"},
        "problem": None,
        "metric": 0.4312,
        "took_seconds": 81.4,
    },
}


class EventObject(ResponseModel):
    """The object that an event is about."""

    kind: str = Field(
        description="`job`, `study`, `alias`, `dataset`, `drift-report`, `schedule` or `worker`"
    )
    id: str = Field(description="Id of the object, `name@alias` of an alias, or name of a worker")


class Event(ResponseModel):
    """An event, such as the end of a job."""

    model_config = example(EVENT_EXAMPLE)

    id: int = Field(description="Id of the event; later events have larger ids")
    # Any text: during an upgrade, newer workers may record kinds that `EventKind` lacks.
    kind: str = Field(description="Kind of the event, such as `job.ended`; later versions may add kinds")
    at: datetime
    object: EventObject
    project: str | None = Field(description="Project of the object")
    key_id: str | None = Field(description="API key that caused the event")
    data: Json = Field(description="Details, which depend on the kind; see the guide on events")

    @classmethod
    def of(cls, row: StoredEvent) -> "Event":
        """Return the response of a stored event."""
        event_object = {"kind": row.object_kind, "id": row.object_id}
        return cls.model_validate({**row.column_values(), "object": event_object})


class EventPage(PageModel):
    """A page of events."""

    items: list[Event]
