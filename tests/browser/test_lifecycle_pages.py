"""Deletion, the trash and the storage page."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.prepared import Prepared, judged_table, run_text
from tests.browser.visit import LOOKS, PHONE, Look, Visit

pytestmark = pytest.mark.browser


def _train(prepared: Prepared, name: str) -> None:
    prepared.job(
        kind="train",
        model_name=name,
        dataset_id=prepared.dataset("learnt from.csv", 1),
        loss={"name": "lambdarank"},
        hyperparameters={"num_iterations": 1, "num_leaves": 4},
        metrics=["ndcg@10"],
    )


@LOOKS
def test_a_deleted_model_is_restored_from_the_trash(visit: Visit, prepared: Prepared, look: Look) -> None:
    """The dialog shows what will be deleted, and the trash restores the model."""
    name = f"thrown-away-{look[0]}"
    _train(prepared, name)
    page = visit.open(f"/models?prefix={name}")
    page.get_by_role("checkbox", name=f"{name}:1").check()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete 1 model?")
    expect(dialog.locator(".deletion")).to_contain_text("1 model will be deleted")
    assert visit.violations() == []
    visit.photograph(f"delete-model-{look[0]}-{look[1]}")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No matching models")).to_be_visible()
    notice = page.get_by_role("status").filter(has_text="1 model deleted.")
    expect(notice.get_by_role("button", name="Undo")).to_be_visible()
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    visit.photograph(f"undo-{look[0]}-{look[1]}")

    page = visit.open("/settings/storage")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    row = page.locator("[data-trash]").filter(has_text=name)
    expect(row).to_be_visible()
    expect(page.get_by_role("row", name="Models")).to_be_visible()
    visit.settle()
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    visit.photograph(f"storage-{look[0]}-{look[1]}")
    row.get_by_role("button", name="Restore").click()
    expect(row).to_have_count(0)
    page = visit.open(f"/models/{name}:1")
    expect(page.get_by_role("heading", name=f"{name}:1")).to_be_visible()


@LOOKS
def test_all_that_match_the_filters_of_a_list_are_deleted(
    visit: Visit, prepared: Prepared, look: Look
) -> None:
    """The dialog counts the objects to delete, with unselected rows, and shows why the others stay."""
    name = f"swept-out-{look[0]}"
    for _ in range(3):
        _train(prepared, name)
    put = visit.page.request.put(f"{visit.url}/v1/models/{name}/aliases/champion", data={"version": 1})
    assert put.ok, put.text()
    page = visit.open(f"/models?prefix={name}")
    page.get_by_role("checkbox", name=f"{name}:3").check()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_accessible_name("Delete 1 model?")
    dialog.get_by_label(f"that match: name or ID begins with {name}").check()
    expect(dialog).to_have_accessible_name("Delete 3 models?")
    expect(dialog.locator(".deletion")).to_contain_text("2 models will be deleted")
    expect(dialog.locator(".holders").get_by_role("link", name=f"{name}@champion")).to_be_visible()
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    visit.photograph(f"delete-matching-{look[0]}-{look[1]}")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("[data-model]")).to_have_count(1)
    expect(page.get_by_role("link", name=f"{name}:1")).to_be_visible()
    expect(page.get_by_role("region", name="Selected models")).to_be_hidden()
    notice = page.get_by_role("status").filter(has_text="2 models deleted.")
    notice.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-model]")).to_have_count(3)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#undo")).to_be_hidden()


@LOOKS
def test_all_that_match_the_filters_of_a_list_are_labelled(
    visit: Visit, prepared: Prepared, look: Look
) -> None:
    """The dialog previews the new tags, and the move of all versions of a name to a project."""
    name = f"relabelled-{look[0]}"
    for _ in range(2):
        _train(prepared, name)
    page = visit.open(f"/models?prefix={name}")
    page.get_by_role("checkbox", name=f"{name}:1").check()
    page.get_by_role("button", name="Label…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_accessible_name("Label 1 model")
    dialog.get_by_label("that match").check()
    dialog.get_by_label("Tags to set").fill("reviewed: yes")
    dialog.get_by_role("textbox", name="Project").or_(dialog.get_by_role("combobox", name="Project")).fill(
        name
    )
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog).to_have_accessible_name("Label 2 models")
    expect(dialog).to_contain_text(f"All versions of these names will move: {name}.")
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    visit.photograph(f"label-matching-{look[0]}-{look[1]}")
    dialog.get_by_role("button", name="Apply labels").click()
    expect(page.get_by_text("reviewed: yes")).to_have_count(2)
    visit.open(f"/models?project={name}")
    expect(page.locator("[data-model]")).to_have_count(2)


@pytest.mark.slow
def test_a_job_with_its_model_is_deleted_from_its_page(visit: Visit, prepared: Prepared) -> None:
    """A job cannot be deleted without its model; after both are deleted, the list of jobs opens."""
    _train(prepared, "gone-with-its-job")
    page = visit.open("/jobs?text=gone-with-its-job")
    page.get_by_role("link", name="gone-with-its-job").first.click()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".holders")).to_contain_text("gone-with-its-job:1")
    expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    dialog.get_by_label("With their results").check()
    expect(dialog.locator(".deletion")).to_contain_text("1 model")
    visit.photograph("delete-job")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url("**/jobs")
    visit.refusals_expected = True
    page = visit.open("/models/gone-with-its-job:1")
    expect(page.get_by_role("heading", name="There is no such model")).to_be_visible()


@pytest.mark.parametrize(
    "kind",
    [
        "datasets",
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in ("jobs", "models", "experiments", "studies")
        ),
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("comparisons", "evaluations", "rankings")),
    ],
)
def test_a_deletion_is_undone(visit: Visit, prepared: Prepared, kind: str) -> None:
    """The list that opens reports the deletion, and its Undo button restores the object."""
    name = f"taken-back-{kind}"
    path = _create_object(prepared, kind, name)
    page = visit.open(path)
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    if kind == "jobs":
        dialog.get_by_label("With their results").check()
    if kind in ("datasets", "studies"):
        expect(dialog).to_contain_text("It can be restored from the trash for 7 days.")
    visit.photograph(f"delete-{kind}")
    dialog.get_by_role("button", name=re.compile("^Delete( the study)?$")).click()
    page.wait_for_url(f"**/{kind}")
    row = page.locator(f'main a[href$="{path}"]').first
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.locator("main :not([aria-busy]) > .list-panel, main .empty").first.wait_for()
    expect(row).to_have_count(0)
    visit.photograph(f"deleted-{kind}")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="Restored.")).to_be_visible()
    expect(row).to_be_visible()
    page = visit.open(path)
    expect(page.get_by_role("button", name="Delete")).to_be_visible()


def _create_object(prepared: Prepared, kind: str, name: str) -> str:
    """Create an object of a kind that can be deleted, and return the path of its page."""
    if kind == "datasets":
        return f"/datasets/{prepared.synthetic(name, queries=3, seed=44)}"
    if kind == "studies":
        study = prepared.study(name, trials=100)
        prepared.post(f"/v1/studies/{study}/cancel")
        return f"/studies/{study}"
    if kind == "comparisons":
        systems = [{"model": prepared.model(version)} for version in (1, 2)]
        return f"/comparisons/{prepared.comparison(name, systems=systems)}"
    if kind == "evaluations":
        return f"/evaluations/{prepared.evaluation(name, model=prepared.model(1))}"
    if kind == "rankings":
        text = run_text(judged_table(2))
        return f"/rankings/{prepared.upload_run(name, prepared.test_data(), text)}"
    if kind == "experiments":
        return f"/experiments/{prepared.experiment()}"
    _train(prepared, name)
    if kind == "models":
        return f"/models/{name}:1"
    (job,) = prepared.get(f"/v1/jobs?text={name}")["items"]
    return f"/jobs/{job['id']}"


def test_a_model_with_an_alias_is_not_deleted(visit: Visit, prepared: Prepared) -> None:
    """The dialog names the alias that prevents the deletion, with a link."""
    _train(prepared, "held-by-alias")
    put = visit.page.request.put(f"{visit.url}/v1/models/held-by-alias/aliases/champion", data={"version": 1})
    assert put.ok, put.text()
    page = visit.open("/models/held-by-alias:1")
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    holder = dialog.locator(".holders").get_by_role("link", name="held-by-alias@champion")
    expect(holder).to_be_visible()
    expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()


@pytest.mark.slow
def test_labels_of_a_job_are_edited_and_found(visit: Visit, prepared: Prepared) -> None:
    """Name, notes, tags and project are edited on the job's page, and the list filters by them."""
    _train(prepared, "to-be-labelled")
    page = visit.open("/jobs?text=to-be-labelled")
    page.get_by_role("link", name="to-be-labelled").first.click()
    panel = page.locator("section").filter(has=page.get_by_role("heading", name="Notes"))
    panel.get_by_role("button", name="Edit").click()
    panel.get_by_label("Display name").fill("Second look")
    panel.get_by_role("textbox", name="Notes").fill("With fewer leaves.")
    panel.get_by_label("Tags").fill("look: second\nslow")
    panel.get_by_label("Project").fill("labelled-project")
    visit.photograph("labels-form")
    panel.get_by_role("button", name="Save").click()
    expect(panel).to_contain_text("With fewer leaves.")
    expect(page.get_by_role("heading", name="Second look")).to_be_visible()
    panel.get_by_role("link", name="labelled-project").click()
    expect(page.locator("[data-job]")).to_have_count(1)
    expect(page.get_by_label("Filter by project")).to_have_value("labelled-project")
    assert visit.violations() == []
    page.get_by_label("Filter by project").select_option("No project")
    page.wait_for_url("**/jobs?project=-")
    expect(page.get_by_role("link", name="Second look")).to_have_count(0)


_BROKEN_WORDS = """labels => labels.flatMap(({ firstChild: text }) =>
  [...text.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return range.getClientRects().length > 1;
  }).map(([word]) => word))"""


@pytest.mark.parametrize("look", [("light", PHONE)])
def test_words_of_the_storage_table_are_whole_on_a_phone(visit: Visit, look: Look) -> None:
    """The kinds of objects wrap between words only."""
    kinds = visit.open("/settings/storage").locator("#storage .beside-bar")
    expect(kinds.filter(has_text="Comparisons")).to_be_visible()
    assert kinds.evaluate_all(_BROKEN_WORDS) == []
