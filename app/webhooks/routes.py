"""Webhooks and their deliveries."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import Body, Path, Query
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import JsonRoute, Router
from app.http.schemas import Cursor, Limit
from app.http.services import UseServices
from app.webhooks.delivery import Deliverer, UseDeliverer
from app.webhooks.schemas import (
    Delivery,
    DeliveryPage,
    NewWebhook,
    Webhook,
    WebhookChange,
    WebhookPage,
    WebhookRequest,
    WebhookTest,
)
from app.webhooks.secrets import UseCipher
from app.webhooks.sending import Message
from core.outbound.guard import checked_url
from core.store import Transaction
from core.store.repositories import ids
from core.store.tables import Webhook as StoredWebhook
from rankery.webhooks import new_secret

router = Router(prefix="/v1/webhooks", tags=["events"], route_class=JsonRoute)

WebhookId = Annotated[str, Path(description="Id of the webhook", examples=["whk_01k9x2m4q7c8v5n3b6r1"])]
DeliveryId = Annotated[str, Path(description="Id of the delivery", examples=["dlv_01k9x3a7d5f8g2h4j6k9"])]
_EXAMPLES: Any = {
    "jobs": {
        "summary": "The end of each job, and refused promotions",
        "value": {
            "url": "https://ci.example.com/hooks/rankery",
            "events": ["job.ended", "gate.refused"],
            "description": "Starts the deployment",
        },
    },
    "everything": {"summary": "All events", "value": {"url": "https://example.com/rankery"}},
}
_CHANGES: Any = {
    "enable": {"summary": "Enable a webhook again", "value": {"enabled": True}},
    "events": {"summary": "Send other events", "value": {"events": ["worker.lost", "drift.found"]}},
}


@router.post("", summary="Create a webhook", status_code=HTTPStatus.CREATED, responses=body_problems())
def create_webhook(
    body: Annotated[WebhookRequest, Body(openapi_examples=_EXAMPLES)],
    services: UseServices,
    cipher: UseCipher,
    deliverer: UseDeliverer,
    caller: UseCaller,
    response: Response,
) -> NewWebhook:
    """Create a webhook for later events of the requested kinds; return its secret, which is shown only once.

    The secret is stored, encrypted where `RANKERY_ENCRYPTION_KEYS` is set. The request takes no
    `Idempotency-Key`.
    """
    _check_url(deliverer, body.url)
    secret = new_secret()
    with services.store.begin() as tx:
        row = tx.webhooks.add(secret=cipher.encrypt(secret), key_id=caller.key_id, **body.model_dump())
    deliverer.wake()
    response.headers["Location"] = f"/v1/webhooks/{row.id}"
    response.headers["Cache-Control"] = "no-store"
    return NewWebhook(**Webhook.of(row, 0).model_dump(), secret=secret)


@router.get("", summary="List webhooks", responses=etag_responses(422))
def list_webhooks(services: UseServices, cursor: Cursor = None, limit: Limit = 50) -> WebhookPage:
    """List webhooks, newest first."""
    with services.store.read() as tx:
        page = tx.webhooks.page(cursor, limit)
        waiting = tx.webhooks.waiting([row.id for row in page.items])
    return WebhookPage(
        items=[Webhook.of(row, waiting[row.id]) for row in page.items], next_cursor=page.next_cursor
    )


@router.get("/{webhook_id}", summary="Show a webhook", responses=etag_responses(404))
def get_webhook(webhook_id: WebhookId, services: UseServices) -> Webhook:
    """Show a webhook, without its secret."""
    with services.store.read() as tx:
        return _response(tx, tx.webhooks.get(webhook_id))


@router.patch("/{webhook_id}", summary="Change a webhook", responses=body_problems(404))
def change_webhook(
    webhook_id: WebhookId,
    body: Annotated[WebhookChange, Body(openapi_examples=_CHANGES)],
    services: UseServices,
    deliverer: UseDeliverer,
) -> Webhook:
    """Change a webhook.

    Events recorded while a webhook is disabled are never sent to it. Deliveries that waited before are sent
    once it is enabled.
    """
    values = {
        name: value
        for name, value in body.model_dump(exclude_unset=True).items()
        if value is not None or name in ("description", "project")
    }
    if "url" in values:
        _check_url(deliverer, values["url"])
    with services.store.begin() as tx:
        changed = _response(tx, tx.webhooks.change(webhook_id, values))
    deliverer.wake()
    return changed


@router.delete(
    "/{webhook_id}", summary="Delete a webhook", status_code=HTTPStatus.NO_CONTENT, responses=problems(404)
)
def delete_webhook(webhook_id: WebhookId, services: UseServices) -> None:
    """Delete a webhook with its deliveries."""
    with services.store.begin() as tx:
        tx.webhooks.delete(webhook_id)


@router.post("/{webhook_id}/rotate", summary="Rotate the secret", responses=problems(404))
def rotate_webhook_secret(
    webhook_id: WebhookId, services: UseServices, cipher: UseCipher, response: Response
) -> NewWebhook:
    """Give a webhook a new secret, shown once; for 24 hours the old secret signs deliveries, too."""
    secret = new_secret()
    with services.store.begin() as tx:
        webhook = _response(tx, tx.webhooks.rotate(webhook_id, cipher.encrypt(secret)))
    response.headers["Cache-Control"] = "no-store"
    return NewWebhook(**webhook.model_dump(), secret=secret)


@router.post("/{webhook_id}/test", summary="Test a webhook", responses=problems(404))
async def test_webhook(webhook_id: WebhookId, services: UseServices, deliverer: UseDeliverer) -> WebhookTest:
    """Send an event of the kind `webhook.test` once, without retries, and return the receiver's answer.

    The event is signed like any other, sent even if the webhook is disabled, and not listed as a delivery.
    """

    def read() -> StoredWebhook:
        with services.store.read() as tx:
            return tx.webhooks.get(webhook_id)

    webhook = await run_in_threadpool(read)
    message = Message.test(ids.new_id(ids.DELIVERY), webhook_id)
    attempt = await deliverer.send(webhook, message)
    fields = attempt.to_json()
    return WebhookTest(delivered=attempt.delivered, **{name: fields[name] for name in fields if name != "at"})


@router.get("/{webhook_id}/deliveries", summary="List deliveries", responses=etag_responses(404, 422))
def list_deliveries(
    webhook_id: WebhookId,
    services: UseServices,
    state: Annotated[
        Literal["waiting", "delivered", "dead"] | None, Query(description="Only deliveries in this state")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DeliveryPage:
    """List the deliveries of a webhook, newest first, with their attempts, as long as events are kept."""
    with services.store.read() as tx:
        tx.webhooks.get(webhook_id)
        page, events = tx.webhooks.deliveries(webhook_id, cursor, limit, state)
    return DeliveryPage(
        items=[Delivery.of(row, events[row.event_id]) for row in page.items], next_cursor=page.next_cursor
    )


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/redeliver",
    summary="Deliver again",
    status_code=HTTPStatus.ACCEPTED,
    responses=problems(404, 409),
)
def redeliver(
    webhook_id: WebhookId, delivery_id: DeliveryId, services: UseServices, deliverer: UseDeliverer
) -> Delivery:
    """Send an event again, delivered or not, with the same `webhook-id` and the full number of attempts."""
    with services.store.begin() as tx:
        row = tx.webhooks.redeliver(webhook_id, delivery_id)
        delivery = Delivery.of(row, tx.webhooks.events_of([row])[row.event_id])
    deliverer.wake()
    return delivery


def _response(tx: Transaction, row: StoredWebhook) -> Webhook:
    return Webhook.of(row, tx.webhooks.waiting([row.id])[row.id])


def _check_url(deliverer: Deliverer, text: str) -> None:
    """Refuse an invalid URL, and a host that resolves to a forbidden address."""
    url = checked_url(text, "/url")
    deliverer.check_address(url.raw_host.decode(), url.port or (443 if url.scheme == "https" else 80))
