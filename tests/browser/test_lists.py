"""Lists as tables: sorting, search, columns, selected rows, and forms in dialogs."""

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route, expect

from core.doctor import Finding
from core.store import Store
from tests.browser.actions import dataset_row
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def _trainings(store: Store, *names: str, ended: bool = False) -> list[str]:
    """Record trainings that a worker has started, or that have ended."""
    ids = []
    for index, name in enumerate(names):
        with store.begin() as tx:
            job = tx.jobs.add("train", {"model_name": name, "loss": {"name": "lambdarank"}})
            claimed = tx.jobs.claim(job.id, "trainer-9:1/1", 3600.0)
            assert claimed is not None
            means = {"validation": {"ndcg@10": 0.5 + index / 10}}
            progress = {"phase": "training", "iteration": index, "total": 10, "eta_seconds": None}
            tx.jobs.record(job.id, claimed.token, metrics=means, progress=progress)
            if ended:
                tx.jobs.succeed(job.id, claimed.token, {})
        ids.append(job.id)
    return ids


@pytest.fixture
def start_trainings(store: Store) -> Iterator[Callable[..., list[str]]]:
    """Function that records trainings, which run until the test ends.

    If they ran longer, the service would notice that their worker is absent and run them again.
    """
    started: list[str] = []

    def start(*names: str) -> list[str]:
        ids = _trainings(store, *names)
        started.extend(ids)
        return ids

    yield start
    with store.begin() as tx:
        for job in map(tx.jobs.get, started):
            if job.status == "running":
                tx.jobs.end_cancelled(job.id, job.token)


def _names(page: Page) -> list[str]:
    page.locator("main :not([aria-busy]) > .list-panel").wait_for()
    return page.locator(".list tbody > tr:first-child > th").all_inner_texts()


@contextmanager
def _delayed_scripts(visit: Visit, path: str) -> Iterator[None]:
    """Open a list and delay its scripts until the end of the block."""
    held: list[Route] = []
    visit.page.route("**/tables/paged_list.js*", lambda route: held.append(route))
    visit.page.goto(f"{visit.url}{path}", wait_until="commit")
    yield
    visit.page.wait_for_function("() => document.readyState !== 'loading'")
    held[0].continue_()


def test_text_typed_while_the_page_loads_filters_the_list(visit: Visit, store: Store) -> None:
    """The list keeps text that was typed before the scripts loaded, and a filter from the URL."""
    _trainings(store, "early-bird", "late-riser", ended=True)
    page = visit.page
    with _delayed_scripts(visit, "/jobs?status=succeeded"):
        page.get_by_label("Search by name").fill("early-b")
    page.wait_for_url(re.compile("prefix=early-b"))
    expect(page.locator(".list tbody > tr:first-child > th")).to_have_text(["early-bird"])
    assert "status=succeeded" in page.url
    expect(page.get_by_label("Search by name")).to_have_value("early-b")


def test_back_returns_to_the_list_before_a_choice(visit: Visit, store: Store) -> None:
    """Each chosen filter is an entry of the history, and typed text is none."""
    _trainings(store, "filtered-a", "filtered-b", ended=True)
    page = visit.open("/jobs")
    rows = page.locator(".list tbody > tr:first-child > th")
    own = rows.filter(has_text="filtered-")
    status = page.get_by_label("Filter by status")
    status.select_option("failed")
    expect(own).to_have_count(0)
    status.select_option("succeeded")
    expect(own).to_have_count(2)
    page.get_by_label("Search by name").fill("filtered-a")
    expect(rows).to_have_text(["filtered-a"])
    page.go_back()
    expect(own).to_have_count(0)
    expect(status).to_have_value("failed")
    expect(page.get_by_label("Search by name")).to_have_value("")
    page.go_back()
    expect(own).to_have_count(2)
    expect(status).to_have_value("")
    page.go_forward()
    expect(status).to_have_value("failed")
    expect(own).to_have_count(0)


def test_a_filter_chosen_while_the_page_loads_is_applied(visit: Visit, store: Store) -> None:
    """The list keeps a filter that was chosen before the scripts and the options of another filter loaded."""
    _trainings(store, "chosen-early", ended=True)
    page = visit.page
    datasets: list[Route] = []
    page.route("**/v1/datasets?fields=name*", lambda route: datasets.append(route))
    with _delayed_scripts(visit, "/jobs"):
        page.get_by_label("Filter by status").select_option("failed")
    page.wait_for_url(re.compile("status=failed"))
    urls = page.get_by_label("Filter by status").evaluate(
        """(select) => ["running", "succeeded"].map((status) => {
            select.value = status;
            select.dispatchEvent(new Event("input", { bubbles: true }));
            return location.search;
        })"""
    )
    assert urls == ["?status=running", "?status=succeeded"], (
        "each choice is applied while the other filter's options load"
    )
    datasets[0].fulfill(json={"items": [{"id": "ds_1", "name": "judged"}]})
    expect(page.get_by_label("Filter by dataset").locator("option")).to_have_text(["All datasets", "judged"])
    expect(page.get_by_label("Filter by status")).to_have_value("succeeded")
    expect(page.locator(".list tbody > tr:first-child > th").first).to_be_visible()


def test_a_success_with_warnings_is_marked_in_lists(visit: Visit, store: Store) -> None:
    """Errors and warnings mark the status in the list and in the comparison of trainings; notes do not."""
    severities = ["info", "warning", "error"]
    ids = _trainings(store, *(f"doubtful-{severity}" for severity in severities))
    for job_id, severity in zip(ids, severities, strict=True):
        finding = Finding("code", severity, title="Found", advice="Look", count=1, total=1, unit="queries")
        with store.begin() as tx:
            token = tx.jobs.get(job_id).token
            tx.jobs.record(job_id, token, findings=[asdict(finding)])
            tx.jobs.succeed(job_id, token, {})
    marked = visit.page.locator("tr:has(.status[data-doubtful])")
    for path in ("/jobs?prefix=doubtful-", f"/jobs/compare?{urlencode([('job', job_id) for job_id in ids])}"):
        visit.open(path)
        expect(visit.page.locator("tr .status")).to_have_text(["succeeded"] * 3)
        expect(marked).to_have_count(2)
        for severity in severities[1:]:
            row = marked.filter(has_text=severity)
            expect(row.locator(".status")).to_have_attribute("title", f"1 {severity}")


def test_order_and_columns_are_in_the_url(visit: Visit, store: Store) -> None:
    """The service sorts; a reload, a link and a file have the same rows and columns in the same order."""
    _trainings(store, "sorted-b", "sorted-c", "sorted-a", ended=True)
    page = visit.open("/jobs?prefix=sorted-")
    assert _names(page) == ["sorted-a", "sorted-c", "sorted-b"], "the newest first"
    expect(page.locator('[aria-sort="descending"]')).to_have_text("Submitted")
    name = page.get_by_role("button", name="Name")
    name.focus()
    page.keyboard.press("Enter")
    expect(page.locator('[aria-sort="ascending"]')).to_have_text("Name")
    expect(name, "focus stays where it was").to_be_focused()
    expect(page.locator(".list tbody th").first).to_have_text("sorted-a")
    page.get_by_role("button", name="Metric").click()
    expect(page.locator(".list tbody th").first).to_have_text("sorted-a")
    page.locator("summary", has_text="Columns").click()
    columns = page.get_by_role("group", name="Columns")
    columns.get_by_label("ID", exact=True).check()
    for label in ("Kind", "Loss", "Datasets", "Duration", "Submitted"):
        columns.get_by_label(label, exact=True).uncheck()
    page.keyboard.press("Escape")
    expect(columns).to_be_hidden()
    url = page.url
    assert re.search(r"sort=metric&order=desc&columns=status,metric,id$", url)
    page.reload()
    assert _names(page) == ["sorted-a", "sorted-c", "sorted-b"]
    assert page.locator(".list thead th").all_inner_texts() == ["Name", "Status", "Metric", "ID"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Jobs as CSV").click()
    rows = list(csv.reader(download.value.path().read_text().splitlines()))
    assert [row[0] for row in rows] == ["Name", "sorted-a", "sorted-c", "sorted-b"]
    visit.photograph("jobs-columns")


def test_a_row_with_new_progress_keeps_focus_and_selection(
    visit: Visit, store: Store, start_trainings: Callable[..., list[str]]
) -> None:
    """A poll with new progress changes only the progress cell, so focus and selection stay."""
    (job_id,) = start_trainings("live-row")
    page = visit.open("/jobs?prefix=live-row")
    row = page.locator(f'[data-job="{job_id}"]')
    row.get_by_role("link", name="live-row").focus()
    row.get_by_role("checkbox").check()
    row.get_by_role("link", name="live-row").focus()
    with store.begin() as tx:
        progress = {"phase": "training", "iteration": 7, "total": 10, "eta_seconds": None}
        tx.jobs.record(job_id, 1, progress=progress)
    expect(row.locator(".progress-words")).to_contain_text("7 of 10")
    expect(row.get_by_role("link", name="live-row")).to_be_focused()
    expect(row.get_by_role("checkbox")).to_be_checked()


def test_several_jobs_are_cancelled_together(visit: Visit, start_trainings: Callable[..., list[str]]) -> None:
    """The selected jobs, which the URL keeps, are cancelled; the others continue."""
    stopped, going, also = start_trainings("bulk-1", "bulk-2", "bulk-3")
    page = visit.open("/jobs?prefix=bulk-")
    page.get_by_label("Select all on this page").check()
    page.get_by_label(re.compile("^Select bulk-2, ")).uncheck()
    page.reload()
    bar = page.get_by_role("region", name="Selected jobs")
    expect(bar).to_contain_text("2 selected")
    visit.photograph("jobs-selected")
    bar.get_by_role("button", name="Cancel 2 jobs").click()
    for job_id in (stopped, also):
        expect(page.locator(f'[data-job="{job_id}"] .status')).to_have_text("cancelling")
    expect(page.locator(f'[data-job="{going}"] .status')).to_have_text("running")
    expect(bar).to_be_hidden()
    assert "tick=" not in page.url


def test_more_jobs_than_fit_in_one_request_are_cancelled(visit: Visit) -> None:
    """Each selected job is in one of the requests."""
    ids = [f"job_{number}" for number in range(201)]
    page = visit.open(f"/jobs?prefix=none-of-these&{urlencode({'tick': ids}, doseq=True)}")
    cancelled_ids: list[str] = []

    def cancel(route: Route) -> None:
        some = (route.request.post_data_json or {})["ids"]
        cancelled_ids.extend(some)
        route.fulfill(json={"items": [{"id": each, "outcome": "cancelled"} for each in some]})

    page.route("**/v1/jobs/cancel", cancel)
    bar = page.get_by_role("region", name="Selected jobs")
    bar.get_by_role("button", name="Cancel 201 jobs").click()
    expect(bar).to_be_hidden()
    assert cancelled_ids == ids


def test_several_models_are_tagged(visit: Visit, store: Store) -> None:
    """The dialog sets a tag and shows the refusal of an invalid one, and the rows show the new tag."""
    visit.refusals_expected = True
    with store.begin() as tx:
        job = tx.jobs.add("train", {"model_name": "tagged"})
        tx.jobs.claim(job.id, "trainer-9:1/1", 3600.0)
        tx.jobs.succeed(job.id, 1, {})
        for number in (1, 2):
            tx.models.add(
                name="tagged",
                job_id=job.id,
                feature_names=["f"],
                best_iteration=3,
                sha256=f"{number:064}",
                size_bytes=1,
                metrics={"ndcg@10": 0.4 + number / 10},
            )
        tx.aliases.move("tagged", "champion", 1)
    page = visit.open("/models?prefix=tagged:")
    older, newer = (page.get_by_role("row", name=re.compile(rf"tagged:{version}\b")) for version in (1, 2))
    expect(older).to_contain_text("0.5000")
    expect(newer).to_contain_text("0.6000")
    expect(older.locator(".tag")).to_have_text("@champion")
    expect(newer.locator(".tag")).to_have_count(0)
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Label…").click()
    dialog = page.get_by_role("dialog", name="Label 2 models")
    name = dialog.get_by_label("Tags to set")
    name.fill("Not A Tag")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".problem, .field-error").first).to_be_visible()
    name.fill("owner: relevance")
    dialog.get_by_role("button", name="Save").click()
    for row in (older, newer):
        expect(row).to_contain_text("owner: relevance")


def test_datasets_are_deleted_after_confirmation(visit: Visit, prepared: Prepared) -> None:
    """Several datasets are deleted together after confirmation, and Undo restores them from the trash."""
    dataset_ids = [prepared.synthetic(f"to delete {number}", queries=3, seed=number) for number in (1, 2)]
    page = visit.open("/datasets?prefix=to+delete")
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Delete 2 datasets").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    expect(dataset_row(page, "to delete 1")).to_be_visible()
    page.get_by_role("button", name="Delete 2 datasets").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No matching datasets")).to_be_visible()
    notice = page.get_by_role("status").filter(has_text="2 datasets deleted.")
    notice.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="Restored.")).to_be_visible()
    for number in (1, 2):
        expect(dataset_row(page, f"to delete {number}")).to_be_visible()
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Delete 2 datasets").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(notice).to_be_visible()
    prepared.post("/v1/trash/empty", json={"ids": dataset_ids})
    notice.get_by_role("button", name="Undo").click()
    sentence = "Nothing was restored: the trash no longer contains the objects."
    expect(page.get_by_text(sentence)).to_be_visible()


@pytest.mark.parametrize("look", [("light", 390)])
def test_a_form_opens_in_a_dialog(visit: Visit) -> None:
    """A link or the URL opens the form; focus moves to its first field and back; the page fits a phone."""
    page = visit.open("/rankings")
    page.locator("#rankings:not([aria-busy])").wait_for()
    opener = page.get_by_role("link", name="Rank a dataset").first
    opener.click()
    dialog = page.get_by_role("dialog", name="Rank a dataset")
    expect(dialog.get_by_label(re.compile("^Model"))).to_be_focused()
    assert visit.violations() == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    expect(page).to_have_url(f"{visit.url}/rankings")
    page = visit.open("/comparisons#compare")
    dialog = page.get_by_role("dialog", name="Compare")
    expect(dialog).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_the_actions_for_selected_rows_keep_the_focus(
    visit: Visit, store: Store, start_trainings: Callable[..., list[str]]
) -> None:
    """A poll with new progress leaves the buttons for the selected rows in place."""
    (job_id,) = start_trainings("live-bar")
    page = visit.open("/jobs?prefix=live-bar")
    row = page.locator(f'[data-job="{job_id}"]')
    row.get_by_role("checkbox").check()
    button = page.get_by_role("region", name="Selected jobs").get_by_role("button", name="Cancel 1 job")
    button.focus()
    with store.begin() as tx:
        progress = {"phase": "training", "iteration": 8, "total": 10, "eta_seconds": None}
        tx.jobs.record(job_id, 1, progress=progress)
    expect(row.locator(".progress-words")).to_contain_text("8 of 10")
    expect(button).to_be_focused()


def test_the_reason_why_a_dataset_is_kept_stays(visit: Visit, prepared: Prepared, store: Store) -> None:
    """If one of two datasets is in use, the list shows the reason after the other one is gone."""
    used, _ = (prepared.synthetic(f"kept or gone {number}", queries=3, seed=number) for number in (1, 2))
    with store.begin() as tx:
        job = tx.jobs.add("train", {"model_name": "runs"}, [used])
        tx.jobs.claim(job.id, "trainer-9:1/1", 3600.0)
    page = visit.open("/datasets?prefix=kept+or+gone")
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Delete 2 datasets").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(dataset_row(page, "kept or gone 2")).to_have_count(0)
    expect(page.get_by_text("In use: kept or gone 1: ")).to_be_visible()
    with store.begin() as tx:
        tx.jobs.end_cancelled(job.id, 1)


def test_an_invalid_alias_is_corrected(visit: Visit) -> None:
    """The page of aliases shows why an alias is refused, and then the targets of a valid one."""
    visit.refusals_expected = True
    page = visit.open("/aliases")
    field = page.get_by_label("Alias", exact=True)
    field.fill("Not An Alias")
    expect(page.locator("#aliases .problem")).to_be_visible()
    field.fill("pointing-nowhere")
    expect(page.get_by_role("heading", name="No model has the alias pointing-nowhere")).to_be_visible()


def test_more_targets_of_an_alias_than_are_listed_are_mentioned(visit: Visit) -> None:
    """A note below the targets of an alias mentions that the list may be incomplete."""
    item = {"version": 1, "alias": "champion", "gated": False, "updated_at": "2026-01-06T03:00:00Z"}
    answer = {"items": [{**item, "name": f"many-{number}"} for number in range(50)]}
    visit.page.route("**/v1/aliases?**", lambda route: route.fulfill(json=answer))
    page = visit.open("/aliases")
    expect(page.get_by_text("Only the 50 models whose alias moved last are shown.")).to_be_visible()


@pytest.mark.parametrize("own_page", [True])
def test_jobs_with_long_names_and_marks_fit(visit: Visit, prepared: Prepared) -> None:
    """At 1440 pixels, the list shows all columns of jobs with long names and many marks."""
    prepared.synthetic("with a long name for a dataset of the shop search", queries=5)
    visit.page.set_viewport_size({"width": 1440, "height": 900})
    visit.page.route("**/v1/jobs?*", _with_marks)
    page = visit.open("/jobs")
    expect(page.get_by_text("3 attempts").first).to_be_visible()
    expect(page.locator(".list-panel:not([data-wide])")).to_be_visible()


def _with_marks(route: Route) -> None:
    """Answer with jobs that have long names, findings, a priority, several attempts and a metric."""
    body = route.fetch().json()
    for job in body["items"]:
        job |= {
            "title": "with a long name " * 5,
            "status": "succeeded",
            "priority": "high",
            "attempt": 3,
            "findings": [{"severity": "warning"}] * 12,
            "main_metric": {"name": "ndcg@10", "data": "validation", "value": 0.5},
            "spec": {"loss": {"name": "ndcg-loss2++"}},
        }
    route.fulfill(json=body)
