"""Requests and responses of webhooks."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.events.schemas import EventKind
from app.http.labels import ONE_LINE, ProjectName
from app.http.schemas import PageModel, RequestModel, ResponseModel, distinct, example
from core.outbound.guard import MAX_URL_LENGTH
from core.store.tables import Event, WebhookDelivery
from core.store.tables import Webhook as StoredWebhook

MAX_DESCRIPTION = 1_000


Url = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_URL_LENGTH,
        description="`https://` or `http://` URL; its host is public, or in `RANKERY_OUTBOUND_ALLOWED`",
        examples=["https://ci.example.com/hooks/rankery"],
    ),
]
Kinds = Annotated[
    list[EventKind],
    Field(
        max_length=20,
        description="Kinds of events to send; empty for all kinds",
        json_schema_extra={"uniqueItems": True},
    ),
    distinct("kind"),
]
Description = Annotated[
    str | None,
    Field(max_length=MAX_DESCRIPTION, pattern=f"^{ONE_LINE}$", description="Display text"),
]
OfProject = Annotated[
    ProjectName | None, Field(description="Project whose events are sent; null for all projects")
]


class WebhookRequest(RequestModel):
    """A request to create a webhook."""

    url: Url
    events: Kinds = Field(default_factory=list)
    description: Description = None
    project: OfProject = None
    enabled: bool = Field(True, description="Whether events are sent")


class WebhookChange(RequestModel):
    """A request to change a webhook; omitted fields stay."""

    url: Url | None = None
    events: Kinds | None = None
    description: Description = None
    project: OfProject = None
    enabled: bool | None = Field(None, description="Whether events are sent")


_WEBHOOK: dict[str, Any] = {
    "id": "whk_01k9x2m4q7c8v5n3b6r1",
    "url": "https://ci.example.com/hooks/rankery",
    "events": ["job.ended", "gate.refused"],
    "description": "Starts the deployment",
    "project": None,
    "enabled": True,
    "disabled_reason": None,
    "failing_since": None,
    "last_delivered_at": "2026-01-05T10:02:12Z",
    "waiting": 0,
    "created_at": "2026-01-05T09:30:00Z",
    "updated_at": "2026-01-05T09:30:00Z",
    "created_by": "key_01k9x2m4q7c8v5n3b6r9",
}


class Webhook(ResponseModel):
    """A webhook without its secret."""

    model_config = example(_WEBHOOK)

    id: str
    url: str
    events: list[str] = Field(description="Kinds of events to send; empty for all kinds")
    description: str | None
    project: str | None = Field(description="Project whose events are sent; null for all projects")
    enabled: bool
    disabled_reason: str | None = Field(
        description="Why the service disabled the webhook; null if it did not"
    )
    failing_since: datetime | None = Field(
        description="Time of the first failure since the last success; null while attempts succeed"
    )
    last_delivered_at: datetime | None
    waiting: int = Field(description="Number of deliveries that are neither delivered nor dead")
    created_at: datetime
    updated_at: datetime
    created_by: str | None = Field(description="API key that created the webhook")

    @classmethod
    def of(cls, row: StoredWebhook, waiting: int) -> "Webhook":
        """Return the response of a stored webhook."""
        return cls.model_validate({**row.column_values(), "waiting": waiting})


class NewWebhook(Webhook):
    """A webhook with a new secret, which is shown only once."""

    model_config = example({**_WEBHOOK, "secret": "whsec_Z3Vlc3MgYWdhaW4sIHRoaXMgaXMgYW4gZXhhbXBsZSE="})

    secret: str = Field(description="Key of the signatures; store it at the receiver, which verifies them")


class WebhookPage(PageModel):
    """A page of webhooks, newest first."""

    items: list[Webhook]


ResponseStatus = Annotated[
    int | None, Field(description="HTTP status of the response; null without a response")
]
AttemptError = Annotated[
    str | None, Field(description="Why the attempt failed; null if the event was delivered")
]
ResponseBody = Annotated[
    str | None, Field(description="The first 1,024 bytes of the response body; null without a response")
]


class DeliveryAttempt(ResponseModel):
    """One attempt to send an event."""

    at: datetime
    status: ResponseStatus
    took_seconds: float
    error: AttemptError
    answer: ResponseBody


_DELIVERY: dict[str, Any] = {
    "id": "dlv_01k9x3a7d5f8g2h4j6k9",
    "event_id": 1234,
    "event_kind": "job.ended",
    "object_id": "job_01k9x2z4q7c8v5n3b6r1",
    "state": "delivered",
    "attempts": 2,
    "next_attempt_at": None,
    "created_at": "2026-01-05T10:02:11Z",
    "delivered_at": "2026-01-05T10:02:17Z",
    "log": [
        {
            "at": "2026-01-05T10:02:11Z",
            "status": 503,
            "took_seconds": 0.12,
            "error": "the receiver answered 503",
            "answer": "starting",
        },
        {"at": "2026-01-05T10:02:17Z", "status": 204, "took_seconds": 0.08, "error": None, "answer": ""},
    ],
}


class Delivery(ResponseModel):
    """The delivery of an event to a webhook."""

    model_config = example(_DELIVERY)

    id: str = Field(description="Id of the delivery, sent as `webhook-id` in all attempts")
    event_id: int
    event_kind: str
    object_id: str
    state: Literal["waiting", "delivered", "dead"] = Field(
        description="State of the delivery; `dead` if it has failed and is not retried"
    )
    attempts: int
    next_attempt_at: datetime | None = Field(
        description="Time of the next attempt of a waiting delivery, which also waits for earlier events of"
        " the object"
    )
    created_at: datetime
    delivered_at: datetime | None
    log: list[DeliveryAttempt] = Field(description="The latest attempts, the oldest first")

    @classmethod
    def of(cls, row: WebhookDelivery, event: Event) -> "Delivery":
        """Return the response of a stored delivery."""
        return cls.model_validate({**row.column_values(), "event_kind": event.kind})


class DeliveryPage(PageModel):
    """A page of deliveries, newest first."""

    items: list[Delivery]


class WebhookTest(ResponseModel):
    """Outcome of a test."""

    model_config = example(
        {"delivered": True, "status": 204, "took_seconds": 0.08, "error": None, "answer": ""}
    )

    delivered: bool
    status: ResponseStatus
    took_seconds: float
    error: AttemptError
    answer: ResponseBody
