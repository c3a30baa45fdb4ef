"""Pages show the answer to the last choice, whatever the order in which answers arrive."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


@pytest.fixture
def own_page() -> bool:
    """A separate page: the held answers belong to one test."""
    return True


class Held:
    """Requests that wait until the test lets them continue."""

    def __init__(self, page: Page, url: str | re.Pattern[str]) -> None:
        self._routes: list[Route] = []
        self._page = page
        page.route(url, lambda route: self._routes.append(route))

    def wait(self) -> None:
        """Wait until a request is held."""
        while not self._routes:
            self._page.wait_for_timeout(20)

    def release(self) -> None:
        """Let the held requests continue, and wait for their answers."""
        for route in self._routes:
            with self._page.expect_response(route.request.url):
                route.continue_()
        self._page.wait_for_timeout(100)  # the script that reads the answer runs after its arrival


def test_the_last_chosen_inspection_is_shown(visit: Visit, prepared: Prepared) -> None:
    """A late answer for an earlier choice does not replace the chosen inspection; an error is visible."""
    model, data = prepared.model(1), prepared.test_data()
    first, second = (
        prepared.job(kind="inspect", dataset_id=data, model=model, repeats=2, metric=metric)["inspection_id"]
        for metric in ("map", "ndcg@5")
    )
    page = visit.open(f"/models/{model}#view=inside&by=permutation&inspection={first}")
    importance, picker = page.locator("#importance"), page.get_by_label("Inspection", exact=True)
    expect(importance).to_contain_text("Drop of map")
    held = Held(page, f"**/v1/inspections/{second}")
    picker.select_option(second)
    held.wait()
    picker.select_option(first)
    visit.settle()
    held.release()
    expect(importance).to_contain_text("Drop of map")
    page.unroute_all()
    visit.refusals_expected = True
    page.route(f"**/v1/inspections/{second}", _refuse, times=1)
    picker.select_option(second)
    dependence = page.locator("#dependence")
    expect(dependence.get_by_role("button", name="Try again")).to_be_visible()
    expect(dependence.get_by_label("Feature", exact=True)).to_be_hidden()  # would show the earlier inspection
    dependence.get_by_role("button", name="Try again").click()
    expect(importance).to_contain_text("Drop of ndcg@5")
    expect(dependence.get_by_label("Feature", exact=True)).to_be_visible()


def _refuse(route: Route) -> None:
    route.fulfill(
        status=503, content_type="application/problem+json", body='{"title": "Away", "status": 503}'
    )


def test_the_report_of_another_format_is_not_shown(visit: Visit, prepared: Prepared) -> None:
    """The report of an export is dropped if the user chooses another format before it arrives."""
    page = visit.open(f"/models/{prepared.model(1)}#view=exports")
    form = page.locator("#exports form")
    held = Held(page, "**/export/parity")
    form.get_by_role("button", name="Export and compare").click()
    held.wait()
    form.get_by_label("Format").select_option(index=1)
    held.release()
    expect(form.get_by_role("button", name="Export and compare")).to_be_enabled()
    expect(page.get_by_role("region", name="Parity of the export with the model")).to_have_count(0)


def test_documents_are_busy_until_the_last_choice_has_arrived(visit: Visit, prepared: Prepared) -> None:
    """A late answer for an earlier query does not end the wait for the documents of the chosen query."""
    page = visit.open(f"/models/{prepared.model(1)}#view=try&dataset={prepared.test_data()}&query=q1")
    form = page.locator("form.try-form")
    expect(form).to_be_visible()
    visit.settle()
    queries = [Held(page, re.compile(rf"/queries/{query}\?")) for query in ("q2", "q3")]
    for name, held in zip(("q2", "q3"), queries, strict=True):
        page.get_by_label("Query", exact=True).fill(name)
        page.keyboard.press("Enter")
        held.wait()
    queries[0].release()
    expect(form).to_have_attribute("aria-busy", "true")
    queries[1].release()
    visit.settle()
    assert "query=q3" in page.url


def test_features_of_the_chosen_dataset_are_offered(visit: Visit, prepared: Prepared) -> None:
    """The form of simulated clicks offers the features of the dataset that was chosen last."""
    judged, synthetic = prepared.test_data(), prepared.synthetic("few queries", 15)
    page = visit.open("/click-logs#simulate")
    select = page.locator("#simulate-form:not([aria-busy]) select[data-list]")
    held = Held(page, f"**/v1/datasets/{synthetic}/features")
    select.select_option(synthetic)
    held.wait()
    select.select_option(judged)
    offered = page.locator("#feature-names option")
    expect(offered).to_have_count(6)
    held.release()
    expect(offered).to_have_count(6)


def test_a_changed_dataset_is_read_once_for_a_view(visit: Visit, prepared: Prepared) -> None:
    """A page that was drawn several times, because its dataset has changed, reads the features once."""
    dataset_id, names = prepared.test_data(), iter(("one", "two", "three"))

    def rename(route: Route) -> None:
        route.fulfill(json={**prepared.get(f"/v1/datasets/{dataset_id}"), "name": next(names, "three")})

    visit.page.route(f"**/v1/datasets/{dataset_id}", rename)
    page = visit.open(f"/datasets/{dataset_id}")
    for name in ("one", "two", "three"):
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("link", name="Features").click()
    expect(page.get_by_role("searchbox", name="Find a feature")).to_be_visible()
    requests = [request.url for request in visit.requests if request.url.endswith("/features")]
    assert len(requests) == 1
