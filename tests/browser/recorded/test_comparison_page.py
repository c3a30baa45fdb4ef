"""The page of a comparison: conclusion, tests, changed queries, and moved documents."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.prepared import MISSING_FROM_RUN, Json, Prepared, shown_metric
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

METRICS = ["ndcg@10", "arp"]
MARKS = {"better": "▲", "worse": "▼", "no evidence": "○"}
OPPOSITE = {"better": "worse", "worse": "better", "no evidence": "no evidence"}
TOP = 20


def _open(visit: Visit, comparison_id: str, view: str = "") -> Page:
    page = visit.open(f"/comparisons/{comparison_id}{view}")
    page.locator(".differences").wait_for()
    return page


@pytest.fixture
def of_two(prepared: Prepared) -> Json:
    """Compare two models."""
    systems = [{"model": prepared.model(1)}, {"model": prepared.model(2)}]
    comparison_id = prepared.comparison("of two", systems=systems, metrics=METRICS)
    return prepared.get(f"/v1/comparisons/{comparison_id}")


@pytest.fixture
def of_three(prepared: Prepared) -> Json:
    """Compare a run and two models."""
    systems = [{"ranking_id": prepared.run()}, {"model": prepared.model(1)}, {"model": prepared.model(2)}]
    comparison_id = prepared.comparison("of three", systems=systems, metrics=METRICS)
    return prepared.get(f"/v1/comparisons/{comparison_id}")


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{shown_metric(abs(value))}"


def test_the_conclusion_comes_first(visit: Visit, of_two: Json) -> None:
    """The conclusion shows its sentence, verdict and method, and the means of both systems are listed."""
    page = _open(visit, of_two["id"])
    finding = page.get_by_role("region", name="Conclusion")
    expect(finding.locator(".sentence")).to_have_text(of_two["sentence"])
    expect(finding).to_have_attribute("data-verdict", of_two["pairs"][0]["verdict"])
    expect(finding).to_contain_text("100,000 permutations")
    expect(finding).to_contain_text("Preset default: gain 2^y − 1")
    rows = page.locator(".whiskers tbody tr")
    for row, system in zip(rows.all(), of_two["systems"], strict=True):
        expect(row).to_contain_text(system["name"])
        expect(row).to_contain_text(f"{system['metrics']['ndcg@10']['mean']:.4f}")


def test_tests_of_each_metric_are_listed(visit: Visit, of_two: Json) -> None:
    """Difference, interval, p-values and counts match the API; the verdict follows the metric's direction."""
    page = _open(visit, of_two["id"])
    for metric in METRICS:
        result = of_two["pairs"][0]["metrics"][metric]
        row = page.locator(".differences-table tbody tr").filter(has=page.locator("th", has_text=metric))
        expect(row).to_contain_text(_signed(result["difference"]))
        expect(row).to_contain_text(f"{_signed(result['lower'])} to {_signed(result['upper'])}")
        expect(row.locator(".verdict")).to_have_text(result["verdict"])
        counts = [result["wins"], result["ties"], result["losses"]]
        better, equal, worse = counts if metric == "ndcg@10" else counts[::-1]
        expect(row).to_contain_text(f"{better} · {equal} · {worse}")


def test_differences_are_drawn_sorted(visit: Visit, of_two: Json) -> None:
    """The drawing has the numbers of queries with larger and smaller values of the chosen metric."""
    page = _open(visit, of_two["id"])
    for metric in METRICS:
        page.get_by_role("group", name="Metric of the differences").get_by_role("button", name=metric).click()
        result = of_two["pairs"][0]["metrics"][metric]
        words = f"larger on {result['wins']}, equal on {result['ties']}, smaller on {result['losses']};"
        drawing = page.get_by_role("img", name=re.compile(f"^Differences of {metric} .*{words}"))
        expect(drawing).to_be_visible()
        better = result["wins"] if metric == "ndcg@10" else result["losses"]
        expect(page.locator('.differences-shares [data-kind="gained"]')).to_contain_text(f"{better} better")
        filled = drawing.locator("path.gained").bounding_box()
        assert filled is not None
        assert filled["height"] > 0


def test_a_changed_query_shows_the_moved_documents(visit: Visit, prepared: Prepared, of_two: Json) -> None:
    """A click on a query shows both rankings with a line per document, and the URL keeps the query."""
    page = _open(visit, of_two["id"])
    query = of_two["pairs"][0]["most_improved"][0]["query_id"]
    page.get_by_role("button", name=query, exact=True).click()
    rankings = prepared.get(f"/v1/comparisons/{of_two['id']}/rankings?query_id={query}&top={TOP}")
    tops = [system["ranking"] for system in rankings["systems"]]
    lists = page.locator(".two-rankings ol")
    for index, ranking in enumerate(tops):
        names = lists.nth(index).locator("li .name")
        expect(names).to_have_text([each["document_id"] for each in ranking])
        grades = lists.nth(index).locator("li .grade")
        expect(grades).to_have_text([f"{each['label']:g}" for each in ranking])
    either = {each["document_id"] for ranking in tops for each in ranking}
    expect(page.locator(".moves path")).to_have_count(len(either))
    _check_shift(lists.nth(1), *tops)
    visit.photograph("comparison-query")

    lists.nth(0).locator("li").nth(0).hover()
    name = tops[0][0]["document_id"]
    followed = page.locator(".two-rankings li[data-followed]")
    expect(followed.locator(".name")).to_have_text(
        [name] * sum(name in {each["document_id"] for each in ranking} for ranking in tops)
    )

    page.reload()
    expect(page.locator(".two-rankings ol").nth(1).locator("li")).to_have_count(len(tops[1]))
    expect(page.get_by_role("button", name=query, exact=True)).to_have_attribute("aria-pressed", "true")


def _check_shift(after: Locator, before_top: list[Json], after_top: list[Json]) -> None:
    before = {each["document_id"]: each["rank"] for each in before_top}
    for row, each in zip(after.locator("li").all(), after_top, strict=True):
        risen = before.get(each["document_id"], TOP + 1) - each["rank"]
        if each["document_id"] in before and risen != 0:
            expect(row.locator(".shift")).to_have_text(f"{'↑' if risen > 0 else '↓'}{abs(risen)}")
            expect(row.locator(".shift")).to_have_attribute("data-shift", "up" if risen > 0 else "down")


def test_any_query_can_be_looked_at(visit: Visit, of_three: Json) -> None:
    """A query opens by its id, a document missing from one system is marked, and an unknown id is refused."""
    visit.refusals_expected = True
    page = _open(visit, of_three["id"], "#pair=0-2")
    field = page.get_by_label("Look at a query by its id")
    field.fill("q3")
    field.press("Enter")
    added = page.locator(".two-rankings ol").nth(1).locator("li", has_text=MISSING_FROM_RUN)
    expect(added.locator(".shift")).to_have_text("new")
    field.fill("no such query")
    field.press("Enter")
    expect(page.locator(".compared-query .problem")).to_contain_text("no such query")


def test_a_pair_is_chosen_from_the_matrix(visit: Visit, of_three: Json) -> None:
    """Each cell compares the row's system with the column's; a click shows the conclusion of the pair."""
    page = _open(visit, of_three["id"])
    expect(page.locator(".sentence").first).to_have_text(of_three["sentence"])
    cells = page.locator(".matrix button")
    expect(cells).to_have_count(2 * len(of_three["pairs"]))
    for pair in of_three["pairs"]:
        result = pair["metrics"]["ndcg@10"]
        upper = page.locator(f'[data-place="{pair["a"]}-{pair["b"]}"]')
        lower = page.locator(f'[data-place="{pair["b"]}-{pair["a"]}"]')
        expect(lower).to_have_text(f"{MARKS[result['verdict']]} {_signed(result['difference'])}")
        expect(upper).to_have_text(f"{MARKS[OPPOSITE[result['verdict']]]} {_signed(-result['difference'])}")
    last = of_three["pairs"][-1]
    page.locator(f'[data-place="{last["b"]}-{last["a"]}"]').click()
    pair_finding = page.get_by_role("region", name="Conclusion of the pair")
    expect(pair_finding.locator(".sentence")).to_have_text(last["sentence"])
    expect(pair_finding).to_have_attribute("data-verdict", last["verdict"])
    expect(page.locator(f'[data-place="{last["b"]}-{last["a"]}"]')).to_be_focused()
    page.get_by_text("Tests of all pairs and metrics").click()
    expect(page.locator("details .differences-table tbody tr")).to_have_count(len(of_three["pairs"]) * 2)
    visit.photograph("comparison-of-three")


def test_an_unknown_comparison_has_a_message(visit: Visit) -> None:
    """The page of an unknown comparison has a message and a link to all comparisons."""
    visit.refusals_expected = True
    page = visit.open("/comparisons/cmp_00000000000000000000")
    expect(page.get_by_role("heading", name="There is no such comparison")).to_be_visible()
    expect(page.get_by_role("link", name="All comparisons")).to_be_visible()
