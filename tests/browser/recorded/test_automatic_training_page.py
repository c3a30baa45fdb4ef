"""Automatic training: the form, the job and the model."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import auto_trainings
from tests.browser.prepared import Prepared
from tests.browser.recorded.conftest import OnRecord
from tests.browser.visit import PHONE, Visit

pytestmark = pytest.mark.browser


def form(visit: Visit, dataset_id: str) -> Page:
    """Open the form of a new training on a dataset."""
    page = visit.open(f"/train?dataset={dataset_id}")
    page.locator("#train:not([aria-busy])").wait_for()
    return page


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (PHONE, 844)])
def test_the_form_for_the_best_model_fits_on_the_screen(
    visit: Visit, prepared: Prepared, width: int, height: int
) -> None:
    """The goal comes first, the form down to Start is visible, and other options are collapsed."""
    visit.page.set_viewport_size({"width": width, "height": height})
    page = form(visit, prepared.dataset("learnt from.csv", 1))
    expect(page.get_by_role("radio").first).to_be_checked()
    expect(page.get_by_label("Find the best model")).to_be_checked()
    expect(page.get_by_role("button", name="Start")).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Budget")).to_have_value("5")
    expect(page.locator("#field-seed")).to_be_hidden()
    assert visit.violations() == []
    visit.fit("train-best", (1440, PHONE))


def test_the_form_sends_the_chosen_values(visit: Visit, prepared: Prepared) -> None:
    """The form sends minutes as seconds and the preference by name, and shows refusals at their fields."""
    visit.refusals_expected = True
    trained, tested = prepared.dataset("learnt from.csv", 1), prepared.test_data()
    page = form(visit, trained)
    page.get_by_label("Model name").fill("best")
    page.get_by_role("textbox", name="Metric").fill("ndgc@10")
    page.get_by_label("Budget").fill("0.5")
    page.get_by_label("Test on").select_option(tested)
    page.get_by_label("Preference").select_option("simple")
    with page.expect_request("**/v1/jobs") as sent:
        page.get_by_role("button", name="Start").click()
    assert sent.value.post_data_json == {
        "kind": "auto-train",
        "dataset_id": trained,
        "test_dataset_id": tested,
        "model_name": "best",
        "metric": "ndgc@10",
        "budget_seconds": 30,
        "prefer": "simple",
    }
    expect(page.locator(".field", has=page.get_by_role("textbox", name="Metric"))).to_contain_text("ndcg@10")


def test_a_running_search_shows_its_candidates(visit: Visit, on_record: OnRecord) -> None:
    """The page lists measured candidates, best first, then the current one; it has no conclusion yet."""
    page = visit.open(f"/jobs/{on_record('searching', auto_trainings.running)}")
    expect(page.locator(".progress-words")).to_contain_text(
        "trying linear by ranknet · 34 of 60 · 2 min 20 s left"
    )
    rows = page.locator(".leaderboard .sortable tbody tr")
    expect(rows.locator(".name")).to_have_text(
        ["linear by lambdarank", "trees by lambdarank", "trees by arp-loss2", "linear by ranknet"]
    )
    expect(rows.last).to_contain_text("in training")
    expect(page.locator(".leaderboard")).to_contain_text("3 candidates measured, 2 to go.")
    expect(page.locator(".conclusion, .leaderboard .reference")).to_have_count(0)
    visit.fit("auto-train-running", (1440, PHONE))


def test_a_finished_search_shows_its_model_among_the_candidates(visit: Visit, on_record: OnRecord) -> None:
    """The page shows the conclusion, the next step, all values with the baselines, and skipped candidates."""
    page = visit.open(f"/jobs/{on_record('searched', auto_trainings.succeeded)}")
    conclusion = page.get_by_role("region", name="Conclusion")
    expect(conclusion.locator(".sentence")).to_contain_text("better than LightGBM's default trees")
    for action, view in (("Promote", "aliases"), ("Export", "exports")):
        expect(conclusion.get_by_role("link", name=action)).to_have_attribute(
            "href", re.compile(f"#view={view}$")
        )
    expect(conclusion.locator(".verdict")).to_have_text(["better", "no evidence", "better"])

    rows = page.locator(".leaderboard .sortable tbody tr")
    expect(rows.locator(".name").first).to_have_text("sum of 2 candidates")
    expect(page.locator(".leaderboard tr.main .name")).to_have_text(
        ["sum of 2 candidates", "linear by lambdarank", "trees by lambdarank"]
    )
    expect(rows.filter(has_text="tied with the best").locator(".name")).to_have_text("trees by lambdarank")
    expect(rows.first.locator("svg.whisker .reference")).to_have_count(2)
    expect(page.locator(".whisker-key li")).to_have_text(
        ["LightGBM's default trees 0.4310", "best single feature (bm25) 0.4702"]
    )
    page.get_by_text("Not ranked: 1 stopped, 1 out of time").click()
    left_out = page.get_by_role("region", name="Candidates that are not ranked")
    expect(left_out).to_contain_text("stopped: shown to be worse")
    expect(left_out).to_contain_text("out of time: the budget was used up")
    assert visit.violations() == []
    visit.fit("auto-train", (1440, PHONE))

    conclusion.get_by_role("link", name="Model", exact=True).click()
    expect(page.get_by_role("region", name="Conclusion of the training")).to_have_text(
        re.compile("better than LightGBM's default trees")
    )
    members = page.get_by_role("region", name="Members")
    expect(members.locator("tbody tr")).to_have_text(
        [re.compile(r"trees by lambdarank.*0\.731"), re.compile(r"linear by lambdarank.*12\.34")]
    )
    expect(page.get_by_role("button", name="Train again and compare files")).to_have_count(0)


def test_a_search_without_a_model_is_explained(visit: Visit, on_record: OnRecord) -> None:
    """The page explains that no model was built: the job failed in the search or was cancelled earlier."""
    page = visit.open(f"/jobs/{on_record('search failed', auto_trainings.failed)}")
    expect(page.locator(".job-problem")).to_contain_text("Memory limit")
    board = page.locator(".leaderboard")
    expect(board).to_contain_text("The job ended before a model was built from the candidates.")
    expect(page.locator(".leaderboard .sortable tbody tr")).to_have_count(3)
    page = visit.open(f"/jobs/{on_record('search cancelled', auto_trainings.cancelled)}")
    expect(page.locator(".leaderboard")).to_contain_text("No candidate was measured.")
    expect(page.locator(".leaderboard table").first).to_be_hidden()
    visit.fit("auto-train-cancelled", (1440, PHONE))


def test_searches_are_listed_by_their_kind(visit: Visit, on_record: OnRecord) -> None:
    """The list filters automatic trainings by kind, and an opened row shows the conclusion."""
    job_id = on_record("searched", auto_trainings.succeeded)
    page = visit.open("/jobs?kind=auto-train")
    row = page.locator(f'[data-job="{job_id}"]')
    expect(row.locator('[data-column="kind"]')).to_have_text("Automatic training")
    row.get_by_role("button", name=re.compile("^Details of")).click()
    expect(row.locator(".sentence")).to_contain_text("better than LightGBM's default trees")
