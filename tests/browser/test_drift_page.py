"""Drift checks on the page of a model, and the drift report."""

import random
import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from core.store import Store
from tests.browser.prepared import Prepared
from tests.browser.visit import LOOKS, PATIENCE_MILLISECONDS, Look, Visit

pytestmark = pytest.mark.browser

REQUESTS = 20


@LOOKS
def test_drift_is_found_and_shown(visit: Visit, prepared: Prepared, store: Store, look: Look) -> None:
    """The report lists drifted features first, with their distributions in training and in requests."""
    name = f"drifting-{look[0]}"
    prepared.training(
        model_name=name,
        dataset_id=prepared.dataset("learnt from.csv", 1),
        loss={"name": "lambdarank"},
        hyperparameters={"num_iterations": 1, "num_leaves": 7},
    )
    reference = f"{name}:1"
    _score_shifted(visit, reference)
    _wait_until_sampled(store, name)
    page = visit.open(f"/models/{reference}#view=drift")
    page.get_by_role("button", name="Look for drift").click()
    report = page.locator("[data-report]").first
    expect(report.locator(".status")).to_have_text("drift")
    visit.photograph(f"model-drift-{look[0]}-{look[1]}")
    report.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Drift of {reference}")
    expect(page.locator("figure.profiles").first).to_be_visible()
    expect(page.locator("figure.profiles title").first).to_have_text(
        re.compile("^missing: Training data .*, Now ")
    )
    row = page.get_by_role("row").filter(has=page.get_by_role("button", name="Show f1", exact=True)).first
    expect(row.locator(".status")).to_have_text("drift")
    page.get_by_role("button", name="Show f2", exact=True).first.click()
    expect(page.locator("figure.profiles").first).to_contain_text("f2")
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    visit.photograph(f"drift-{look[0]}-{look[1]}")


def _wait_until_sampled(store: Store, name: str) -> None:
    """Wait until the samples of all requests have reached the store."""
    until = time.monotonic() + PATIENCE_MILLISECONDS / 1000
    while time.monotonic() < until:
        now = datetime.now(UTC)
        with store.read() as tx:
            samples = tx.drift.samples_between(now - timedelta(days=1), now, name)
        if sum(each.requests for each in samples) >= REQUESTS:
            return
        time.sleep(0.1)
    raise AssertionError("the samples do not reach the store")


def _score_shifted(visit: Visit, reference: str) -> None:
    """Score queries whose first feature differs strongly from the training data."""
    draw = random.Random(5)
    for request in range(REQUESTS):
        queries = [
            {
                "id": f"s{request}-{query}",
                "documents": [
                    {
                        "id": f"d{document}",
                        "features": {f"f{j}": draw.gauss(0, 2) + 20 * (j == 1) for j in range(1, 7)},
                    }
                    for document in range(8)
                ],
            }
            for query in range(10)
        ]
        answer = visit.page.request.post(f"{visit.url}/v1/models/{reference}/rank", data={"queries": queries})
        assert answer.ok, answer.text()
