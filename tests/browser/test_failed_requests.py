"""Pages show all other content while a secondary request fails or is slow."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.prepared import Json, Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def _refuse(route: Route) -> None:
    route.fulfill(
        status=503, content_type="application/problem+json", body='{"title": "Away", "status": 503}'
    )


def _trash(*names: str) -> dict[str, object]:
    """Return a page of the trash with models of these names."""
    times = {"deleted_at": "2026-01-05T10:00:00Z", "purge_at": "2026-01-12T10:00:00Z"}
    items = [
        {"id": "mdl_1", "name": name, "kind": "model", "size_bytes": 1, "deleted_by": None, **times}
        for name in names
    ]
    return {"items": items, "next_cursor": None}


def _training(prepared: Prepared) -> str:
    dataset_id = prepared.synthetic("few queries", 15)
    return prepared.training(
        model_name="refused",
        dataset_id=dataset_id,
        loss={"name": "lambdarank"},
        hyperparameters={"num_iterations": 3},
        diagnostics={"interval": 1},
        validation={"fraction": 0.3},
    )


def test_a_job_is_shown_without_its_curve(visit: Visit, prepared: Prepared) -> None:
    """If the request for the history fails, the job's page still shows its heading and its log."""
    job_id = _training(prepared)
    visit.refusals_expected = True
    visit.page.route("**/history*", _refuse)
    page = visit.open(f"/jobs/{job_id}")
    expect(page.locator(".job-heading")).to_be_visible()
    expect(page.get_by_role("heading", name="Log")).to_be_visible()


def test_a_job_is_shown_without_a_script(visit: Visit, prepared: Prepared) -> None:
    """If the script of the diagnostics does not load, as after an upgrade, a note replaces them."""
    job_id = _training(prepared)
    visit.refusals_expected = True
    visit.page.route("**/evaluation/diagnostics.js", lambda route: route.abort())
    page = visit.open(f"/jobs/{job_id}")
    expect(page.locator(".curve-and-metrics")).to_be_visible()
    expect(page.get_by_text("A part of this page could not be loaded")).to_be_visible()


def test_an_open_row_is_shown_without_its_script(visit: Visit, prepared: Prepared) -> None:
    """If the script of the details does not load, a note replaces them above the buttons of the job."""
    _training(prepared)
    visit.refusals_expected = True
    visit.page.route("**/jobs/detail.js", lambda route: route.abort())
    page = visit.open("/jobs?text=refused")
    page.get_by_role("button", name="Details of").first.click()
    expect(page.get_by_text("A part of this page could not be loaded")).to_be_visible()
    expect(page.locator(".row-details").get_by_role("link", name="Job page")).to_be_visible()


@pytest.mark.parametrize(("view", "script"), [("exports", "export.js"), ("inside", "inspection.js")])
def test_a_view_of_a_model_is_shown_without_its_script(
    visit: Visit, prepared: Prepared, view: str, script: str
) -> None:
    """If the script of a view does not load, a note replaces the view."""
    model = prepared.get(f"/v1/jobs/{_training(prepared)}")["result"]["model_id"]
    visit.refusals_expected = True
    visit.page.route(f"**/models/{script}", lambda route: route.abort())
    page = visit.open(f"/models/{model}#view={view}")
    expect(page.get_by_text("A part of this page could not be loaded")).to_be_visible()


def test_diagnostics_are_drawn_after_a_failed_request(visit: Visit, prepared: Prepared) -> None:
    """If the request for the names of the diagnostics fails, the next update draws the diagnostics."""
    job_id = _training(prepared)
    visit.refusals_expected = True
    visit.page.route("**/v1/metrics", _refuse, times=1)
    page = visit.open(f"/jobs/{job_id}")
    expect(page.locator(".diagnostics-curve .plot .drawing")).to_be_visible()


def test_a_study_shows_which_parts_could_not_be_read(visit: Visit, prepared: Prepared) -> None:
    """If the importance or a learning curve cannot be read, a button reads it again."""
    study = prepared.study("unread", trials=1)
    trials: list[Json] = []
    while not [trial for trial in trials if trial["status"] == "succeeded"]:
        trials = prepared.get(f"/v1/studies/{study}/trials")["items"]
    five = [{**trials[0], "id": f"t{number}", "number": number} for number in range(5)]
    visit.refusals_expected = True
    visit.page.route("**/trials?*", lambda route: route.fulfill(json={"items": five, "next_cursor": None}))
    known = {"importances": {"/hyperparameters/num_leaves": 1.0}, "trials": 5}
    visit.page.route("**/importance", lambda route: route.fulfill(json=known))
    visit.page.route("**/importance", _refuse, times=1)
    visit.page.route("**/history*", _refuse, times=1)
    page = visit.open(f"/studies/{study}")
    importance = page.get_by_role("region", name="Importance of parameters")
    importance.get_by_role("button", name="Try again").click()
    expect(importance).to_contain_text("PED-ANOVA over 5 trials")
    page.get_by_role("button", name="Learning curve of trial 2").click()
    page.locator(".trial-curve").get_by_role("button", name="Try again").click()
    expect(page.locator(".trial-curve .drawing").first).to_be_visible()


def test_compared_trainings_are_shown_without_their_champion(visit: Visit, prepared: Prepared) -> None:
    """If the first request for aliases fails, the table is shown, and the next update reads the aliases."""
    job_ids = [_training(prepared), _training(prepared)]
    visit.refusals_expected = True
    visit.page.route("**/v1/models/*/aliases*", _refuse, times=1)
    page = visit.open(f"/jobs/compare?job={job_ids[0]}&job={job_ids[1]}")
    expect(page.locator("#compared table").first).to_be_visible()
    expect(page.get_by_text("refused has no champion yet")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "read"),
    [("/experiments#run", "**/v1/papers"), ("/studies/new", "**/v1/losses"), ("/train", "**/v1/scorers")],
)
def test_a_form_is_shown_without_its_choices(visit: Visit, path: str, read: str) -> None:
    """If a request for choices fails, the form shows the error, and a button reads them again."""
    visit.refusals_expected = True
    visit.page.route(read, _refuse, times=1)
    page = visit.open(path)
    summary = page.locator("form .summary:visible")
    expect(summary).to_contain_text("not ready")
    expect(page.locator("form:visible button[type=submit]")).to_be_visible()
    summary.get_by_role("button", name="Try again").click()
    visit.settle()
    expect(summary).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "read"),
    [("/settings", "**/v1/settings"), ("/settings/audit", "**/v1/keys*"), ("/settings/keys", "**/v1/keys*")],
)
def test_settings_are_read_again_on_request(visit: Visit, path: str, read: str) -> None:
    """If the API does not answer, a page of the settings shows why, and a button reads again."""
    visit.refusals_expected = True
    visit.page.route(read, _refuse, times=1)
    page = visit.open(path)
    again = page.get_by_role("button", name="Try again")
    again.click()
    expect(again).to_have_count(0)
    expect(page.get_by_text("not ready")).to_have_count(0)


def test_a_refused_action_keeps_the_focus(visit: Visit, prepared: Prepared) -> None:
    """A second refusal after *Try again* is shown, too, and the focus returns to the button of the action."""
    model = prepared.get(f"/v1/jobs/{_training(prepared)}")["result"]["model_id"]
    visit.refusals_expected = True
    visit.page.route("**/reproduce", _refuse)
    page = visit.open(f"/models/{model}")
    button = page.get_by_role("button", name="Train again and compare files")
    again = page.locator(".reproduction").get_by_role("button", name="Try again")
    button.click()
    again.focus()
    with page.expect_response("**/reproduce"):
        page.keyboard.press("Enter")
    expect(again).to_be_visible()
    expect(button).to_be_focused()


def test_an_unconfirmed_rollback_keeps_the_reason_of_a_refusal(visit: Visit, prepared: Prepared) -> None:
    """The reason of a refused promotion stays visible when the user decides against a rollback."""
    jobs = [prepared.get(f"/v1/jobs/{_training(prepared)}") for _ in range(2)]
    older, newer = (prepared.get(f"/v1/models/{job['result']['model_id']}")["version"] for job in jobs)
    page = visit.page
    path = f"{visit.url}/v1/models/refused/aliases/kept"
    assert page.request.put(path, data={"version": older}).ok
    job = {
        **jobs[1],
        "status": "refused",
        "problem": {"title": "Promotion refused", "detail": "It is worse."},
    }
    page.route("**/aliases/kept", lambda route: route.fulfill(status=202, json=job), times=1)
    page.route(f"**/v1/jobs/{job['id']}", lambda route: route.fulfill(json=job))
    visit.open(f"/models/refused:{newer}#view=aliases")
    card = page.locator('[data-alias="kept"]')
    card.get_by_role("button", name=f"Promote version {newer}").click()
    expect(card.get_by_text("It is worse.")).to_be_visible()
    card.get_by_role("button", name="Roll back").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(card.get_by_text("It is worse.")).to_be_visible()


def test_the_trash_shows_why_it_was_not_emptied(visit: Visit) -> None:
    """If the API does not answer, the page shows why. The action is disabled while the trash is empty."""
    visit.refusals_expected = True
    visit.page.route("**/v1/trash/empty", _refuse)
    visit.page.route("**/v1/trash?*", lambda route: route.fulfill(json=_trash()), times=1)
    page = visit.open("/settings/storage")
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    expect(page.get_by_role("button", name="Empty the trash")).to_be_disabled()
    visit.page.route("**/v1/trash?*", lambda route: route.fulfill(json=_trash("old model")))
    visit.open("/settings/storage")
    page.get_by_role("button", name="Empty the trash").click()
    page.get_by_role("button", name="Empty it").click()
    expect(page.get_by_role("alert")).to_contain_text("not ready")


def test_the_focus_stays_at_the_trash_when_it_is_emptied(visit: Visit) -> None:
    """The button is disabled then, so that the panel of the trash gets the focus."""
    deletion = {"deleted": {"models": 1}, "size_bytes": 1000, "complete": True}
    visit.page.route("**/v1/trash/empty", lambda route: route.fulfill(json=deletion))
    visit.page.route("**/v1/trash?*", lambda route: route.fulfill(json=_trash()))
    visit.page.route("**/v1/trash?*", lambda route: route.fulfill(json=_trash("old model")), times=1)
    page = visit.open("/settings/storage")
    page.get_by_role("button", name="Empty the trash").click()
    page.get_by_role("button", name="Empty it").click()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    expect(page.locator("#trash-panel")).to_be_focused()


def test_a_table_of_few_queries_stays_while_it_is_sorted(visit: Visit, prepared: Prepared) -> None:
    """The panel and the focus stay where they are until the sorted rows have arrived."""
    job_id = _training(prepared)
    model = prepared.get(f"/v1/jobs/{job_id}")["result"]["model_id"]
    dataset_id = prepared.synthetic("few queries", 15)
    result = prepared.job(kind="evaluate", dataset_id=dataset_id, model=model)
    page = visit.open(f"/evaluations/{result['evaluation_id']}")
    panel = page.locator(".query-values")
    heading = panel.locator("thead button").last
    expect(heading).to_be_visible()
    held: list[Route] = []
    page.route(re.compile("/v1/evaluations/.*/queries"), lambda route: held.append(route))
    heading.click()
    page.wait_for_function("() => document.querySelector('.query-values [aria-busy=true]')")
    expect(panel).to_be_visible()
    expect(heading).to_be_focused()
    for route in held:
        route.continue_()
    visit.settle()


def test_limits_typed_with_pauses_are_applied(visit: Visit, prepared: Prepared) -> None:
    """The table of queries takes a limit in several steps, and two limits one right after the other."""
    dataset_id = prepared.synthetic("few queries", 15)
    model = prepared.get(f"/v1/jobs/{_training(prepared)}")["result"]["model_id"]
    result = prepared.job(kind="evaluate", dataset_id=dataset_id, model=model)
    page = visit.open(f"/evaluations/{result['evaluation_id']}")
    least, most = (page.get_by_label(re.compile(f"^{end} ")) for end in ("Minimum", "Maximum"))
    with page.expect_response(re.compile(r"/queries\?.*min=0\.&|/queries\?.*min=0\.$")):
        least.press_sequentially("0.")
    visit.settle()
    with page.expect_response(re.compile(r"/queries\?.*min=0\.5\b")):
        least.press_sequentially("5")
    visit.settle()
    with page.expect_response(re.compile(r"/queries\?.*min=0\.25&max=0\.75\b")):
        least.fill("0.25")
        most.fill("0.75")
    visit.settle()


def test_a_repeated_refusal_to_cancel_a_job_is_shown_once(visit: Visit, prepared: Prepared) -> None:
    """The message of a second refusal replaces that of the first, on the page of a job and in its list."""
    job_id = _training(prepared)
    visit.refusals_expected = True
    visit.page.route(re.compile(r"/v1/jobs(/job_\w+)?(\?|$)"), _as_running)
    visit.page.route("**/cancel", _refuse)
    page = visit.open(f"/jobs/{job_id}")
    _press_twice(page, "Cancel job")
    page = visit.open("/jobs?text=refused")
    page.get_by_role("checkbox").nth(1).check()
    _press_twice(page, re.compile("Cancel 1 job"))


def test_a_repeated_refusal_to_delete_a_gate_is_shown_once(visit: Visit, prepared: Prepared) -> None:
    """The message of a second refusal replaces that of the first."""
    model = prepared.get(f"/v1/jobs/{_training(prepared)}")["result"]["model_id"]
    gate = {"dataset_id": prepared.synthetic("few queries", 15), "metric": "ndcg@10"}
    assert visit.page.request.put(f"{visit.url}/v1/models/refused/aliases/gated/gate", data=gate).ok
    visit.refusals_expected = True
    visit.page.route(
        "**/gate", lambda route: _refuse(route) if route.request.method == "DELETE" else route.continue_()
    )
    page = visit.open(f"/models/{model}#view=aliases")
    card = page.locator('[data-alias="gated"]')
    for _ in range(2):
        card.get_by_role("button", name="Delete gate").click()
        with page.expect_response(lambda response: response.status == 503):
            page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(card.get_by_role("button", name="Delete gate")).to_be_enabled()
    expect(card.get_by_text("not ready")).to_have_count(1)


def _as_running(route: Route) -> None:
    answer = route.fetch()
    if answer.status != 200:
        return route.fulfill(response=answer)
    body = answer.json()
    for job in body.get("items", [body]):
        job["status"] = "running"
    return route.fulfill(response=answer, json=body)


def _press_twice(page: Page, name: str | re.Pattern[str]) -> None:
    button = page.get_by_role("button", name=name)
    for _ in range(2):
        with page.expect_response("**/cancel"):
            button.click()
        expect(button).to_be_enabled()
    expect(page.locator(".error[role=alert]:visible")).to_have_count(1)
