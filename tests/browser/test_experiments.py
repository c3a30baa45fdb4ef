"""Experiments of papers: the form, cancellation and deletion."""

import pytest
from playwright.sync_api import expect

from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def test_the_form_offers_the_tables_of_a_paper(visit: Visit) -> None:
    """The form offers the tables of the chosen paper, and shows the server's refusal at the field."""
    page = visit.open("/experiments#run")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("form")).not_to_have_attribute("aria-busy", "true")
    dialog.locator("#paper").select_option("lambdarank-2006")
    expect(dialog.get_by_role("checkbox", name="Figure 2")).to_be_checked()
    visit.refusals_expected = True
    for box in dialog.locator("#tables").get_by_role("checkbox").all():
        box.uncheck()
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(dialog.locator("#tables .field-error")).to_be_visible()


def test_an_experiment_is_run_cancelled_and_offered_to_be_resumed(visit: Visit) -> None:
    """The form opens the page of the new experiment, which has buttons to cancel, resume and delete it."""
    page = visit.open("/experiments#run")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("form")).not_to_have_attribute("aria-busy", "true")
    dialog.locator("#paper").select_option("lambda-ex-2023")
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="lambda-ex-2023")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel the experiment").click()
    expect(page.locator(".job-heading .status")).to_have_text("cancelled")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
    url = page.url
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete 1 experiment?")
    expect(dialog.locator(".deletion")).to_contain_text("1 experiment will be deleted")
    assert visit.violations() == []
    visit.refusals_expected = True  # the page polls the deleted experiment until the list opens
    dialog.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url("**/experiments")
    page.goto(url)
    expect(page.get_by_role("heading", name="There is no such experiment")).to_be_visible()


def test_the_list_is_narrowed_by_project(visit: Visit) -> None:
    """The list shows only experiments of the chosen project; the list of studies has the same filter."""
    paper = {"paper": "lambda-ex-2023", "tables": ["table-5"], "data": "sparse", "dry_run": True}
    ids = {}
    for project in ("papers", None):
        answer = visit.page.request.post(f"{visit.url}/v1/experiments", data={**paper, "project": project})
        ids[project] = answer.json()["id"]
        # Cancel the experiment: the test needs only the list, and the trainings would take minutes.
        visit.page.request.post(f"{visit.url}/v1/experiments/{ids[project]}/cancel")
    page = visit.open("/experiments")
    page.get_by_label("Filter by project").select_option("papers")
    page.wait_for_url("**/experiments?project=papers")
    expect(page.locator(f'[data-experiment="{ids["papers"]}"]')).to_be_visible()
    expect(page.locator(f'[data-experiment="{ids[None]}"]')).to_have_count(0)
    visit.photograph("experiments-by-project")
    page.goto(f"{visit.url}/studies?project=papers")
    expect(page.get_by_label("Filter by project")).to_have_value("papers")
