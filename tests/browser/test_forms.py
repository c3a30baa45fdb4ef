"""The training form: refusals at their fields, losses, limits, and new datasets."""

import re

import pytest
from playwright.sync_api import expect

from core.losses import LOSSES
from core.parameters import parameters_of
from tests.browser.actions import dataset_row, fill_training, make_dataset, open_training, start_training
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def test_refusals_are_shown_at_their_fields(visit: Visit, prepared: Prepared) -> None:
    """Values out of bounds, a word instead of a number, and unknown metrics are explained at their fields."""
    visit.refusals_expected = True
    prepared.synthetic("refused", queries=20)
    page = fill_training(visit, dataset="refused", model="refused", iterations=5)
    page.get_by_label("Learning rate").fill("-1")
    page.get_by_label("Sigma").fill("steep")
    page.get_by_role("button", name="Collapse all").click()
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


def test_a_word_in_a_gain_list_has_one_error(visit: Visit, prepared: Prepared) -> None:
    """A word in a gain list has the single error `must be a number`, and no error about valid names."""
    visit.refusals_expected = True
    prepared.synthetic("worded", queries=20)
    page = fill_training(visit, dataset="worded", model="worded", iterations=5)
    page.locator("#loss-parameters").get_by_label("Gain").first.select_option("custom numbers…")
    numbers = page.get_by_label("Gain, custom numbers")
    numbers.fill("0, much, 3")
    page.get_by_role("button", name="Start training").click()
    expect(numbers).to_have_attribute("aria-invalid", "true")
    explanations = page.locator("#loss-parameters .field-error")
    expect(explanations).to_have_text("must be a number")


def test_each_loss_has_its_formula_and_fields(visit: Visit, prepared: Prepared) -> None:
    """Each loss shows its formula and its fields, and belongs to a family."""
    prepared.synthetic("browsed", queries=5)
    page = open_training(visit)
    losses = page.locator("#loss option").all_inner_texts()
    assert len(losses) == len(set(losses)) == len(LOSSES)
    for name in losses:
        page.locator("#loss").select_option(name)
        expect(page.locator("#loss-formula")).to_have_text(LOSSES[name].formula)
        expect(page.locator("#loss-summary")).to_contain_text(LOSSES[name].source)
        fields = page.locator('[data-pointer^="/loss/"]:not(#loss):not(:disabled)')
        expect(fields).to_have_count(len(parameters_of(LOSSES[name])))
    assert page.locator("#loss optgroup").evaluate_all("groups => groups.map(group => group.label)") == [
        "Pointwise",
        "Pairwise",
        "Listwise",
    ], "every loss belongs to a family"


def test_markup_in_names_is_text(visit: Visit) -> None:
    """A name that looks like markup is shown as text and never becomes an element."""
    name = "<img src=x onerror=alert(1)>"
    make_dataset(visit, name, queries=5)
    expect(dataset_row(visit.page, name)).to_be_visible()
    assert visit.page.locator("main img").count() == 0


def test_priority_and_limits_are_set_in_the_form(visit: Visit, prepared: Prepared) -> None:
    """Minutes and gigabytes are sent as seconds and bytes, and the job shows both."""
    prepared.synthetic("with limits", queries=60, seed=4)
    page = fill_training(visit, dataset="with limits", model="limited", iterations=5)
    page.get_by_label("Priority").select_option("high")
    page.get_by_label("Minutes, at most").fill("1.5")
    page.get_by_label("GB of memory, at most").fill("3")
    job_id = start_training(page)
    expect(page.locator(".job-marks")).to_contain_text("high priority")
    expect(page.locator(".job-meta")).to_contain_text("at most 1 min 30 s and 3.0 GB")
    job = page.request.get(f"{visit.url}/v1/jobs/{job_id}").json()
    assert job["priority"] == "high"
    assert job["spec"]["limits"] == {"seconds": 90, "memory_bytes": 3_000_000_000}
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")


@pytest.mark.slow  # the first test shows refusals at fields
def test_a_refused_limit_is_shown_at_its_field(visit: Visit, prepared: Prepared) -> None:
    """The server's error is shown at the field, although the field's unit differs from the API's."""
    visit.refusals_expected = True
    prepared.synthetic("refused limits", queries=60, seed=5)
    page = fill_training(visit, dataset="refused limits", model="limited", iterations=5)
    page.get_by_label("Minutes, at most").fill("-1")
    page.get_by_role("button", name="Start training").click()
    field = page.locator(".field", has_text=re.compile("Minutes, at most"))
    expect(field.locator(".field-error")).to_contain_text("greater than 0")


def test_a_dataset_that_becomes_ready_is_offered(visit: Visit, prepared: Prepared) -> None:
    """An open form offers the new dataset without a reload."""
    prepared.synthetic("offered at first", 5)
    page = open_training(visit)
    prepared.synthetic("offered later", 5)
    choice = page.get_by_label("Train on").locator("option", has_text="offered later")
    expect(choice).to_have_count(1)
