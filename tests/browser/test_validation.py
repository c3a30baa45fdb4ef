"""Grids compared by validation data, proposed test datasets, and results on the overview.

The grids remain in the store, so tests that need short lists run before this module.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from core.store import Promotion, Store
from tests.browser import histories
from tests.browser.prepared import Prepared
from tests.browser.visit import Look, Visit
from tests.grids import Grid, finished_grid

pytestmark = pytest.mark.browser

PHONE = 390


@pytest.fixture(scope="package")
def grid(store: Store) -> Grid:
    """A finished grid of 60 trainings."""
    return finished_grid(store, name="judged")


def _compare(visit: Visit, grid: Grid, after: str = "") -> Page:
    page = visit.open("/jobs/compare?" + "&".join(f"job={job_id}" for job_id in grid.job_ids) + after)
    page.locator("#compared:not([aria-busy]) .compared tbody tr").first.wait_for()
    return page


@pytest.mark.slow
def test_a_grid_of_60_is_sorted_by_the_validation_metric(visit: Visit, grid: Grid) -> None:
    """Table and figure list the best first; trainings without a significant difference are grey."""
    page = _compare(visit, grid)
    rows = page.locator(".compared tbody tr")
    expect(rows).to_have_count(60)
    expect(rows.first).to_contain_text(grid.references[grid.best])
    expect(rows.first).to_have_attribute("data-best", "")
    expect(page.locator(".compared tr[data-tied]")).to_have_count(grid.tied - 1)
    foot = page.locator(".compared .hint")
    expect(foot).to_contain_text(f"{grid.tied - 1} grey rows are not significantly worse than the best one.")
    expect(foot).to_contain_text("Paired t-test against the best over 300 validation queries")
    expect(foot).to_contain_text("Select by the validation metric, not by the test metric.")
    expect(page.get_by_text("20 of 60 trainings are drawn: the best by validation.")).to_be_visible()
    expect(page.locator(".plot").first).to_have_attribute("data-lines", "20")
    expect(page.locator(".plot .y-title").first).to_have_text("validation ndcg@10")
    assert visit.violations() == []
    visit.photograph("grid-by-validation")


def test_lines_are_distinguishable(visit: Visit, grid: Grid) -> None:
    """Names omit their common prefix, a row under the pointer highlights its line, and smoothing is kept."""
    page = _compare(visit, grid)
    names = page.locator(".line-chips li a").all_inner_texts()
    assert len(set(names)) == 20
    assert not any("judged" in name for name in names)
    expect(page.locator(".line-chips li").first).to_have_attribute("title", re.compile("^judged: "))
    colours = page.locator(".line-chips .swatch .line").evaluate_all(
        "lines => lines.map((line) => getComputedStyle(line).stroke)"
    )
    assert len(set(colours[:10])) == 10
    assert colours[10:] == colours[:10]
    plot = page.locator(".plot[data-lines]")
    plot.wait_for()
    row = page.locator(".compared tbody tr").nth(3)
    row.hover()
    expect(plot).to_have_attribute("data-highlighted", row.get_attribute("data-job") or "")
    expect(page.locator(".line-chips .faint")).to_have_count(19)
    page.get_by_role("heading", level=1).hover()
    expect(page.locator(".line-chips .faint")).to_have_count(0)
    slider = page.get_by_label("Smoothing")
    slider.fill("0.6")
    expect(page.locator(".smoothing output")).to_have_text("0.6")
    page.reload()
    expect(slider).to_have_value("0.6")
    expect(page.get_by_text("20 of 60 trainings are drawn")).to_be_visible()


def test_the_best_is_compared_with_the_champion(visit: Visit, grid: Grid, store: Store) -> None:
    """One click compares both models on their common test data; without a champion, the page has a note."""
    other = finished_grid(store, name="unled", size=3)
    page = _compare(visit, other)
    expect(page.get_by_text("unled has no champion yet")).to_be_visible()
    with store.begin() as tx:
        tx.aliases.move("judged", "champion", 1)
        lineage = tx.models.resolve("judged:1").lineage
        assert lineage is not None
        test_id = lineage["datasets"]["test"]["id"]
    page = _compare(visit, grid)
    page.get_by_role("button", name="Best against champion").click()
    page.wait_for_url(re.compile("/jobs/job_"))
    job_id = page.url.split("/")[-1].split("#")[0]
    spec = page.request.get(f"{visit.url}/v1/jobs/{job_id}").json()["spec"]
    assert [system["system"] for system in spec["systems"]] == ["judged:1", grid.references[grid.best]]
    assert (spec["dataset_id"], spec["metrics"]) == (test_id, ["ndcg@10"])


@pytest.mark.parametrize("look", [("dark", PHONE)])
def test_a_grid_and_long_names_fit_a_phone(visit: Visit, grid: Grid, store: Store, look: Look) -> None:
    """The grid and an overview with long names do not scroll sideways."""
    finished_grid(store, name="a-name-of-a-model-that-someone-thought-about-for-a-long-while", size=2)
    with store.begin() as tx:
        tx.aliases.move("a-name-of-a-model-that-someone-thought-about-for-a-long-while", "champion", 1)
    page = _compare(visit, grid)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    page = visit.open("/")
    expect(page.locator("#champions")).to_contain_text("someone")
    visit.settle()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE


def test_the_overview_shows_verdicts_and_trends(
    visit: Visit, prepared: Prepared, grid: Grid, store: Store
) -> None:
    """The overview shows the last comparison and promotion, and the champion's metric by version."""
    sentence = "judged:2 is worse than judged:1 by ndcg@10"
    with store.begin() as tx:
        tx.aliases.move("judged", "champion", 60)
        job = tx.jobs.add(
            "promote", {"model_name": "judged", "alias": "champion", "systems": [{"system": "judged:2"}]}
        )
        claimed = tx.jobs.claim(job.id, "w:1/2", 60.0)
        assert claimed is not None
        tx.jobs.refuse(job.id, claimed.token, {"title": "Promotion refused", "detail": sentence})
        one, other = (tx.models.resolve(f"judged:{version}").id for version in (1, 2))
        tx.aliases.refuse(Promotion("judged", "champion", one, other, job.id, None, {"sentence": sentence}))
    counted = prepared.get("/v1/counts")["jobs"]
    assert counted["refused"] > 0
    page = visit.open("/")
    refused = page.locator('#results [data-verdict="refused"]').first
    expect(refused).to_contain_text(sentence)
    expect(page.locator("#failures")).not_to_contain_text(sentence)
    expect(refused.locator(".verdict")).to_have_text("refused")
    if counted["failed"]:
        assert int(page.locator('[data-count="failed"] strong').inner_text()) == counted["failed"]
    champion = page.locator("#champions li", has_text="judged:60")
    spark = champion.get_by_role("img", name=re.compile("^ndcg@10 on the same test data"))
    expect(spark).to_be_visible()
    assert len((spark.locator("polyline").get_attribute("points") or "").split()) == 20
    expect(spark.locator("circle")).to_have_count(1)
    assert visit.violations() == []
    visit.photograph("overview-results")


def test_failures_are_dismissed_in_this_browser(visit: Visit, store: Store) -> None:
    """Dismissed failures stay hidden after a reload, until another job fails."""
    job_id = histories.failed(store, "Time limit", "It ran for its limit of 60 s.", {"seconds": 60})
    page = visit.open("/")
    line = page.locator("#failures")
    expect(line.locator(".failure")).to_have_attribute("data-job", job_id)
    expect(line).to_contain_text("greedy: It ran for its limit of 60 s.")
    line.get_by_role("button", name="Dismiss").click()
    expect(line).to_be_empty()
    page.reload()
    visit.settle()
    expect(line).to_be_empty()
    other = histories.failed(store, "Time limit", "It ran for its limit of 60 s.", {"seconds": 60})
    page.reload()
    expect(line.locator(".failure")).to_have_attribute("data-job", other)
    expect(line).to_contain_text("1 job failed")


def test_forms_propose_the_test_data(visit: Visit, prepared: Prepared, grid: Grid, store: Store) -> None:
    """The form proposes the models' test data; unsuitable datasets come last, disabled and with a reason."""
    reference, test_id = prepared.model(1), prepared.test_data()
    newest = prepared.upload(
        "newer, without its features.csv", b"query_id,document_id,label,x\nq,d1,1,2\nq,d2,0,1\n"
    )
    page = visit.open(f"/models/{reference}#view=inside")
    select = page.get_by_label("On the documents of")
    expect(select).to_have_value(test_id)
    options = select.locator("option")
    expect(options.nth(1)).to_have_text(
        re.compile(r"^measured\.csv · test data · 90 queries, [\d,]+ documents, 6 features")
    )
    refused = select.locator(f'option[value="{newest}"]')
    expect(refused).to_be_disabled()
    expect(refused).to_have_text(re.compile(rf"lacks \d of the \d features that {reference} uses \(f"))
    assert visit.violations() == []

    page = visit.open(f"/evaluations?model={reference}#evaluate")
    form = page.locator("#evaluate-form:not([aria-busy])")
    expect(form.get_by_label("On the queries of")).to_have_value(test_id)
    form.get_by_label("Model or ranking").fill(grid.references[0])
    form.get_by_label("Model or ranking").press("Tab")
    expect(form.get_by_label("On the queries of")).not_to_have_value(test_id)

    page = visit.open(f"/comparisons?system={reference}#compare")
    form = page.locator("#compare-form:not([aria-busy])")
    expect(form.get_by_label("On the queries of")).to_have_value(test_id)
    form.get_by_role("button", name=f"Leave out {reference}").click()
    visit.open("/comparisons#compare")
    expect(form.get_by_label("On the queries of"), "nothing is chosen, so nothing is proposed").to_have_value(
        ""
    )

    with store.begin() as tx:
        tx.aliases.move("judged", "proposed", 1)
    tested = prepared.get("/v1/models/judged:1")["lineage"]["datasets"]["test"]["id"]
    page = visit.open("/models/judged:1#view=aliases")
    card = page.locator('.alias[data-alias="proposed"]')
    card.get_by_role("button", name="Set a gate").click()
    expect(card.get_by_label("Compared on the queries of")).to_have_value(tested)
