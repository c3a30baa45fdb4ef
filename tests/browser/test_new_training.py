"""The training form: visible fields, collapsed groups of options, and the request that it sends."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import fill_training, job_spec, open_training, start_training
from tests.browser.prepared import Prepared
from tests.browser.visit import PHONE, Visit

pytestmark = pytest.mark.browser

DATA = "learnt from.csv"


@pytest.mark.parametrize("own_page", [True])
def test_a_training_is_started_without_scrolling(visit: Visit, prepared: Prepared) -> None:
    """At 1440 × 900, data, test, goal and Start are visible for both goals, and other options collapsed."""
    prepared.dataset(DATA, 1)
    page = visit.page
    page.set_viewport_size({"width": 1440, "height": 900})
    visit.open("/train")
    page.locator("#train:not([aria-busy])").wait_for()
    expect(page.get_by_label("Find the best model")).to_be_checked()
    for goal in ("Find the best model", "Train with one loss"):
        page.get_by_label(goal).check()
        for control in (
            page.get_by_label("Train on"),
            page.get_by_label("Test on"),
            page.get_by_role("button", name="Start training"),
        ):
            box = control.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 900
        expect(page.locator("details.fold[open]")).to_have_count(0)
    assert visit.violations() == []
    visit.fit("train-folded", (1440, PHONE))


def test_a_name_in_use_is_reported(visit: Visit, prepared: Prepared) -> None:
    """The form shows that a model of a known name becomes another version."""
    dataset_id = prepared.dataset(DATA, 1)
    prepared.training(
        model_name="known",
        dataset_id=dataset_id,
        loss={"name": "lambdarank"},
        hyperparameters={"num_iterations": 2},
    )
    page = visit.open("/train")
    page.locator("#train:not([aria-busy])").wait_for()
    field, words = page.get_by_label("Model name"), page.locator("#known-versions")
    field.fill("known")
    field.press("Tab")
    expect(words).to_have_text("known has a version 1; the new model becomes a later version.")
    field.fill("not yet known")
    field.press("Tab")
    expect(words).to_be_hidden()


def test_the_old_url_redirects_to_the_form_with_its_goal(visit: Visit, prepared: Prepared) -> None:
    """The old URL of a training with one loss redirects to the form with this goal and dataset."""
    dataset = prepared.dataset(DATA, 1)
    page = visit.open(f"/train/one-loss?dataset={dataset}")
    page.locator("#train:not([aria-busy])").wait_for()
    assert page.url.endswith(f"/train?goal=loss&dataset={dataset}")
    expect(page.get_by_label("Train with one loss")).to_be_checked()
    expect(page.get_by_label("Train on")).to_have_value(dataset)


def test_groups_of_options_show_the_changed_values(visit: Visit, prepared: Prepared) -> None:
    """A collapsed group lists the values that differ from the defaults; a clone has the same values."""
    prepared.dataset(DATA, 1)
    page = fill_training(visit, dataset=DATA, model="changed", iterations=3)
    page.get_by_label("Learning rate").fill("0.05")
    page.get_by_role("group", name="Validate on").get_by_label("nothing").check()
    page.get_by_label("Stop early").uncheck()
    page.get_by_label("Tags of the model").fill("team = search")
    page.get_by_role("textbox", name="Project").fill("changes")
    page.get_by_role("button", name="Collapse all").click()
    summary = page.locator("details.fold > summary")
    expect(summary.filter(has_text="Boosting")).to_contain_text("2 changed: iterations 3, learning rate 0.05")
    expect(summary.filter(has_text="Validation")).to_contain_text(
        "2 changed: validate on nothing, early stopping off"
    )
    expect(summary.filter(has_text="Features")).to_contain_text("defaults")
    job_id = start_training(page)
    job_spec(visit, job_id, cancel=True)

    page = visit.open(f"/train?from={job_id}")
    page.locator("#train:not([aria-busy])").wait_for()
    expect(summary.filter(has_text="Boosting")).to_contain_text("learning rate 0.05")
    expect(page.get_by_label("Tags of the model")).to_have_value("team = search")
    expect(page.locator("[data-pointer='/project']")).to_have_value("changes")


def test_clicks_and_scores_of_models_are_learnt(visit: Visit, prepared: Prepared) -> None:
    """The job has the chosen click correction, and the chosen model whose scores are learnt."""
    model = prepared.model(1)
    page = fill_training(visit, dataset=DATA, model="of-clicks", iterations=3)
    page.get_by_label("Learn the scores of").fill(model)
    spec = job_spec(visit, start_training(page), cancel=True)
    assert spec["labels_from"] == f"model:{model}"

    page = fill_training(visit, dataset=DATA, model="of-clicks", iterations=3)
    page.get_by_label("Labels above 0 are clicks").check()
    page.get_by_label("Correction").select_option("ips")
    page.get_by_role("textbox", name="Propensities").fill("1, 0.7, 0.5")
    page.get_by_label("Minimum propensity").fill("0.2")
    spec = job_spec(visit, start_training(page), cancel=True)
    assert spec["clicks"] == {"correction": "ips", "propensities": [1, 0.7, 0.5], "clip": 0.2}


def test_a_sum_of_models_is_trained(visit: Visit, prepared: Prepared) -> None:
    """The form sends the models of a sum, without a loss and boosting settings."""
    first, second = prepared.model(1), prepared.model(2)
    page = open_training(visit)
    page.locator("#scorer").select_option("sum")
    expect(page.locator("#loss")).to_be_hidden()
    _choose_data(page, prepared)
    page.get_by_label("Model name").fill("summed")
    page.locator("#field-scorer-models").fill(f"{first}, {second}")
    job_id = start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    expect(page.locator(".metrics table")).to_be_visible()
    expect(page.locator(".curve")).to_be_hidden()
    expect(page.get_by_text("at the best iteration")).to_have_count(0)
    spec = job_spec(visit, job_id, cancel=True)
    assert spec["scorer"]["kind"] == "sum"
    assert len(spec["scorer"]["models"]) == 2


def test_the_cost_is_shown_before_the_start(visit: Visit, prepared: Prepared) -> None:
    """The form shows the estimated time and memory, and the earlier training that they are scaled from."""
    prepared.model(2)
    page = open_training(visit)
    _choose_data(page, prepared)
    expect(page.locator("#cost")).to_contain_text("of memory: ")
    page.get_by_label("Find the best model").check()
    expect(page.locator("#cost")).to_contain_text("About 5 min of search")


def _choose_data(page: Page, prepared: Prepared) -> None:
    page.get_by_label("Train on").select_option(prepared.dataset(DATA, 1))
