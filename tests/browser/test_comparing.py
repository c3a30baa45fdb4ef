"""Comparisons of models and runs on the dashboard."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.actions import fill_training, start_training
from tests.browser.judged_files import table_text
from tests.browser.prepared import Prepared, judged_table, run_text
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

INTERVAL = 5


def test_selected_models_are_compared(visit: Visit, prepared: Prepared) -> None:
    """Select two models, a dataset and metrics; the comparison opens when it is finished."""
    dataset_id = prepared.test_data()
    prepared.model(2)
    page = visit.open("/models?name=compared")
    page.get_by_label("Select compared:2").check()
    expect(page.get_by_role("link", name=re.compile("^Compare "))).to_have_count(0)
    page.get_by_label("Select compared:1").check()
    visit.photograph("models-ticked")
    page.get_by_role("link", name="Compare 2 models").click()

    form = page.locator("#compare-form:not([aria-busy])")
    expect(form.locator(".chosen .name"), "the older first").to_have_text(["compared:1", "compared:2"])
    form.get_by_label("On the queries of").select_option(dataset_id)
    form.get_by_label("Metrics").fill("map, ndcg@1, ndcg@2, ndcg@3, ndcg@5")
    form.get_by_label("Conventions").select_option("letor")
    expect(page.locator("#contract-words")).to_contain_text("none at ranks 1 and 2")
    form.get_by_text("More", exact=True).click()
    form.get_by_label("Pairs to test").select_option("each against the first system")
    form.get_by_label("Correction of p-values").select_option("none")
    visit.photograph("compare-form")
    form.get_by_role("button", name="Compare", exact=True).click()

    page.wait_for_url(re.compile(r"/comparisons/cmp_"))
    expect(page.get_by_text("at 0.05 without correction for the number of tests")).to_be_visible()
    comparison = prepared.get(f"/v1/comparisons/{page.url.split('/')[-1].split('#')[0]}")
    assert comparison["metrics"] == ["map", "ndcg@1", "ndcg@2", "ndcg@3", "ndcg@5"]
    assert comparison["contract"]["preset"] == "letor"
    assert (comparison["reference"], comparison["correction"], comparison["pool_folds"]) == (0, "none", False)
    assert [system["name"] for system in comparison["systems"]] == ["compared:1", "compared:2"]
    curves = page.get_by_role("img", name=re.compile("^ndcg against the cutoff: compared:1 .*; compared:2 "))
    expect(curves).to_have_attribute("data-cutoffs", "4")
    expect(curves).to_have_attribute("data-lines", "2")
    page.locator(".figure-legend button").first.evaluate("button => button.append('x'.repeat(100))")
    visit.fit("comparison-long-name")

    page = visit.open("/comparisons")
    newest = page.locator("[data-comparison]").first
    expect(newest.locator(".conclusion")).to_have_text(comparison["sentence"])
    newest.get_by_role("link", name="compared:1, compared:2").click()
    expect(page.locator(".sentence").first).to_have_text(comparison["sentence"])


def test_an_uploaded_run_is_compared(visit: Visit, prepared: Prepared) -> None:
    """The page of an uploaded run links to the comparison form, where the run is selected."""
    dataset_id = prepared.test_data()
    reference = prepared.model(1)
    page = visit.open("/comparisons#run")
    run = page.locator("#run-form")
    run.get_by_label("Ranks the queries of").select_option(dataset_id)
    content = run_text(judged_table(2)).encode()
    run.locator('input[type="file"]').set_input_files(
        {"name": "a.run", "mimeType": "text/plain", "buffer": content}
    )
    run.get_by_role("textbox", name="Name").fill("from elsewhere")
    run.get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile(r"/rankings/rnk_"))
    page.get_by_role("link", name="Compare", exact=True).click()

    form = page.locator("#compare-form:not([aria-busy])")
    expect(form.locator(".chosen .name")).to_have_text(["from elsewhere"])
    expect(form.get_by_label("On the queries of")).to_have_value(dataset_id)
    find = form.get_by_label("Find a model or run")
    find.fill(reference)
    find.press("Enter")
    expect(form.locator(".chosen .name")).to_have_text(["from elsewhere", reference])
    form.get_by_role("button", name=f"Leave out {reference}").click()
    expect(form.locator(".chosen .name")).to_have_text(["from elsewhere"])
    find.fill(reference)
    form.get_by_role("checkbox", name=reference).check()
    form.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url(re.compile(r"/comparisons/cmp_"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{reference} against from elsewhere")


def test_too_few_systems_are_refused_at_their_field(visit: Visit, prepared: Prepared) -> None:
    """The form shows refusals of the systems and the metrics at their fields."""
    visit.refusals_expected = True
    reference = prepared.model(1)
    page = visit.open(f"/comparisons?system={reference}#compare")
    form = page.locator("#compare-form:not([aria-busy])")
    expect(form.locator(".chosen .name")).to_have_text([reference])
    form.get_by_label("Metrics").fill("fame")
    form.get_by_role("button", name="Compare", exact=True).click()
    expect(form.locator(".picker .field-error")).to_be_visible()
    visit.photograph("compare-refused")
    find = form.get_by_label("Find a model or run")
    find.fill("nothing:7")
    find.press("Enter")
    form.get_by_label("Metrics").fill("map")
    form.get_by_role("button", name="Compare", exact=True).click()
    expect(form.locator(".summary")).to_contain_text("nothing:7")


def test_labels_that_no_metric_can_use_are_replaced(visit: Visit, prepared: Prepared) -> None:
    """The form has fields that replace labels below 0, and the job has the replacements."""
    content = table_text().encode()
    dataset_id = prepared.upload("unusable.csv", content)
    runs = [prepared.upload_run(name, dataset_id, "q1 Q0 d0 1 1.0 x\n") for name in ("one", "other")]
    page = visit.open(f"/comparisons?system={runs[0]}&system={runs[1]}&dataset={dataset_id}#compare")
    form = page.locator("#compare-form:not([aria-busy])")
    form.get_by_label("Label -1").fill("1")
    form.get_by_label("Metrics").fill("mrr")
    form.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url(re.compile(r"/comparisons/cmp_"))
    expect(page.locator(".sentence")).to_contain_text("one and other have the same mrr")
    job_id = prepared.get(f"/v1/comparisons/{page.url.split('/')[-1].split('#')[0]}")["job_id"]
    assert prepared.get(f"/v1/jobs/{job_id}")["spec"]["label_map"] == {"-1": 1.0, "nan": 0.0}


@pytest.mark.slow
def test_a_training_uses_conventions_and_is_diagnosed(visit: Visit, prepared: Prepared) -> None:
    """The job has the form's conventions and diagnostics, and compared trainings share the plots."""
    prepared.model(1)
    page = fill_training(visit, dataset="learnt from.csv", model="diagnosed", iterations=20)
    page.get_by_label("Conventions").select_option("lightgbm")
    page.get_by_label("Diagnose every").fill(str(INTERVAL))
    job_id = start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    spec = prepared.get(f"/v1/jobs/{job_id}")["spec"]
    assert spec["contract"]["preset"] == "lightgbm"
    assert spec["diagnostics"] == {"interval": INTERVAL, "cutoff": 10}

    curves = prepared.get(f"/v1/jobs/{job_id}/history")["curves"]
    figure = page.get_by_role("region", name="Diagnostics")
    plot = figure.locator(".plot[data-lines]")
    plot.wait_for()
    drawn = 0
    for tab in figure.get_by_role("group").get_by_role("button").all():
        tab.click()
        expect(plot).to_have_attribute(
            "aria-label", re.compile(rf"^{re.escape(tab.inner_text())} during training")
        )
        drawn += int(plot.get_attribute("data-lines") or 0)
    assert drawn == len(curves["diagnostics"])
    visit.photograph("diagnostics")
    expect(page.locator(".curve").first.get_by_role("button", name="loss")).to_be_visible()
    assert page.locator(".curve").first.get_by_role("button", name="incoherent").count() == 0
    expect(page.locator("section.panel", has_text="Specification")).to_contain_text("lightgbm")

    (other,) = page.request.get(f"{visit.url}/v1/jobs?prefix=compared&kind=train&limit=1").json()["items"]
    page = visit.open(f"/jobs/compare?job={job_id}&job={other['id']}")
    overlay = page.get_by_role("region", name="Diagnostics")
    expect(overlay.locator(".plot")).to_have_attribute("data-lines", "1")
    expect(overlay).to_contain_text("1 of the trainings did not record this quantity")
    times = page.get_by_role("region", name="Time of an iteration")
    times.get_by_role("button", name="tree").click()
    expect(times.locator(".plot")).to_have_attribute("data-lines", "2")
    expect(times.get_by_role("img", name=re.compile("^tree of 2 trainings.* ms"))).to_be_visible()
    visit.photograph("overlays")


def test_sizes_are_automatic_and_repeats_have_a_spread(visit: Visit, prepared: Prepared) -> None:
    """Sizes are automatic by default. The page of repeats shows their spread, and fits long names."""
    prepared.model(1)
    page = fill_training(visit, dataset="learnt from.csv", model=f"repeated_{'x' * 50}", iterations=4)
    sizes = page.get_by_role("group", name="Sizes")
    expect(sizes.get_by_label("chosen for this dataset")).to_be_checked()
    expect(page.get_by_label("Leaves per tree", exact=True)).to_have_attribute("placeholder", "automatic")
    page.get_by_label("Repeats").fill("2")
    expect(page.locator("#grid")).to_contain_text("2 trainings will be submitted: 2 repeats")
    page.get_by_role("button", name="Start 2 trainings").click()
    panel = page.locator("section", has=page.get_by_role("heading", name="Repeats"))
    expect(panel.get_by_role("row").nth(1)).to_contain_text("repeated")
    expect(panel.get_by_role("row").nth(1).get_by_role("cell").nth(1)).to_have_text("2")
    page.locator(".plot").first.press("Home")
    expect(page.locator(".readout").first).to_be_visible()
    visit.fit("repeats")
    promote = page.get_by_role("link", name="Promote the best")
    expect(promote).to_have_attribute("href", re.compile("repeated_x+:[12]#view=aliases$"))
    jobs = page.request.get(f"{visit.url}/v1/jobs?prefix=repeated&kind=train").json()["items"]
    assert sorted((job["spec"]["seed"], job["spec"]["bootstrap"]) for job in jobs) == [(42, True), (43, True)]
    assert set(jobs[0]["spec"]["automatic"]["chosen"]) == {"num_leaves", "min_data_in_leaf", "learning_rate"}
