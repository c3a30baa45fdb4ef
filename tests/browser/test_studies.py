"""A study from its form to its conclusion."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import DESK, PHONE, Visit

_BECOME_VISIBLE_REPEATEDLY = """setInterval(() => {
    document.dispatchEvent(new Event("visibilitychange"));
    fetch("/healthz").catch(() => {});
}, 100)"""

pytestmark = pytest.mark.browser

TRIALS = 5


@pytest.mark.slow  # by default, other tests train networks and run studies
def test_a_network_is_studied(visit: Visit, prepared: Prepared) -> None:
    """The form proposes and sends the parameters of a network, including lists of layers."""
    dataset_id = prepared.dataset("learnt from.csv", 1)
    page = visit.open(f"/studies/new?dataset={dataset_id}")
    form = page.locator("#new-study:not([aria-busy])")
    form.get_by_label("Scorer").select_option("a network")
    expect(form.get_by_label("Leaves per tree, to")).to_have_count(0)
    form.get_by_label("Model name").fill("studied-network")
    form.get_by_label("Epochs at most").fill("2")
    form.get_by_label("Trials", exact=True).fill("2")
    form.get_by_label("64, 32", exact=True).uncheck()
    assert visit.violations() == []
    form.get_by_role("button", name="Start study").click()
    page.wait_for_url(re.compile(r"/studies/std_"))
    study_id = page.url.rsplit("/", 1)[1]
    prepared.post(f"/v1/studies/{study_id}/cancel")
    study = prepared.get(f"/v1/studies/{study_id}")
    assert study["base"]["scorer"]["kind"] == "mlp"
    assert study["base"]["scorer"]["epochs"] == 2
    assert study["search_space"]["/scorer/hidden"]["choices"] == [[16], [32], [128, 64], [128, 64, 32]]
    assert {"/scorer/learning_rate", "/scorer/dropout"} <= set(study["search_space"])


def test_a_study_is_submitted_and_concludes(visit: Visit, prepared: Prepared) -> None:
    """Bounds of the form become the search space; the page draws the trials and the conclusion."""
    dataset_id = prepared.dataset("learnt from.csv", 1)
    page = visit.open(f"/studies/new?dataset={dataset_id}")
    form = page.locator("#new-study:not([aria-busy])")
    form.get_by_label("Study name", exact=True).fill("small")
    form.get_by_label("Model name").fill("studied")
    form.get_by_label("Iterations", exact=True).fill("4")
    form.get_by_label("Leaves per tree, to").fill("12")
    form.get_by_role("group", name="Documents per leaf").get_by_role("checkbox").first.uncheck()
    form.get_by_role("group", name="Loss", exact=True).get_by_role("checkbox").first.check()
    form.get_by_label("Folds", exact=True).fill("2")
    form.get_by_label("Trials", exact=True).fill(str(TRIALS))
    form.get_by_text("Sampler, pruner, seed and alias").click()
    form.get_by_label("Pruner").select_option("none")
    expect(page.locator("#study-words")).to_have_text(
        re.compile("^5 trials over 3 parameters: at most 10 trainings, .* 1 or 2 for the conclusion")
    )
    form.get_by_role("button", name="Start study").click()
    page.wait_for_url(re.compile(r"/studies/std_"))
    study_id = page.url.rsplit("/", 1)[1]
    study = prepared.get(f"/v1/studies/{study_id}")
    assert set(study["search_space"]) == {
        "/hyperparameters/num_leaves",
        "/hyperparameters/learning_rate",
        "/loss",
    }
    assert study["search_space"]["/hyperparameters/num_leaves"]["high"] == 12
    assert study["objective"]["validation"] == {"folds": 2}

    conclusion = page.get_by_role("region", name="Conclusion")
    expect(conclusion.get_by_role("heading", name="Best against default")).to_be_visible()
    concluded = prepared.get(f"/v1/studies/{study_id}")["conclusion"]
    expect(conclusion.locator(".sentence")).to_have_text(concluded["sentence"])
    is_improved = concluded["winner_model"] != concluded["default_model"]
    expect(conclusion.locator("table")).to_have_count(int(is_improved))
    for figure in ("History", "Parallel coordinates", "Slices", "Timeline"):
        region = page.get_by_role("region", name=figure, exact=True)
        expect(region.locator(".plot .drawing").first).to_be_visible()
    expect(page.get_by_role("region", name="Importance of parameters")).to_contain_text("PED-ANOVA")
    expect(page.locator("[data-trial]")).to_have_count(TRIALS)
    page.get_by_role("button", name="Learning curve of trial 0").click()
    expect(page.locator(".trial-curve .drawing").first).to_be_visible()
    visit.fit("study", (DESK, PHONE, 320))
    assert visit.violations() == []

    page = visit.open("/studies")
    row = page.locator(f'[data-study="{study_id}"]')
    expect(row).to_contain_text(f"{TRIALS} of {TRIALS}")
    expect(row.get_by_role("link", name=concluded["sentence"])).to_be_visible()


def test_a_study_is_paused_extended_and_cancelled(visit: Visit, prepared: Prepared) -> None:
    """A study is paused, extended, resumed, cancelled and deleted; its page requests no deleted study."""
    visit.refusals_expected = True
    study = prepared.study("long", trials=1_000)
    page = visit.open(f"/studies/{study}")
    status = page.locator(".job-heading .status")
    page.get_by_role("button", name="Pause").click()
    expect(status).to_have_text("paused")
    page.get_by_role("button", name="Change budget").click()
    dialog = page.get_by_role("dialog", name="Change the budget")
    trials, parallel = (dialog.locator(f'[data-pointer="/{name}"]') for name in ("trials", "parallel_trials"))
    trials.fill("")
    parallel.fill("")
    dialog.get_by_role("button", name="Change").click()
    expect(dialog.get_by_text("must be a whole number")).to_have_count(2)
    trials.fill("1200")
    parallel.fill("1")
    dialog.get_by_role("button", name="Change").click()
    expect(page.locator(".tiles")).to_contain_text("of 1,200")
    page.get_by_role("button", name="Add a trial").click()
    dialog = page.get_by_role("dialog", name="Add a trial")
    dialog.get_by_label("Leaves per tree").fill("9")
    dialog.get_by_role("button", name="Add").click()
    dialog.wait_for(state="detached")
    assert prepared.get(f"/v1/studies/{study}/trials?limit=1000")["items"][-1]["source"] == "hand"
    page.get_by_role("button", name="Resume").click()
    expect(status).to_have_text("running")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel the study").click()
    expect(status).to_have_text("cancelled")
    expect(page.get_by_text("Waiting for")).to_have_count(0)
    page.get_by_role("button", name="Delete").click()
    held: list[Route] = []
    page.route("**/studies", lambda route: held.append(route))
    held_trials: list[Route] = []
    page.route("**/trials?*", lambda route: held_trials.append(route))
    # Playwright cannot evaluate scripts during a navigation.
    with page.expect_request("**/trials?*"):
        page.evaluate(_BECOME_VISIBLE_REPEATEDLY)
    before = len(visit.requests)
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    # The deletion must wait for a pending request, which would otherwise not find the study.
    for _ in range(2):
        page.wait_for_event("request", lambda request: request.url.endswith("/healthz"))
    assert [request.method for request in visit.requests[before:] if study in request.url] == []
    with page.expect_request(f"{visit.url}/studies"):
        held_trials[0].continue_()
    # The page must not request the deleted study before the navigation, even if the page becomes visible.
    before = len(visit.requests)
    for _ in range(2):
        page.wait_for_event("request", lambda request: request.url.endswith("/healthz"))
    assert [request.url for request in visit.requests[before:] if study in request.url] == []
    held[0].continue_()
    page.wait_for_url(re.compile(r"/studies$"))
