"""The page of webhooks: creation, tests, deliveries and deletion."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Route, expect

from tests.browser.visit import LOOKS, Look, Visit

pytestmark = pytest.mark.browser


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"thank you")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def receiver() -> Iterator[str]:
    """The URL of a receiver that accepts every request."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook"
        server.shutdown()


@LOOKS
def test_a_webhook_is_made_tested_and_deleted(visit: Visit, receiver: str, look: Look) -> None:
    """The secret is shown once, a test reports the receiver's answer, and deliveries are listed."""
    visit.refusals_expected = True  # the form sends a webhook without a URL
    page = visit.open("/settings/webhooks")
    page.get_by_role("button", name="Add a webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.locator(".field-error, .summary").first).to_be_visible()
    dialog.get_by_label("URL").fill(f"{receiver}-{look[0]}")
    dialog.get_by_label("Description").fill("d" * 128)
    dialog.get_by_label("dataset.ready").check()
    assert visit.violations() == []
    visit.photograph(f"webhook-form-{look[0]}-{look[1]}")
    dialog.get_by_role("button", name="Add", exact=True).click()
    secret = page.get_by_role("region", name="Secret")
    expect(secret.locator("pre")).to_contain_text("whsec_")
    expect(secret.get_by_role("button", name="Copy the secret", exact=True)).to_be_visible()
    card = page.locator("[data-webhook]").filter(has_text=f"-{look[0]}")
    card.get_by_role("button", name="Send a test").click()
    expect(card).to_contain_text("The receiver answered 200")
    created = page.request.post(
        f"{visit.url}/v1/datasets/synthetic", data={"name": "hooked", "queries": 5, "documents_per_query": 4}
    )
    assert created.ok, created.text()
    expect(card).to_contain_text("last delivered", timeout=60_000)
    expect(card).not_to_contain_text("last delivered never", timeout=60_000)
    card.get_by_text("Deliveries", exact=True).click()
    expect(card.locator("[data-delivery]").first).to_contain_text("dataset.ready")
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    visit.photograph(f"webhooks-{look[0]}-{look[1]}")
    card.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(card).to_have_count(0)


def test_the_reason_why_a_due_delivery_waits_is_shown(visit: Visit, receiver: str) -> None:
    """A delivery that is due waits for earlier events, or until the webhook is enabled."""
    created = visit.page.request.post(f"{visit.url}/v1/webhooks", data={"url": f"{receiver}-waiting"})
    assert created.ok, created.text()
    waiting = {
        "id": "dlv_1",
        "event_id": 1,
        "event_kind": "alias.moved",
        "object_id": "shop@champion",
        "state": "waiting",
        "attempts": 0,
        "next_attempt_at": "2026-01-05T10:02:11Z",
        "created_at": "2026-01-05T10:02:11Z",
        "delivered_at": None,
        "log": [],
    }

    def answer(route: Route) -> None:
        route.fulfill(json={"items": [waiting], "next_cursor": None})

    visit.page.route("**/deliveries?*", answer)
    page = visit.open("/settings/webhooks")
    card = page.locator("[data-webhook]").filter(has_text="-waiting")
    card.get_by_text("Deliveries", exact=True).click()
    expect(card.locator("[data-delivery]")).to_contain_text("after earlier events")
    card.get_by_role("button", name="Disable").click()
    expect(card.locator("h2 + .status")).to_have_text("disabled")
    card.get_by_text("Deliveries", exact=True).click()
    card.get_by_text("Deliveries", exact=True).click()
    expect(card.locator("[data-delivery]")).to_contain_text("once enabled")
    page.request.delete(f"{visit.url}/v1/webhooks/{created.json()['id']}")
