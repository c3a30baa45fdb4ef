"""Lists of evaluations and rankings, a query of a ranking, metrics by cutoff, and explanations."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.browser.prepared import QUERIES, Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def test_a_model_is_evaluated_and_its_metric_drawn_against_the_cutoff(
    visit: Visit, prepared: Prepared
) -> None:
    """The form requests many cutoffs by default; the curve has a point for each, the table all values."""
    reference, dataset_id = prepared.model(1), prepared.test_data()
    # No other test uses this dataset: a training that held out some of its queries would evaluate on it.
    unmeasured = prepared.dataset("never measured.csv", 4)
    page = visit.open("/evaluations#evaluate")
    form = page.locator("#evaluate-form:not([aria-busy])")
    form.get_by_label("Model or ranking").fill(reference)
    form.get_by_label("On the queries of").select_option(dataset_id)
    form.get_by_role("button", name="Evaluate").click()
    page.wait_for_url(re.compile(r"/evaluations/evl_"))
    evaluation = prepared.get(f"/v1/evaluations/{page.url.rsplit('/', 1)[1]}")
    curve = page.locator(".cutoffs")
    expect(curve.get_by_role("heading")).to_have_text("NDCG@k against k")
    expect(curve.locator(".plot")).to_have_attribute("data-cutoffs", "12")
    line = curve.locator(".area .line").first.evaluate("line => getComputedStyle(line).stroke")
    band = curve.locator(".area .band").evaluate("band => getComputedStyle(band).fill")
    assert band == line, "the band is of the colour of its line, and less opaque"
    curve.locator("summary").click()
    expect(curve.locator("tbody tr")).to_have_count(12)
    mean = evaluation["metrics"]["ndcg@20"]["mean"]
    expect(curve.locator("tbody tr").last).to_contain_text(f"{mean:.4f}")

    page = visit.open(f"/evaluations?dataset_id={dataset_id}")
    newest = page.locator("[data-evaluation]").first
    expect(newest).to_contain_text(f"{evaluation['metrics']['ndcg@10']['mean']:.4f}")
    expect(page.get_by_label("Filter by dataset")).to_have_value(dataset_id)
    page.get_by_label("Filter by dataset").select_option(unmeasured)
    expect(page.get_by_role("heading", name="No matching evaluations")).to_be_visible()


def test_a_ranking_shows_its_queries_and_documents(visit: Visit, prepared: Prepared) -> None:
    """The list opens a query of a run, with labels, contributions of each document, and its features."""
    ranking_id, dataset_id = prepared.run(), prepared.test_data()
    page = visit.open(f"/rankings?dataset_id={dataset_id}")
    expect(page.locator("#rankings td", has_text=re.compile("^model$"))).not_to_have_count(0)
    page.get_by_label("Filter by models or uploaded runs").select_option("true")
    expect(page.locator("#rankings td", has_text=re.compile("^model$"))).to_have_count(0)
    page.locator(f'#rankings a[href="/rankings/{ranking_id}"]', has_text="poor").click()
    page.wait_for_url(f"{visit.url}/rankings/{ranking_id}")
    page.get_by_label("Find a query by its id").fill("q8")
    expect(page.locator(".ranking-queries tbody tr")).to_have_count(
        sum(f"{q}"[0] == "8" for q in range(QUERIES))
    )
    page.locator(".ranking-queries").get_by_role("link", name="q8", exact=True).click()
    query = page.locator(".ranked-query")
    expect(query.get_by_role("heading")).to_have_text("Query q8")
    (listed,) = prepared.get(f"/v1/rankings/{ranking_id}?query_id=q8")["items"]
    rows = query.locator("tbody tr[data-document]")
    expect(rows).to_have_count(len(listed["documents"]))
    for row, each in zip(rows.all()[:5], listed["documents"], strict=False):
        expect(row.locator(".grade")).to_have_text(f"{each['label']:g}")
        gain = (2 ** each["label"] - 1) / math.log2(1 + each["rank"])
        expect(row.locator("td.number").nth(2)).to_have_text(f"{gain:.3f}" if gain else "0")
    rows.first.get_by_role("button").click()
    expect(query.locator(".feature-list dt")).to_have_text([f"f{j}" for j in range(1, 7)])
    expect(query.locator(".grade-legend .grade")).to_have_text(["0", "1", "2", "3"])
    visit.photograph("ranking")
    page.reload()
    expect(query.get_by_role("heading")).to_have_text("Query q8")


def test_a_dataset_is_ranked_by_a_model(visit: Visit, prepared: Prepared) -> None:
    """The form opens the ranking that the job makes, and shows an unknown model as a problem."""
    visit.refusals_expected = True
    reference, dataset_id = prepared.model(1), prepared.test_data()
    page = visit.open("/rankings#rank")
    form = page.locator("#rank-form")
    form.get_by_label("Ranks the queries of").select_option(dataset_id)
    form.get_by_label("Model").fill("nothing:9")
    form.get_by_role("button", name="Rank").click()
    expect(form.locator(".problem")).to_be_visible()
    form.get_by_label("Model").fill(reference)
    form.get_by_role("button", name="Rank").click()
    page.wait_for_url(re.compile(r"/rankings/rnk_"))
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{reference} ranks measured.csv")


def test_the_rank_of_a_document_is_explained(visit: Visit, prepared: Prepared) -> None:
    """A document is explained by both models of a pair, sorted by the difference of each feature."""
    comparison_id = prepared.comparison(
        "of models", systems=[{"model": prepared.model(1)}, {"model": prepared.model(2)}], metrics=["ndcg@10"]
    )
    page = visit.open(f"/comparisons/{comparison_id}#pair=0-1&query=q1")
    document = page.locator(".two-rankings ol").last.get_by_role("button").first
    name = document.inner_text()
    document.click()
    reasons = page.locator(".document-reasons")
    expect(reasons.locator("h4")).to_contain_text(f"Why {name} has its rank")
    expect(reasons.locator("h4")).to_contain_text("compared:2 at 1")
    texts = reasons.locator("tbody td:last-child").all_inner_texts()
    differences = [abs(float(text.replace("−", "-").replace("±", ""))) for text in texts]
    assert differences == sorted(differences, reverse=True)
    assert differences[0] > 0
    expect(document).to_have_attribute("aria-expanded", "true")
    visit.photograph("comparison-reasons")


def test_an_unknown_ranking_has_a_message(visit: Visit) -> None:
    """The heading states that there is no such ranking."""
    visit.refusals_expected = True
    page = visit.open("/rankings/rnk_00000000000000000000")
    expect(page.get_by_role("heading", name="There is no such ranking")).to_be_visible()
