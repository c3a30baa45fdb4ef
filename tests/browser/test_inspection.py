"""Inspection of a model on its page: feature importance and partial dependence."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def _rows(page: Page) -> list[str]:
    return page.locator("#importance tbody th .name:not(:has(.name))").all_inner_texts()


def test_a_model_is_inspected_on_its_page(visit: Visit, prepared: Prepared) -> None:
    """The model's page opens the inspection form, and shows the importance and dependence of each feature."""
    reference, dataset_id = prepared.model(1), prepared.test_data()
    page = visit.open(f"/models/{reference}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(reference)  # perhaps with an alias
    page.get_by_role("link", name="Feature importance").click()
    importance = prepared.get(f"/v1/models/{reference}/importance")["features"]
    page.locator("#importance .bars").wait_for()
    assert _rows(page) == [each["feature"] for each in importance if each["gain"] > 0]
    page.get_by_role("button", name="permutation").click()
    expect(page.locator("#importance")).to_contain_text("Not measured yet")

    form = page.locator("#inspect:not([aria-busy])")
    form.get_by_label("On the documents of").select_option(dataset_id)
    form.get_by_label("Metric").fill("fame")
    visit.refusals_expected = True
    form.get_by_role("button", name="Inspect").click()
    expect(form.locator(".field-error")).to_contain_text("unknown metric")
    form.get_by_label("Metric").fill("map")
    form.get_by_label("Shuffle each feature").select_option("query")
    form.get_by_role("button", name="Inspect").click()
    page.locator("#importance .whiskers").wait_for()
    page.locator("#dependence .plot[data-feature] .drawing").first.wait_for()
    inspection = prepared.get(f"/v1/inspections/{_fragment(page)['inspection']}")
    assert (inspection["metric"], inspection["within"], inspection["dataset_id"]) == (
        "map",
        "query",
        dataset_id,
    )
    used = [each["feature"] for each in inspection["importance"] if each["mean"]]
    assert _rows(page) == used  # only features that the trees use
    first = inspection["importance"][0]
    expect(page.locator("#importance tbody tr").first).to_contain_text(f"{first['mean']:.4f}")
    visit.photograph("model")

    followed = inspection["partial_dependence"][-1]
    page.get_by_label("Feature", exact=True).select_option(followed["feature"])
    plot = page.locator("#dependence .plot")
    expect(plot).to_have_attribute("data-feature", followed["feature"])
    expect(plot).to_have_attribute("aria-label", re.compile(f"^Mean score as {followed['feature']} grows"))
    page.locator("#dependence summary").click()
    expect(page.locator("#dependence tbody tr")).to_have_count(len(followed["points"]))
    page.reload()
    expect(plot).to_have_attribute("data-feature", followed["feature"])
    assert _rows(page) == used


def _fragment(page: Page) -> dict[str, str]:
    return dict(part.split("=", 1) for part in page.url.split("#")[1].split("&"))
