"""The page of a dataset: findings, distributions, features, queries and documents."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.judged_files import (
    CONSTANT,
    GAPPED,
    LEAKING,
    LONG_QUERY,
    LONG_QUERY_DOCUMENTS,
    ODD_QUERY,
    QUERIES,
    QUERIES_WITHOUT_RELEVANT,
    TABLE_FEATURES,
    letor_text,
    table_text,
)
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

FIRST_FEATURES = 50
FIRST_QUERIES = 50
FIRST_DOCUMENTS = 100
FEW_FEATURES = 8


@pytest.fixture
def letor(prepared: Prepared) -> str:
    """Create a dataset from LETOR text and return its id."""
    return prepared.uploaded("looked at.txt", letor_text().encode())


@pytest.fixture
def table(prepared: Prepared) -> str:
    """Create a dataset from a table with columns of query attributes and return its id."""
    return prepared.uploaded("looked at.csv", table_text().encode())


def test_findings_have_severity_share_and_advice(visit: Visit, letor: str) -> None:
    """Findings are listed by severity, with their advice, share and examples."""
    page = visit.open(f"/datasets/{letor}")
    findings = page.request.get(f"{visit.url}/v1/datasets/{letor}").json()["findings"]
    expect(page.locator(".finding-title")).to_have_text([finding["title"] for finding in findings])
    expect(page.locator(".finding-words > .hint")).to_have_text([finding["advice"] for finding in findings])
    severities = page.locator(".finding > .severity").all_text_contents()
    assert severities == [finding["severity"].replace("info", "note") for finding in findings]
    warnings = severities.count("warning")
    expect(page.locator(".findings-head")).to_contain_text(f"{warnings} warning")

    barren = page.locator('.finding[data-code="queries-without-relevant"]')
    expect(barren.locator(".finding-share")).to_contain_text("5% of queries")
    examples = barren.get_by_role("link")
    expect(examples).to_have_count(QUERIES_WITHOUT_RELEVANT)
    examples.nth(1).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Query 2")
    expect(page.locator('.grade:not([data-grade="0"])')).to_have_count(0)


def test_a_finding_about_a_feature_links_to_it(visit: Visit, letor: str) -> None:
    """The example of a leaking feature opens the table of features with this feature alone; Back returns."""
    page = visit.open(f"/datasets/{letor}")
    page.locator('.finding[data-code="leaking-features"]').get_by_role("link", name=LEAKING).click()
    rows = page.locator('[data-view="features"] tbody tr')
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("1.0000")
    page.go_back()
    expect(page.locator('[data-view="overview"]')).to_be_visible()


def test_distributions_have_text_descriptions(visit: Visit, letor: str) -> None:
    """Label counts are bars of a table, and query lengths are columns with a text description."""
    page = visit.open(f"/datasets/{letor}")
    statistics = page.request.get(f"{visit.url}/v1/datasets/{letor}").json()["statistics"]
    labels = page.locator(".distributions .bars tbody tr")
    expect(labels).to_have_count(len(statistics["labels"]))
    for row, counted in zip(labels.all(), statistics["labels"], strict=True):
        assert row.locator("th, td.number").all_inner_texts() == [
            f"{counted['label']:g}",
            f"{counted['documents']:,}",
        ]
    lengths = page.get_by_role("img", name=re.compile(r"^Queries by number of documents, from 12 to 130"))
    histogram = statistics["documents_per_query"]["histogram"]
    expect(lengths.locator("g")).to_have_count(len(histogram))
    expect(lengths.locator("title").last).to_have_text(re.compile(r"documents: 1 query$"))


def test_features_are_searched_and_sorted(visit: Visit, letor: str) -> None:
    """The features that rank best come first; a click on a heading sorts, a second one reverses the order."""
    page = visit.open(f"/datasets/{letor}#features")
    names = page.locator('[data-view="features"] tbody th .name')
    expect(names.first).to_have_text(LEAKING)
    expect(names).to_have_count(5)
    expect(page.get_by_role("row", name=CONSTANT)).to_contain_text("constant")
    expect(page.get_by_role("row", name=GAPPED).locator(".unusual")).to_have_count(1)
    visit.photograph("features")

    mean = page.get_by_role("button", name="Mean")
    mean.click()
    expect(names.first).to_have_text(CONSTANT)
    expect(page.get_by_role("columnheader", name="Mean")).to_have_attribute("aria-sort", "descending")
    mean.press("Enter")
    expect(names.last).to_have_text(CONSTANT)
    expect(mean).to_be_focused()

    page.get_by_label("Find a feature").fill(GAPPED)
    expect(names).to_have_text([GAPPED])
    assert page.url.endswith(f"#features={GAPPED}")


def test_fifty_of_many_features_are_shown_at_first(visit: Visit, table: str) -> None:
    """The table shows fifty features until the user requests all."""
    page = visit.open(f"/datasets/{table}#features")
    rows = page.locator('[data-view="features"] tbody tr')
    expect(rows).to_have_count(FIRST_FEATURES)
    page.get_by_role("button", name=f"Show all {TABLE_FEATURES}").click()
    expect(rows).to_have_count(TABLE_FEATURES)


def test_queries_are_paged_and_found_by_their_beginning(visit: Visit, letor: str) -> None:
    """The list grows page by page, filters by a prefix kept in the URL, and links to the queries."""
    page = visit.open(f"/datasets/{letor}#queries")
    rows = page.locator('[data-view="queries"] tbody tr')
    expect(rows).to_have_count(FIRST_QUERIES)
    expect(page.get_by_role("status").filter(has_text=f"of {QUERIES} queries")).to_be_visible()
    visit.photograph("queries")
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(QUERIES)
    expect(rows.nth(FIRST_QUERIES).get_by_role("link"), "the focus is on the first new row").to_be_focused()

    field = page.get_by_label("Find a query by its id")
    field.fill("6")
    expect(rows).to_have_count(2)
    page.reload()
    expect(rows, "the address keeps the prefix").to_have_count(2)
    assert rows.nth(1).locator("td").all_inner_texts()[0] == str(LONG_QUERY_DOCUMENTS)
    field.fill("none")
    expect(page.locator('[data-view="queries"]')).to_contain_text("No query id begins with “none”.")
    field.fill(LONG_QUERY)
    expect(rows).to_have_count(1)
    field.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Query {LONG_QUERY}")


def test_a_query_shows_its_documents_by_grade(visit: Visit, letor: str) -> None:
    """Documents come page by page with labels coloured by grade, and a chosen order is kept."""
    page = visit.open(f"/datasets/{letor}/queries/{LONG_QUERY}")
    rows = page.locator("#query tbody tr")
    expect(rows).to_have_count(FIRST_DOCUMENTS)
    headings = page.locator("#query thead th")
    expect(headings).to_have_text(["Document", "Label", "inc", "f1", "f2", "f3", "f4", "f5"])
    page.get_by_role("button", name="inc").click()
    expect(rows.first.locator("td").nth(1)).to_have_text(str(FIRST_DOCUMENTS - 1))
    page.get_by_role("button", name="Label").click()
    grades = page.locator("#query .grade")
    expect(grades.first).to_have_attribute("data-grade", "4")
    expect(grades.last).to_have_attribute("data-grade", "0")
    page.get_by_role("button", name=f"Show more ({LONG_QUERY_DOCUMENTS - FIRST_DOCUMENTS} left)").click()
    expect(rows).to_have_count(LONG_QUERY_DOCUMENTS)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    labels = [int(label) for label in grades.all_inner_texts()]
    assert labels == sorted(labels, reverse=True)
    gaps = page.locator("#query .missing")
    expect(gaps, f"the first document lacks {GAPPED}").to_have_count(1)
    visit.photograph("query")
    page.get_by_role("link", name="looked at.txt").click()
    expect(page.locator('[data-view="queries"]')).to_be_visible()


def test_any_query_id_has_a_url(visit: Visit, table: str) -> None:
    """A query id with slashes, markup and umlauts is shown as text, and its page has an encoded URL."""
    page = visit.open(f"/datasets/{table}#queries")
    link = page.get_by_role("link", name=ODD_QUERY)
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Query {ODD_QUERY}")
    assert page.url == f"{visit.url}/datasets/{table}/queries/{quote(ODD_QUERY, safe='')}"
    assert page.locator("main b").count() == 0
    assert page.locator("#query dd").all_inner_texts() == ["8", "train", "fr"]
    visit.photograph("odd-query")


def test_a_query_shows_eight_features_at_first(visit: Visit, table: str) -> None:
    """A query shows eight features at first and all on request, in a region that scrolls separately."""
    page = visit.open(f"/datasets/{table}/queries/q1")
    headings = page.locator("#query thead th")
    expect(headings).to_have_count(2 + FEW_FEATURES)
    page.get_by_role("button", name=f"All {TABLE_FEATURES}").click()
    expect(headings).to_have_count(2 + TABLE_FEATURES)
    assert _page_width(page) <= page.viewport_size["width"]  # type: ignore[index]
    box = page.get_by_role("region", name="Documents")
    box.evaluate("box => { box.scrollLeft = 600; }")
    assert box.evaluate("box => box.scrollLeft") == 600
    left = headings.first.bounding_box()["x"]  # type: ignore[index]
    assert left == pytest.approx(box.bounding_box()["x"], abs=1)  # type: ignore[index]
    page.get_by_label("Find a feature").fill("f60")
    expect(headings).to_have_text(["Document", "Label", "f60"])


def test_unknown_datasets_and_queries_have_a_message(visit: Visit, letor: str) -> None:
    """Pages of unknown datasets and queries have a message and a link to the list."""
    visit.refusals_expected = True
    page = visit.open("/datasets/ds_00000000000000000000")
    expect(page.get_by_role("heading", name="There is no such dataset")).to_be_visible()
    page.get_by_role("link", name="All datasets").click()
    expect(page.get_by_role("link", name="Add a dataset")).to_be_visible()
    page = visit.open(f"/datasets/{letor}/queries/61")
    expect(page.get_by_role("heading", name="There is no such query")).to_be_visible()
    page.get_by_role("link", name="All queries of the dataset").click()
    expect(page.locator('[data-view="queries"] tbody tr').first).to_be_visible()


def test_a_failed_view_has_a_button_to_try_again(visit: Visit, letor: str) -> None:
    """The button sends the request again, and shows the view if it succeeds."""
    visit.refusals_expected = True
    page = visit.open(f"/datasets/{letor}")
    page.locator(".findings").wait_for()
    page.route("**/v1/datasets/*/features", lambda route: route.abort())
    page.get_by_role("link", name="Features").first.click()
    again = page.locator('[data-view="features"]').get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.unroute("**/v1/datasets/*/features")
    again.click()
    expect(page.locator('[data-view="features"] tbody tr')).to_have_count(5)


def _page_width(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))
