"""Schedules: a repeated training, its runs and their outcomes."""

import pytest
from playwright.sync_api import expect

from tests.browser.prepared import Prepared
from tests.browser.visit import LOOKS, Look, Visit

pytestmark = pytest.mark.browser


@LOOKS
def test_a_training_is_scheduled_and_runs_on_request(visit: Visit, prepared: Prepared, look: Look) -> None:
    """The form repeats an earlier training; a run on request trains the next version."""
    name = f"scheduled-{look[0]}"
    prepared.job(
        kind="train",
        model_name=name,
        dataset_id=prepared.dataset("learnt from.csv", 1),
        loss={"name": "lambdarank"},
        hyperparameters={"num_iterations": 2, "num_leaves": 4},
        metrics=["ndcg@10"],
    )
    visit.refusals_expected = True  # an invalid cron expression
    page = visit.open(f"/jobs?text={name}")
    page.get_by_role("link", name=name).first.click()
    page.get_by_role("link", name="Schedule", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Training to repeat").locator("option").first).to_be_attached()
    dialog.get_by_role("textbox", name="Name").fill(f"Nightly {name}")
    due = dialog.get_by_role("status")
    expect(due).to_contain_text("Next runs: ")
    expect(due).to_contain_text("03:00")
    dialog.locator("#repeat").select_option("Monday to Friday")
    dialog.locator("#at").fill("04:30")
    expect(dialog.get_by_label("Cron expression")).to_have_value("30 4 * * 1-5")
    expect(due).to_contain_text("04:30")
    expect(due).not_to_contain_text("Sun")
    dialog.locator("#repeat").select_option("Every hour")
    expect(dialog.get_by_label("Cron expression")).to_have_value("30 * * * *")
    dialog.locator("#repeat").select_option("Monday to Friday")
    expect(dialog.get_by_label("Cron expression")).to_have_value("30 4 * * 1-5")
    dialog.locator("#repeat").select_option("Custom expression")
    expect(dialog.locator("#at")).to_be_disabled()
    expect(dialog.locator("#repeat")).to_have_value("")
    dialog.get_by_label("Cron expression").fill("at night")
    expect(dialog.locator("#repeat")).to_have_value("")
    expect(due).to_contain_text("must have five fields")
    dialog.get_by_role("button", name="Schedule").click()
    expect(dialog.locator(".field-error").first).to_be_visible()
    dialog.get_by_label("Cron expression").fill("0 3 * * *")
    assert visit.violations() == []
    visit.photograph(f"schedule-form-{look[0]}-{look[1]}")
    dialog.get_by_role("button", name="Schedule").click()
    card = page.locator("[data-schedule]").filter(has_text=f"Nightly {name}")
    expect(card).to_contain_text(f"Every day at 03:00 (UTC) · Trains {name}")
    expect(card).to_contain_text("Next runs: ")
    card.get_by_text("Runs", exact=True).click()
    expect(card).to_contain_text("No run yet.")
    card.get_by_role("button", name="Run now").click()
    expect(card).to_contain_text("trained")
    expect(card.locator("[data-run]").get_by_role("link", name="Model")).to_be_visible()
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    visit.photograph(f"schedules-{look[0]}-{look[1]}")
    card.get_by_role("button", name="Pause").click()
    expect(card).to_contain_text("paused")
    card.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(card).to_have_count(0)
    page.locator("#undo").get_by_role("button", name="Undo").click()
    expect(card, "as it was: paused").to_contain_text("paused")
    expect(page.locator("#undo")).to_contain_text("was scheduled again")


def test_a_chosen_training_stays_chosen(visit: Visit, prepared: Prepared) -> None:
    """The form reads the trainings again when it opens, and keeps the chosen one."""
    for _ in range(2):
        prepared.training(
            model_name="chosen",
            dataset_id=prepared.synthetic("few queries", 15),
            loss={"name": "lambdarank"},
            hyperparameters={"num_iterations": 2},
        )
    page = visit.open("/schedules#create")
    select = page.get_by_label("Training to repeat")
    expect(select.locator("option").nth(1)).to_be_attached()
    select.select_option(index=1)
    chosen = select.input_value()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    with page.expect_response(lambda response: "kind=auto-train" in response.url):
        page.get_by_role("button", name="New schedule").click()
    page.wait_for_timeout(200)
    expect(select).to_have_value(chosen)


def test_a_training_older_than_the_offered_ones_is_chosen(visit: Visit, prepared: Prepared) -> None:
    """The link of an old training opens the form with this training, not with the newest one."""
    old, new = (
        prepared.training(
            model_name=name,
            dataset_id=prepared.dataset("learnt from.csv", 1),
            loss={"name": "lambdarank"},
            hyperparameters={"num_iterations": 1, "num_leaves": 4},
            metrics=["ndcg@10"],
        )
        for name in ("long-ago", "today")
    )
    offered = [prepared.get(f"/v1/jobs/{new}")]
    visit.page.route(
        "**/v1/jobs?kind=train&**",
        lambda route: route.fulfill(json={"items": offered, "next_cursor": None}),
    )
    page = visit.open(f"/schedules?from={old}")
    expect(page.get_by_label("Training to repeat")).to_have_value(old)


@pytest.mark.parametrize("own_page", [True])
def test_the_form_opens_from_an_empty_list_again(visit: Visit) -> None:
    """The link of an empty list opens the form each time, and keeps the focus when the list is read again."""
    visit.page.route(
        "**/v1/schedules?*", lambda route: route.fulfill(json={"items": [], "next_cursor": None})
    )
    visit.page.clock.install()
    page = visit.open("/schedules")
    link = page.get_by_role("link", name="New schedule")
    dialog = page.get_by_role("dialog")
    for _ in range(2):
        link.click()
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_have_count(0)
    link.focus()
    with page.expect_response("**/v1/schedules?*"):
        page.clock.run_for(20_000)  # longer than the slowest poll
    page.clock.run_for(1_000)
    expect(link).to_be_focused()
