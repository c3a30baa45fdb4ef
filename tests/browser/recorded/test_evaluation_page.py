"""The page of an evaluation: baselines, metrics and their contract, slices, diagnostics, queries."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.prepared import COUNTRIES, QUERIES, Json, Prepared, shown_metric
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

METRICS = ["ndcg@10", "arp", "map"]
FIRST_QUERIES = 20


@pytest.fixture
def evaluation(visit: Visit, prepared: Prepared) -> Json:
    """Evaluate a model with diagnostics, open the page, and return the evaluation as the API shows it."""
    evaluation_id = prepared.evaluation(
        "diagnosed",
        model=prepared.model(2),
        metrics=METRICS,
        diagnostics={"loss": {"name": "lambdarank"}, "cutoff": 5},
    )
    page = visit.open(f"/evaluations/{evaluation_id}")
    page.locator("#evaluation:not([aria-busy]) .query-values tbody tr").first.wait_for()
    return prepared.get(f"/v1/evaluations/{evaluation_id}")


def _numbers(summary: Json) -> str:
    if summary["mean"] is None:
        return "–"
    mean, lower, upper = (shown_metric(summary[name]) for name in ("mean", "lower", "upper"))
    return f"{mean} {lower} – {upper}"


def _rows(page: Page, panel: str) -> list[tuple[str, str]]:
    rows = page.locator("section.panel").filter(has=page.get_by_role("heading", name=panel))
    return [
        (
            row.locator("th .name").inner_text(),
            " ".join(row.locator("td.number:not(.queries)").inner_text().split()),
        )
        for row in rows.locator("tbody tr:not(.group)").all()
    ]


def test_a_model_is_listed_with_its_baselines(visit: Visit, evaluation: Json) -> None:
    """The model comes first, then the baselines, best first; the order of dots is that of the means."""
    page = visit.page
    expect(page.get_by_role("heading", level=1)).to_have_text("compared:2 on measured.csv")
    for metric, sign in (("ndcg@10", -1), ("arp", 1)):
        page.get_by_role("group", name="Metric of Compared with").get_by_role("button", name=metric).click()
        baselines = sorted(evaluation["baselines"], key=lambda one: sign * one["metrics"][metric]["mean"])
        expected = [("compared:2", evaluation["metrics"][metric])]
        expected += [(one["name"], one["metrics"][metric]) for one in baselines]
        assert _rows(page, "Compared with baselines") == [
            (name, _numbers(summary)) for name, summary in expected
        ]
        dots = page.locator(".whiskers").first.locator(".dot")
        places = dots.evaluate_all("dots => dots.map(dot => parseFloat(dot.getAttribute('cx')))")
        means = [summary["mean"] for _, summary in expected]
        by_place = sorted(range(len(means)), key=lambda row: places[row])
        assert by_place == sorted(range(len(means)), key=lambda row: means[row])
    visit.photograph("evaluation")


def test_slices_have_separate_rows(visit: Visit, evaluation: Json) -> None:
    """Each slice of the queries has a row under its kind, including slices by columns of the file."""
    page = visit.page
    panel = page.locator("section.panel").filter(has=page.get_by_role("heading", name="By segment"))
    kinds = list(dict.fromkeys(each["by"] for each in evaluation["slices"]))
    expect(panel.locator(".group")).to_have_text(kinds)
    assert "country" in kinds
    page.get_by_role("group", name="Metric of By segment").get_by_role("button", name="map").click()
    assert _rows(page, "By segment") == [
        (each["value"], _numbers(each["metrics"]["map"])) for each in evaluation["slices"]
    ]
    assert [each["value"] for each in evaluation["slices"] if each["by"] == "country"] == COUNTRIES
    assert panel.locator(".reference").count() == len(evaluation["slices"])


def test_every_number_has_its_contract_in_words(visit: Visit, prepared: Prepared) -> None:
    """Each metric has the conventions that apply to it, and the heading has the preset."""
    evaluation_id = prepared.evaluation(
        "of a run", ranking_id=prepared.run(), metrics=["ndcg@10", "map"], contract="trec_eval"
    )
    page = visit.open(f"/evaluations/{evaluation_id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("poor on measured.csv")
    meaning = page.locator(".conventions > div")
    expect(meaning.nth(0)).to_contain_text("gain y")
    expect(meaning.nth(0)).to_contain_text("ties by document id, the larger first")
    expect(meaning.nth(1)).to_contain_text("queries without relevant documents count as 0")
    expect(meaning.nth(1)).not_to_contain_text("gain")
    expect(page.get_by_role("heading", name="Metric definitions")).to_contain_text("preset trec_eval")
    expect(page.locator(".numbers tbody tr").first.locator("td").last).to_have_text("0")


def test_diagnostics_have_titles_values_and_sources(visit: Visit, evaluation: Json) -> None:
    """Each diagnostic has its title, value and source."""
    entries = visit.page.locator(".diagnostic")
    expect(entries).to_have_count(len(evaluation["diagnostics"]["values"]))
    first = entries.first
    expect(first.locator("dt")).to_have_text("Incoherent")
    expect(first.locator(".value")).to_have_text(re.compile(r"%$"))
    expect(first).to_contain_text("Marcuzzi et al. 2023")
    expect(visit.page.locator(".diagnostics > .hint")).to_contain_text("top 5")


def test_queries_are_read_page_after_page(visit: Visit, prepared: Prepared, evaluation: Json) -> None:
    """The worst queries come first, Show more adds the others, and each query links to its documents."""
    page = visit.page
    rows = page.locator(".query-values tbody tr")
    expect(rows).to_have_count(FIRST_QUERIES)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(QUERIES)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    query = prepared.get(f"/v1/evaluations/{evaluation['id']}/queries?sort=ndcg@10&limit=2")["items"][1]
    expect(rows.nth(1).locator("td")).to_have_text([shown_metric(query["values"][name]) for name in METRICS])
    rows.nth(1).get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Query {query['query_id']}")


def test_the_job_links_to_its_evaluation_with_downloads(visit: Visit, evaluation: Json) -> None:
    """The ranking is downloaded as a TREC run, and the judgments as TREC qrels."""
    page = visit.open(f"/jobs/{evaluation['job_id']}")
    page.get_by_role("link", name="Evaluation", exact=True).click()
    menu, files = page.locator("details.menu summary"), page.locator("details.menu .menu-items")
    menu.click()
    page.keyboard.press("Escape")
    expect(files).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    page.get_by_role("heading", level=1).click()
    expect(files).to_be_hidden()
    page.get_by_text("Download", exact=True).click()
    visit.photograph("evaluation-downloads")
    with page.expect_download() as ranking:
        page.get_by_role("link", name="Ranking (TREC run)").click()
    assert ranking.value.path().read_text().split()[1] == "Q0"
    with page.expect_download() as judgments:
        page.get_by_role("link", name="Judgments (TREC qrels)").click()
    query, iteration, *_ = judgments.value.path().read_text().split()
    assert (query, iteration) == ("q0", "0")


def test_a_tested_model_links_to_its_evaluation(visit: Visit, prepared: Prepared) -> None:
    """The link is in the list of models, and opens the evaluation on the test data."""
    prepared.model(2)
    latest = prepared.get("/v1/model-names?contains=compared")["items"][0]["latest"]["version"]
    page = visit.open("/models?prefix=compared")
    page.locator("[data-model]").first.get_by_title("Evaluation").first.click()
    page.wait_for_url(re.compile(r"/evaluations/evl_"))
    expect(page.get_by_role("heading", level=1)).to_have_text(f"compared:{latest} on measured.csv")


def test_an_unknown_evaluation_has_a_message(visit: Visit) -> None:
    """The heading states that there is no such evaluation."""
    visit.refusals_expected = True
    page = visit.open("/evaluations/evl_00000000000000000000")
    expect(page.get_by_role("heading", name="There is no such evaluation")).to_be_visible()
