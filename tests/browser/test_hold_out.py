"""Validation and test data in the training form."""

import pytest
from playwright.sync_api import expect

from tests.browser.actions import (
    fill_training,
    job_spec,
    open_training,
    open_training_form,
    start_training,
    upload,
    wait_until_read,
)
from tests.browser.judged_files import letor_text, table_text
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_the_train_part_selects_the_other_parts_of_its_upload(visit: Visit, prepared: Prepared) -> None:
    """The train part selects the other parts for validation and test; another dataset resets them."""
    prepared.synthetic("no parts", queries=10)
    page = upload(
        visit,
        train=("parted.train", letor_text(20, seed=1)),
        validation=("parted.vali", letor_text(20, seed=2)),
        test=("parted.test", letor_text(20, seed=3)),
    )
    dataset_id = wait_until_read(page)
    parts = page.request.get(f"{visit.url}/v1/datasets/{dataset_id}").json()["parts"]
    for part in ("validation", "test"):
        wait_until_read(visit.open(f"/datasets/{parts[part]}"))

    page = fill_training(visit, dataset="no parts", model="siblings", iterations=3)
    validation = page.get_by_role("group", name="Validate on")
    expect(validation.get_by_label("held-out queries")).to_be_checked()
    page = fill_training(visit, dataset="parted.train", model="siblings", iterations=3)
    expect(page.locator("#siblings")).to_have_text("From the same upload: parted.vali, parted.test.")
    visit.photograph("train-siblings")
    page = fill_training(visit, dataset="no parts", model="siblings", iterations=3)
    expect(validation.get_by_label("held-out queries")).to_be_checked()
    expect(page.get_by_label("Test on").locator("option:checked")).to_have_text("nothing")

    page = visit.open(f"/datasets/{dataset_id}")
    open_training_form(page)
    expect(page.get_by_label("Validation dataset")).to_have_value(parts["validation"])
    job_id = start_training(page)
    spec = job_spec(visit, job_id)
    assert spec["dataset_id"] == parts["train"]
    assert spec["validation"] == {"dataset_id": parts["validation"]}
    assert (spec["test_dataset_id"], spec["test"]) == (parts["test"], None)

    untested = {
        "kind": "train",
        "model_name": "siblings",
        "dataset_id": parts["train"],
        "loss": {"name": "mse"},
    }
    earlier = prepared.post("/v1/jobs", json=untested)
    page = open_training(visit, f"from={earlier['id']}")
    assert job_spec(visit, start_training(page), cancel=True) == earlier["spec"]

    page = visit.open(f"/jobs/{job_id}")
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    panel = page.get_by_role("region", name="Findings")
    finding = panel.locator('.finding[data-code="shared-queries"]')
    expect(finding.first).to_contain_text("validation data")
    expect(finding.last).to_contain_text("test data")
    visit.photograph("job-findings")
    link = finding.last.get_by_role("link").first
    expect(link).to_have_attribute("href", f"/datasets/{parts['test']}/queries/1")
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Query 1")


def test_folds_are_submitted(visit: Visit, prepared: Prepared) -> None:
    """A validation fold and a test fraction reach the job as typed, and the job runs."""
    prepared.synthetic("folded", queries=30)
    page = fill_training(visit, dataset="folded", model="folded", iterations=3)
    validation = page.get_by_role("group", name="Validate on")
    validation.get_by_label("one of several folds").check()
    validation.get_by_label("Fold", exact=True).fill("2")
    validation.get_by_label("Number of folds").fill("4")
    page.get_by_label("Test on").select_option("held-out queries")
    page.get_by_role("group", name="Test queries").get_by_label("Fraction of queries").fill("0.3")
    spec = job_spec(visit, start_training(page))
    assert spec["validation"] == {"folds": 4, "fold": 2}
    assert spec["test"] == {"fraction": 0.3}
    assert spec["test_dataset_id"] is None
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    expect(page.locator("td.tested").first).to_be_visible()


@pytest.mark.slow
def test_every_fold_is_held_out_and_shown(visit: Visit, prepared: Prepared) -> None:
    """The form selects cross-validation; the job's page has a row per fold and the pooled means."""
    prepared.synthetic("crossed", queries=30)
    page = fill_training(visit, dataset="crossed", model="crossed", iterations=3)
    validation = page.get_by_role("group", name="Validate on")
    expect(validation.get_by_label("every fold of a column once")).to_be_hidden()
    validation.get_by_label("every fold once").check()
    validation.get_by_label("Folds", exact=True).fill("3")
    spec = job_spec(visit, start_training(page))
    assert spec["validation"] == {"folds": 3}
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    folds = page.get_by_role("region", name="Folds")
    expect(folds.locator("tbody th")).to_have_text(["1", "2", "3"])
    expect(folds.locator("tfoot th")).to_have_text(["All queries", "Mean over folds"])
    visit.photograph("job-folds")
    folds.get_by_role("link", name="Ranking by folds").click()
    expect(page.get_by_text("crossed:1 by folds").first).to_be_visible()


def test_queries_are_held_out_by_column_and_labels_replaced(visit: Visit, prepared: Prepared) -> None:
    """Chosen values of a column and replaced labels reach the job, which runs."""
    prepared.uploaded("columns.csv", table_text().encode())
    page = fill_training(visit, dataset="columns.csv", model="columns", iterations=3)
    labels = page.get_by_role("group", name="Labels to replace")
    labels.get_by_label("No label").fill("0")
    labels.get_by_label("Label -1").fill("1")
    page.get_by_role("group", name="Validate on").get_by_label("queries by a column").check()
    page.get_by_label("Test on").select_option("queries by a column")
    for part, value in (("Validate on", "vali"), ("Test queries", "test")):
        group = page.get_by_role("group", name=part)
        group.get_by_label("Query column").select_option("country")
        expect(group.get_by_role("checkbox")).to_have_count(2)
        group.get_by_label("Query column").select_option("split")
        group.get_by_role("checkbox", name=value).check()
    visit.photograph("train-columns")
    spec = job_spec(visit, start_training(page))
    assert spec["validation"] == {"column": "split", "values": ["vali"]}
    assert spec["test"] == {"column": "split", "values": ["test"]}
    assert spec["label_map"] == {"-1": 1, "nan": 0}
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")


def test_held_out_data_and_replaced_labels_of_an_earlier_training_are_kept(
    visit: Visit, prepared: Prepared
) -> None:
    """A training from an earlier one has its test queries and labels, also labels that losses can use."""
    dataset_id = prepared.uploaded("columns.csv", table_text().encode())
    earlier = prepared.post(
        "/v1/jobs",
        json={
            "kind": "train",
            "model_name": "again",
            "dataset_id": dataset_id,
            "loss": {"name": "mse"},
            "test": {"column": "split", "values": ["test"]},
            "label_map": {"-1": 0, "nan": 0, "2": 1},
        },
    )
    page = open_training(visit, f"from={earlier['id']}")
    expect(page.get_by_role("group", name="Labels to replace").get_by_label("Label 2")).to_have_value("1")
    assert job_spec(visit, start_training(page), cancel=True) == earlier["spec"]


def test_options_that_a_dataset_lacks_are_hidden(visit: Visit, prepared: Prepared) -> None:
    """A dataset without columns has no hold-out by column; without unusable labels, none can be replaced."""
    prepared.synthetic("plain", queries=10)
    page = fill_training(visit, dataset="plain", model="plain", iterations=3)
    expect(page.get_by_label("queries by a column", exact=True)).to_be_hidden()
    by_column = page.get_by_label("Test on").locator("option", has_text="queries by a column")
    expect(by_column).to_be_disabled()
    expect(page.locator("#label-map")).to_be_hidden()


def test_invalid_hold_outs_are_explained_at_their_fields(visit: Visit, prepared: Prepared) -> None:
    """A column without a chosen value, and a fold out of range, are explained at their fields."""
    visit.refusals_expected = True
    prepared.uploaded("columns.csv", table_text().encode())
    page = fill_training(visit, dataset="columns.csv", model="refused", iterations=3)
    validation = page.get_by_role("group", name="Validate on")
    validation.get_by_label("queries by a column").check()
    page.get_by_role("button", name="Start training").click()
    expect(validation.locator(".values .field-error")).to_be_visible()
    validation.get_by_label("one of several folds").check()
    validation.get_by_label("Fold", exact=True).fill("6")
    page.get_by_role("button", name="Start training").click()
    expect(page.locator('[data-pointer="/validation/fold"]')).to_have_attribute("aria-invalid", "true")


def test_a_specification_collapses_default_settings(visit: Visit, prepared: Prepared) -> None:
    """The job's page shows settings that differ from the defaults, and the others on request."""
    prepared.synthetic("usual", queries=10)
    page = fill_training(visit, dataset="usual", model="usual", iterations=3)
    start_training(page)
    section = page.locator("section.panel").filter(has=page.get_by_role("heading", name="Specification"))
    shown = section.locator(":scope > .facts dt")
    expect(shown.filter(has_text="num iterations")).to_have_count(1)
    expect(shown.filter(has_text="lambda l1")).to_have_count(0)
    expect(shown.filter(has_text="categorical feature")).to_have_count(0)
    section.get_by_text("at the default").click()
    expect(section.locator("details .facts dt").filter(has_text="lambda l1")).to_be_visible()
    section.get_by_role("link", name="usual").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("usual")
