"""What the server refuses is shown where the user can mend it."""

import pytest
from playwright.sync_api import expect

from core.losses import LOSSES
from core.parameters import parameters_of
from tests.browser.actions import dataset_row, fill_training, make_dataset
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

MOST_IN_SIGHT = 4


def test_refusals_are_shown_at_their_fields(visit: Visit) -> None:
    """A value out of bounds, a word for a number and an unknown metric are each explained at their field."""
    visit.refusals_expected = True
    make_dataset(visit, "refused", queries=20)
    page = fill_training(visit, dataset="refused", model="refused", iterations=5)
    page.get_by_label("Learning rate").fill("-1")
    more = page.locator("#loss-more")
    more.locator("summary").click()
    page.get_by_label("Sigma").fill("steep")
    more.locator("summary").click()
    page.get_by_role("button", name="Start training").click()

    rate = page.get_by_label("Learning rate")
    expect(rate).to_have_attribute("aria-invalid", "true")
    explanation = rate.get_attribute("aria-describedby")
    expect(page.locator(f"#{explanation}")).to_contain_text("0")
    expect(page.get_by_label("Sigma")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Sigma"), "unfolded, and the first of them").to_be_focused()
    visit.photograph("refused")

    rate.fill("0.1")
    page.get_by_label("Sigma").fill("")
    metrics = page.locator('[data-pointer="/metrics"]')
    metrics.fill("ndcg@5, fame")
    page.get_by_role("button", name="Start training").click()
    expect(metrics).to_have_attribute("aria-invalid", "true")
    expect(rate, "errors of the last attempt are gone").not_to_have_attribute("aria-invalid", "true")


def test_a_list_that_is_not_numbers_is_explained_once(visit: Visit) -> None:
    """Of a gain list with a word in it only the word is spoken of, not that the list is none of the names."""
    visit.refusals_expected = True
    make_dataset(visit, "worded", queries=20)
    page = fill_training(visit, dataset="worded", model="worded", iterations=5)
    page.locator("#loss-more summary").click()
    page.locator("#loss-more").get_by_label("Gain").first.select_option("own numbers…")
    numbers = page.get_by_label("Gain, own numbers")
    numbers.fill("0, much, 3")
    page.get_by_role("button", name="Start training").click()
    expect(numbers).to_have_attribute("aria-invalid", "true")
    explanations = page.locator("#loss-options .field-error")
    expect(explanations).to_have_text("must be a number")


def test_losses_come_with_few_fields_in_sight(visit: Visit) -> None:
    """Each listed loss shows its formula and its own fields; the seldom used ones are folded."""
    make_dataset(visit, "browsed", queries=5)
    page = visit.open("/train")
    page.locator("#train:not([aria-busy])").wait_for()
    losses = page.locator("#loss option").all_inner_texts()
    assert len(losses) == len(set(losses)) == len(LOSSES)
    for name in losses:
        page.locator("#loss").select_option(name)
        expect(page.locator("#loss-formula")).to_have_text(LOSSES[name].formula)
        expect(page.locator("#loss-summary")).to_contain_text(LOSSES[name].source)
        fields = page.locator('[data-pointer^="/loss/"]:not(#loss):not(:disabled)')
        expect(fields).to_have_count(len(parameters_of(LOSSES[name])))
        assert page.locator("#loss-parameters .field:visible").count() <= MOST_IN_SIGHT
        expect(page.locator("#loss-options .field:visible")).to_have_count(0)
    assert page.locator("#loss optgroup").evaluate_all("groups => groups.map(group => group.label)") == [
        "Pointwise",
        "Pairwise",
        "Listwise",
    ], "every loss belongs to a family"


def test_markup_in_names_is_text(visit: Visit) -> None:
    """A name that looks like markup is shown letter by letter and never becomes an element."""
    name = "<img src=x onerror=alert(1)>"
    make_dataset(visit, name, queries=5)
    expect(dataset_row(visit.page, name)).to_be_visible()
    assert visit.page.locator("main img").count() == 0
