"""Click logs and interleavings: forms, findings, results of jobs, and the workflow from log to promotion."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.appearance import check_pages
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

_COUNT_CHANGES_OF_DISABLED = """button => {
    let changes = 0;
    const count = (found) => sessionStorage.setItem("changes", changes += found.length);
    new MutationObserver(count).observe(button, { attributeFilter: ["disabled"] });
}"""
_CARDS_CONTAIN_THEIR_BUTTONS = """cards => cards.every(
    (card) => card.lastElementChild.getBoundingClientRect().right < card.getBoundingClientRect().right - 8,
)"""
LOSSES = {"affine": "mse", "dual": "listnet"}
pytestmark = pytest.mark.browser


def click_table(lists: int) -> str:
    """Write a table of three queries with unusual column names; `b` has twice the clicks of `a`."""
    rows = ["search;terms;sku;place;event;visitor"]
    for number in range(lists):
        order = ["a", "b", "c"] if number % 2 else ["b", "a", "c"]
        head = f"s{number};shoes {number % 3};"
        rows += [f"{head}{sku};{index};impression;v{number % 40}" for index, sku in enumerate(order, 1)]
        clicked = "b" if number % 3 else "a"
        rows.append(f"{head}{clicked};{order.index(clicked) + 1};click;v{number % 40}")
    return "\n".join([*rows, f"s1;shoes 1;z;;hover;v{lists}", ""])


def upload_log(visit: Visit, name: str, lists: int) -> Page:
    """Upload a log with the form, and choose the role of each column."""
    page = visit.open("/click-logs#add")
    form = page.locator("#upload")
    form.locator('input[name="file"]').set_input_files(
        {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": click_table(lists).encode()}
    )
    columns = form.locator("#columns")
    expect(columns.get_by_label("Query").locator("option")).to_have_count(7)
    for role, column in {"Query": "terms", "Document": "sku", "Rank": "place", "Action": "event"}.items():
        columns.get_by_label(role).select_option(column)
    columns.get_by_label("List").select_option("search")
    columns.get_by_label("User").select_option("visitor")
    form.get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile("/click-logs/clk_"))
    expect(page.locator("#click-log")).to_have_attribute("data-status", "ready")
    return page


def choose_few_resamples(page: Page, step: str) -> None:
    """Choose few resamples in the open form, so that intervals are fast."""
    dialog = page.get_by_role("dialog", name=step)
    dialog.get_by_text("More", exact=True).click()
    dialog.get_by_label("Resamples for intervals").fill("5")


def start(page: Page, step: str, button: str) -> None:
    """Send the open form, and wait until the job succeeds."""
    dialog = page.get_by_role("dialog", name=step)
    dialog.locator("form:not([aria-busy])").wait_for()
    dialog.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url(re.compile("/jobs/job_"))
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")


def test_click_models_are_estimated_from_an_uploaded_log(visit: Visit) -> None:
    """Columns are chosen from the header, findings have examples, and a sentence compares click models."""
    page = upload_log(visit, "May", 120)
    log = page.url.removeprefix(visit.url)
    expect(page.locator(".tile").first).to_contain_text("120")
    finding = page.locator('[data-code="actions-without-weight"]')
    expect(finding.locator(".example")).to_have_text("hover: 1")
    expect(
        page.get_by_role("img", name=re.compile("Share of impressions with a click: rank 1"))
    ).to_be_visible()
    expect(page.locator(".rank-lines .circle").first).not_to_have_css("fill", "none")
    assert page.locator(".next-steps li").evaluate_all(_CARDS_CONTAIN_THEIR_BUTTONS)
    page.get_by_role("link", name="Estimate click models").click()
    dialog = page.get_by_role("dialog", name="Estimate click models")
    dialog.locator('input[value="dbn"]').uncheck()
    choose_few_resamples(page, "Estimate click models")
    start(page, "Estimate click models", "Estimate")
    expect(page.locator(".click-result .sentence")).to_contain_text(re.compile("best|distinguished"))
    table = page.get_by_role("region", name="Comparison of models")
    expect(table.get_by_role("rowheader")).to_have_count(2)
    expect(page.get_by_role("img", name=re.compile("Perplexity by rank"))).to_be_visible()
    check_pages(visit, {"click-log": log, "click-model": page.url.removeprefix(visit.url)}, {})
    page.get_by_role("link", name="Click log", exact=True).click()
    expect(page.locator(".log-jobs")).to_contain_text("Click model: May")
    page.keyboard.press("Control+k")
    page.keyboard.type("may")
    option = page.get_by_role("group", name="Click logs").get_by_role("option", name="May")
    expect(option).to_contain_text("ready")


def test_wrong_weights_and_a_log_without_documents_are_refused(visit: Visit) -> None:
    """Weights of actions must be numbers, and a table without documents is invalid."""
    visit.refusals_expected = True
    page = visit.open("/click-logs#add")
    form = page.locator("#upload")
    form.locator('input[name="file"]').set_input_files(
        {"name": "bare.csv", "mimeType": "text/csv", "buffer": b"query,rank,click\nq,1,1\n"}
    )
    form.get_by_text("Actions and ranks").click()
    form.get_by_label("Weights of actions").fill("click = much")
    form.get_by_role("button", name="Upload").click()
    expect(form.locator(".field-error")).to_contain_text("weight")
    form.get_by_label("Weights of actions").fill("click = 1")
    form.get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile("/click-logs/clk_"))
    expect(page.locator("#click-log")).to_have_attribute("data-status", "invalid")
    expect(page.get_by_role("group", name="Problem")).to_contain_text("document")


def interleave(page: Page, visit: Visit, prepared: Prepared) -> str:
    """Create an interleaving of two engines with the form, simulate clicks, and return its path."""
    page = visit.open("/interleavings#create")
    form = page.locator("#create-form")
    expect(page.locator("#sample-size")).to_contain_text("785 decided users")
    form.get_by_label("Name", exact=True).fill("engines")
    form.get_by_label("rankings that you send").check()
    form.get_by_label("Names of the rankers").fill("bm25, dense")
    form.get_by_label("Smallest difference").fill("0.2")
    expect(page.locator("#sample-size")).to_contain_text("50 decided users")
    form.get_by_text("More", exact=True).click()
    form.get_by_label("Click window").fill("0")
    form.get_by_role("button", name="Create").click()
    page.wait_for_url(re.compile("/interleavings/itl_"))
    path = page.url.removeprefix(visit.url)
    rankings = {"bm25": ["a", "b", "c"], "dense": ["c", "a", "b"]}
    for user in range(30):
        body = {"user": f"u{user}", "query": {"id": "shoes"}, "rankings": rankings}
        shown = prepared.post(f"/v1{path}/lists", json=body)
        event = {"ranking_id": shown["ranking_id"], "document_id": "c" if user % 7 else "b"}
        prepared.post(f"/v1{path}/events", json={"events": [event]})
    return path


def test_an_interleaving_reaches_a_verdict(visit: Visit, prepared: Prepared) -> None:
    """The form shows the sample size; the page has verdict and credit, and creates a click log."""
    page = visit.page
    path = interleave(page, visit, prepared)
    visit.open(path)
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict.locator(".sentence")).to_contain_text("dense is better than bm25")
    expect(verdict.locator(".tile").filter(has_text="Lists shown")).to_contain_text("30")
    expect(page.get_by_role("img", name=re.compile("decided users prefer bm25"))).to_be_visible()
    credit = page.get_by_role("region", name="Credit by pair")
    expect(credit.locator(".status")).to_have_text("better: dense")
    check_pages(visit, {"interleaving": path}, {})
    button = page.get_by_role("button", name="Make a click log")
    button.evaluate(_COUNT_CHANGES_OF_DISABLED)
    button.click()
    page.wait_for_url(re.compile("/click-logs/clk_"))
    expect(page.locator("#click-log")).to_have_attribute("data-status", "ready")
    assert page.evaluate("sessionStorage.getItem('changes')") == "1", "the button stayed disabled"
    visit.open(path)
    page.get_by_role("button", name="Delete engines").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url(f"{visit.url}/interleavings")


def test_estimates_from_clicks_are_on_the_page_of_a_model(visit: Visit, prepared: Prepared) -> None:
    """Estimates have the name of the log, and a failed request has a button to try again."""
    data = prepared.test_data()
    model = prepared.model(1)
    log = prepared.job(
        kind="simulate-clicks",
        dataset_id=data,
        log_name="June",
        features=["f1"],
        lists=2_000,
        swaps="shuffle",
    )
    result = prepared.job(
        kind="counterfactual",
        click_log_id=log["click_log_id"],
        dataset_id=data,
        systems=[{"model": model}],
        estimator="examination",
        examination=log["truth"]["propensities"],
    )
    visit.refusals_expected = True
    page = visit.page
    jobs = "**/v1/jobs?kind=counterfactual**"
    page.route(jobs, lambda route: route.fulfill(status=503, body="{}"))
    visit.open(f"/models/{model}")
    panel = page.get_by_role("region", name="Estimated from clicks")
    expect(panel.get_by_role("group", name="Problem")).to_be_visible()
    page.unroute(jobs)
    panel.get_by_role("button", name="Try again").click()
    cells = panel.get_by_role("row").nth(1).get_by_role("cell")
    expect(cells.first.get_by_role("link", name="June")).to_be_visible()
    expect(cells.nth(2)).to_have_text(f"{result['systems'][1]['value']:.4f}")
    visit.fit("click-estimates")


def test_estimates_by_examination_take_propensities_with_intervals(visit: Visit, prepared: Prepared) -> None:
    """Without intervals, the errors of the propensities are unknown, and the service refuses them."""
    log = prepared.job(
        kind="simulate-clicks",
        dataset_id=prepared.test_data(),
        log_name="August",
        features=["f1"],
        lists=500,
        swaps="shuffle",
    )["click_log_id"]
    for resamples in (0, 2):
        prepared.job(kind="propensity", click_log_id=log, method="shuffled", positions=3, resamples=resamples)
    page = visit.open(f"/click-logs/{log}#estimate")
    page.locator("#estimate-form:not([aria-busy])").wait_for()
    options = page.get_by_label("Examination by the propensities of").locator("option")
    expect(options).to_have_text([re.compile("^shuffled, 3 ranks, "), "true propensities (simulation)"])


def test_the_form_of_a_gate_keeps_its_estimate_from_clicks(visit: Visit, prepared: Prepared) -> None:
    """Fields that depend on the estimator are shown and sent, although the click logs are read later."""
    data = prepared.test_data()
    prepared.model(1)
    log = prepared.job(kind="simulate-clicks", dataset_id=data, log_name="July", features=["f1"], lists=100)
    page = visit.page
    alias = f"{visit.url}/v1/models/compared/aliases/clicked"
    assert page.request.put(alias, data={"version": 1}).ok
    rule = {
        "click_log_id": log["click_log_id"],
        "dataset_id": data,
        "estimator": "examination",
        "examination": [1.0, *[0.5] * 9],
        "examination_errors": [0.0, *[0.1] * 9],
    }
    answer = page.request.put(f"{alias}/gate", data={"counterfactual": rule})
    assert answer.ok, answer.text()
    visit.open("/models/compared:1#view=aliases")
    card = page.locator('.alias[data-alias="clicked"]')
    card.get_by_role("button", name="Edit gate").click()
    expect(card.get_by_label("Examination by rank")).to_be_visible()
    expect(card.get_by_label("Examination by rank")).to_have_value(", ".join(["1", *["0.5"] * 9]))
    expect(card.get_by_label("Standard errors")).to_have_value(", ".join(["0", *["0.1"] * 9]))
    card.get_by_role("button", name="Set gate").click()
    expect(card.get_by_role("button", name="Edit gate")).to_be_visible()
    assert page.request.get(f"{alias}/gate").json()["counterfactual"] == answer.json()["counterfactual"]


def test_the_form_of_a_gate_keeps_what_it_does_not_offer(visit: Visit, prepared: Prepared) -> None:
    """A dataset that does not suit the version, an old click log and exact numbers survive another edit."""
    data = prepared.test_data()
    prepared.model(1)
    log = prepared.job(kind="simulate-clicks", dataset_id=data, log_name="old", features=["f1"], lists=100)
    page = visit.page
    alias = f"{visit.url}/v1/models/compared/aliases/kept"
    assert page.request.put(alias, data={"version": 1}).ok
    estimate = {
        "click_log_id": log["click_log_id"],
        "dataset_id": data,
        "estimator": "examination",
        "examination": [1.0, *[0.5] * 9],
        "margin": 0.12345678,
    }
    rule = {"dataset_id": data, "metric": "ndcg@10", "p": 0.012345678, "counterfactual": estimate}
    answer = page.request.put(f"{alias}/gate", data=rule)
    assert answer.ok, answer.text()
    gate = answer.json()
    page.route("**/v1/click-logs?*", lambda route: route.fulfill(json={"items": [], "next_cursor": None}))
    page.route("**/v1/datasets?*for=*", lambda route: _refuse_dataset(route, data))
    visit.open("/models/compared:1#view=aliases")
    card = page.locator('.alias[data-alias="kept"]')
    card.get_by_role("button", name="Edit gate").click()
    expect(card.get_by_label("Compared on the queries of")).to_have_value(data)
    card.get_by_label("Largest drop in a segment").fill("0.5")
    with page.expect_response(f"{alias}/gate") as sent:
        card.get_by_role("button", name="Set gate").click()
    assert sent.value.ok, sent.value.text()
    kept = page.request.get(f"{alias}/gate").json()
    assert kept | {"updated_at": gate["updated_at"]} == gate | {"max_slice_drop": 0.5}


@pytest.mark.parametrize("unread", ["**/v1/datasets?*", "**/v1/click-logs?*"])
def test_the_form_of_a_gate_is_not_sent_without_its_choices(
    visit: Visit, prepared: Prepared, unread: str
) -> None:
    """If datasets or click logs cannot be read, the form shows why, and is sent only after another try."""
    data = prepared.test_data()
    prepared.model(1)
    log = prepared.job(kind="simulate-clicks", dataset_id=data, log_name="kept", features=["f1"], lists=100)
    estimate = {
        "click_log_id": log["click_log_id"],
        "dataset_id": data,
        "estimator": "examination",
        "examination": [1.0, *[0.5] * 9],
    }
    rule = {"dataset_id": data, "metric": "ndcg@10", "counterfactual": estimate}
    page = visit.page
    alias = f"{visit.url}/v1/models/compared/aliases/unread"
    assert page.request.put(alias, data={"version": 1}).ok
    answer = page.request.put(f"{alias}/gate", data=rule)
    assert answer.ok, answer.text()
    visit.refusals_expected = True
    page.route(unread, lambda route: route.fulfill(status=503, body="{}"))
    visit.open("/models/compared:1#view=aliases")
    card = page.locator('.alias[data-alias="unread"]')
    card.get_by_role("button", name="Edit gate").click()
    expect(card.get_by_role("group", name="Problem")).to_be_visible()
    expect(card.get_by_role("button", name="Set gate")).to_be_disabled()
    page.unroute(unread)
    card.get_by_role("button", name="Try again").click()
    expect(card.get_by_label("Compared on the queries of")).to_have_value(data)
    card.get_by_role("button", name="Set gate").click()
    expect(card.get_by_role("button", name="Edit gate")).to_be_visible()
    gate = answer.json()
    kept = page.request.get(f"{alias}/gate").json()
    assert kept | {"updated_at": gate["updated_at"]} == gate


def _refuse_dataset(route: Route, dataset: str) -> None:
    """Answer that a dataset does not suit the systems."""
    answer = route.fetch()
    page = answer.json()
    for item in page["items"]:
        if item["id"] == dataset:
            item["fit"] = (item["fit"] or {}) | {"fits": False, "reason": "no feature of the model"}
    route.fulfill(response=answer, json=page)


@pytest.mark.slow
def test_the_workflow_from_clicks_to_a_promotion(visit: Visit, prepared: Prepared) -> None:
    """Simulate a log, read its findings, estimate, judge, train, evaluate, interleave and promote."""
    judged = prepared.synthetic("clicks judged", queries=60, seed=3)
    prepared.synthetic("clicks tested", queries=60, seed=4)
    page = _simulate(visit, judged)
    log = page.url.removeprefix(visit.url)
    expect(page.locator(".findings")).to_contain_text("The lists have no users")
    page.get_by_role("link", name="Estimate click models").click()
    choose_few_resamples(page, "Estimate click models")
    start(page, "Estimate click models", "Estimate")
    expect(page.locator(".click-result .sentence")).to_contain_text("pbm")
    visit.open(log)
    page.get_by_role("link", name="Make judgments").click()
    dialog = page.get_by_role("dialog", name="Make judgments")
    dialog.locator("form:not([aria-busy])").wait_for()
    for field in ("Dataset with the features", "Compare the grades with"):
        dialog.get_by_label(field).select_option(judged)
    start(page, "Make judgments", "Judge")
    expect(page.get_by_role("region", name="Agreement with judgments")).to_contain_text("0.")
    page.get_by_role("link", name="Dataset of the judgments").click()
    expect(page.locator("#dataset")).to_have_attribute("data-status", "ready")
    for correction in ("none", "ips", "affine", "dual"):
        _train(visit, log, correction)
    expect(page.get_by_role("img", name=re.compile("Learnt propensities"))).to_be_visible()
    expect(page.locator(".click-result .sentence")).to_contain_text("corrected and")
    _estimate(visit, log, judged)
    _interleave_models(visit)
    _promote(visit)


def _simulate(visit: Visit, judged: str) -> Page:
    page = visit.open("/click-logs#simulate")
    form = page.locator("#simulate-form:not([aria-busy])")
    form.get_by_label("Judged dataset").select_option(judged)
    form.get_by_label("Lists are ranked by the features").fill("f1")
    form.get_by_label("Ranks swapped at random").select_option("shuffle")
    form.get_by_label("Lists", exact=True).fill("20000")
    form.get_by_role("button", name="Simulate").click()
    page.wait_for_url(re.compile("/jobs/job_"))
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    expect(page.get_by_role("img", name=re.compile("True propensities"))).to_be_visible()
    page.get_by_role("link", name="Click log", exact=True).click()
    page.wait_for_url(re.compile("/click-logs/clk_"))
    return page


def _train(visit: Visit, log: str, correction: str) -> None:
    page = visit.open(f"{log}#train")
    dialog = page.get_by_role("dialog", name="Train on the clicks")
    dialog.locator("form:not([aria-busy])").wait_for()
    dialog.get_by_label("Dataset with the features").select_option(
        label=_label(dialog.get_by_label("Dataset with the features"), "clicks judged")
    )
    tested = dialog.get_by_label("Judged test data")
    tested.select_option(label=_label(tested, "clicks tested"))
    dialog.get_by_label("Correction").select_option(correction)
    dialog.locator("[data-pointer='/loss/name']").select_option(LOSSES.get(correction, "lambdarank"))
    dialog.get_by_label("Iterations").fill("10")
    start(page, "Train on the clicks", "Train")


def _label(select: Locator, beginning: str) -> str:
    texts = select.locator("option").all_inner_texts()
    return next(text for text in texts if text.startswith(beginning))


def _estimate(visit: Visit, log: str, judged: str) -> None:
    page = visit.open(f"{log}#estimate")
    dialog = page.get_by_role("dialog", name="Evaluate new rankings")
    dialog.locator("form:not([aria-busy])").wait_for()
    dialog.get_by_label("Models or rankings").fill("clicked:1, clicked:2")
    dialog.get_by_label("Dataset with the features").select_option(judged)
    start(page, "Evaluate new rankings", "Evaluate")
    expect(page.locator(".click-verdicts li")).to_have_count(3)
    expect(page.get_by_role("region", name="Support of each ranking")).to_contain_text("clicked:2")


def _interleave_models(visit: Visit) -> None:
    page = visit.open("/interleavings?model=clicked:1&model=clicked:2#create")
    form = page.locator("#create-form")
    form.get_by_label("Name", exact=True).fill("corrected or naive")
    form.get_by_role("button", name="Create").click()
    page.wait_for_url(re.compile("/interleavings/itl_"))
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("Undecided between")


def _promote(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("link", name="Aliases and gates of clicked:2").click()
    page.locator(".alias-form").get_by_role("textbox", name="Name").fill("served")
    page.get_by_role("button", name="Promote version 2").first.click()
    expect(page.locator('.alias[data-alias="served"]').get_by_role("heading")).to_contain_text("this version")
    visit.open("/aliases?alias=served")
    row = page.locator("#aliases").get_by_role("row").filter(has_text="clicked:2")
    row.get_by_role("link", name="Try clicked:2").click()
    page.wait_for_url("**/models/clicked:2*")
