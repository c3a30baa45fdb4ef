"""Texts of queries and documents with their ids, and queries sorted by metric."""

import random

import pytest
from playwright.sync_api import Page, expect

from tests.browser.prepared import Json, Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

QUERIES, DOCUMENTS = 70, 6
FIRST_QUERIES = 20
URLS = ["https://shop.example/{0}", "javascript:alert({0})", ""]


def shop_table() -> str:
    """Write judged products with texts; every third document has the URL of a web page."""
    draw = random.Random(7)
    lines = ["query_id,query_text,market,document_id,title,url,label,bm25"]
    for query in range(QUERIES):
        for index in range(DOCUMENTS):
            name = f"sku-{query}-{index}"
            title = f"Shoe {name}" if index < DOCUMENTS - 1 else ""
            url = URLS[index % 3].format(name)
            market, label = "de" if query % 5 else "at", draw.choice([0, 0, 1, 3])
            lines.append(
                f"q{query},shoes no. {query},{market},{name},{title},{url},{label},{draw.random():.3f}"
            )
    return "\n".join([*lines, ""])


def shop_run(seed: int) -> str:
    """Write a run that ranks the products at random."""
    draw = random.Random(seed)
    return "".join(
        f"q{query} Q0 sku-{query}-{index} 1 {draw.random():.4f} run{seed}\n"
        for query in range(QUERIES)
        for index in range(DOCUMENTS)
    )


@pytest.fixture
def shop(prepared: Prepared) -> Json:
    """Create a dataset with texts, two runs of it, an evaluation and a comparison."""
    if "shop" not in prepared.ids:
        dataset = prepared.upload("shop.csv", shop_table().encode())
        runs = [prepared.upload_run(f"run {seed}", dataset, shop_run(seed)) for seed in (1, 2)]
        measures = {"dataset_id": dataset, "metrics": ["ndcg@5", "arp"]}
        evaluated = prepared.job(kind="evaluate", ranking_id=runs[0], **measures)
        compared = prepared.job(kind="compare", systems=[{"ranking_id": run} for run in runs], **measures)
        prepared.ids |= {
            "shop": dataset,
            "shop run": runs[0],
            "shop evaluation": evaluated["evaluation_id"],
            "shop comparison": compared["comparison_id"],
        }
    return prepared.ids


def _check_documents(page: Page, place: str) -> None:
    titled = page.locator(f"{place} .titled").filter(has_text="sku-3-0")
    link = titled.get_by_role("link", name="Shoe sku-3-0")
    expect(link).to_have_attribute("href", "https://shop.example/sku-3-0")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(titled.locator("small")).to_have_text("sku-3-0")
    expect(page.locator(place).get_by_text("Shoe sku-3-1")).to_be_visible()
    assert page.locator(f'{place} a[href^="javascript:"]').count() == 0
    expect(page.locator(place).get_by_text("sku-3-5", exact=True)).to_be_visible()


def test_queries_and_documents_show_their_texts(visit: Visit, shop: Json) -> None:
    """Lists of queries, documents and rankings show texts and ids, and only web URLs are links."""
    page = visit.open(f"/datasets/{shop['shop']}#queries")
    row = page.locator('.view[data-view="queries"] tbody tr').nth(3)
    expect(row.get_by_role("link", name="shoes no. 3")).to_be_visible()
    expect(row.locator("small")).to_have_text("q3")
    visit.photograph("texts-dataset-queries")
    row.get_by_role("link", name="shoes no. 3").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Query shoes no. 3")
    expect(page.locator("#query > .figures")).to_contain_text("q3")
    _check_documents(page, ".documents")
    visit.photograph("texts-query")
    visit.open(f"/rankings/{shop['shop run']}#query=q3")
    expect(page.locator(".ranked-query h2")).to_have_text("Query shoes no. 3 q3")
    _check_documents(page, ".ranked")
    visit.settle()
    visit.photograph("texts-ranking")


def test_the_worst_queries_come_first(visit: Visit, prepared: Prepared, shop: Json) -> None:
    """Queries are sorted, and filtered by segment, range or a click on a bar; the URL keeps the filters."""
    path = f"/evaluations/{shop['shop evaluation']}"
    page = visit.open(path)
    rows = page.locator(".query-values tbody tr")
    expect(rows).to_have_count(FIRST_QUERIES)
    worst = prepared.get(f"/v1{path}/queries?sort=ndcg@5&limit=2")["items"]
    for row, item in zip(rows.all(), worst, strict=False):
        expect(row.get_by_role("link", name=item["query_text"])).to_be_visible()
        expect(row.locator("small")).to_have_text(item["query_id"])
        expect(row.locator("td").first).to_have_text(f"{item['values']['ndcg@5']:.4f}")
    visit.settle()
    visit.photograph("worst-queries")
    assert visit.violations() == []

    page.locator(".query-values").get_by_role("button", name="arp").click()
    largest = prepared.get(f"/v1{path}/queries?sort=arp&order=desc&limit=1")["items"][0]
    expect(rows.first.locator("small")).to_have_text(largest["query_id"])
    expect(page.locator(".query-values th", has_text="arp")).to_have_attribute("aria-sort", "descending")

    page.locator(".query-values").get_by_role("button", name="ndcg@5").click()
    page.get_by_role("combobox", name="Segment").select_option("market: at")
    expect(rows).to_have_count(QUERIES // 5)
    page.get_by_label("Minimum ndcg@5").fill("0.5")
    selected = prepared.get(f"/v1{path}/queries?segment=market: at&sort=ndcg@5&min=0.5")
    expect(rows).to_have_count(len(selected["items"]))
    expect(page.locator(".query-filters")).to_contain_text(
        f"{len(selected['items'])} of {QUERIES // 5} queries"
    )
    page.reload()
    expect(rows).to_have_count(len(selected["items"]))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Values of single queries as CSV").click()
    lines = download.value.path().read_text().splitlines()
    first = selected["items"][0]
    assert lines[0] == "query_id,query_text,ndcg@5,arp"
    assert lines[1].startswith(f"{first['query_id']},{first['query_text']},")
    assert len(lines) == 1 + len(selected["items"])
    page.locator(".query-values").get_by_role("button", name="Show all").click()
    expect(rows).to_have_count(FIRST_QUERIES)

    histogram = prepared.get(f"/v1{path}/queries?sort=ndcg@5&limit=1")["summary"]["histogram"]
    place = max(range(20), key=lambda index: histogram["counts"][index])
    page.locator(".query-values .histogram g").nth(place).click()
    expect(rows).to_have_count(min(FIRST_QUERIES, histogram["counts"][place]))


def test_queries_of_a_comparison_are_sorted_and_opened(visit: Visit, prepared: Prepared, shop: Json) -> None:
    """The largest losses come first; a click on a query shows both rankings with titles."""
    path = f"/comparisons/{shop['shop comparison']}"
    page = visit.open(path)
    page.get_by_text("Every query").click()
    rows = page.locator("details .scroll tbody tr")
    expect(rows).to_have_count(FIRST_QUERIES)
    worst = prepared.get(f"/v1{path}/queries?sort=difference&limit=1")["items"][0]
    expect(rows.first.get_by_role("button", name=worst["query_text"])).to_be_visible()
    before, after = worst["values"]["ndcg@5"]
    expect(rows.first.locator("td").first).to_have_text(f"{after - before:+.4f}".replace("-", "−"))
    rows.first.get_by_role("button").click()
    expect(page.locator(".compared-query h3")).to_have_text(
        f"Query {worst['query_text']} {worst['query_id']}"
    )
    number = worst["query_id"][1:]
    listed = page.locator(".two-rankings ol").first
    expect(listed.get_by_role("link", name=f"Shoe sku-{number}-0")).to_be_visible()
    expect(listed.locator("small", has_text=f"sku-{number}-0")).to_be_visible()
    visit.settle()
    visit.photograph("texts-comparison")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
