"""Views and actions of a model: description, reproduction, aliases, exports, scoring and import."""

import json
import random
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def _view(visit: Visit, reference: str, name: str) -> Page:
    page = visit.open(f"/models/{reference}")
    page.locator("#views").get_by_role("link", name=name).click()
    page.locator(f'#views [aria-current="page"]:text-is("{name}")').wait_for()
    return page


def _signed(text: str) -> float:
    return float(text.replace("−", "-").replace("±", ""))


def _overwrite_description(visit: Visit, model_id: str, description: Locator) -> None:
    """Edit a description that someone else has changed meanwhile: the form asks before it overwrites it."""
    description.get_by_role("button", name="Edit").click()
    changed = {"description": "theirs", "title": "Their title"}
    visit.page.request.patch(f"{visit.url}/v1/models/{model_id}", data=changed)
    description.get_by_label("Description").fill("for the start page")
    description.get_by_label("Project").fill("web")
    description.get_by_role("button", name="Save").click()
    expect(description.locator(".description")).to_have_text("theirs")  # the text was not edited here
    expect(description).to_contain_text("Their title")
    description.get_by_role("button", name="Edit").click()
    visit.page.request.patch(
        f"{visit.url}/v1/models/{model_id}", data={"description": "theirs again", "title": None}
    )
    description.get_by_label("Description").fill("for the start page")
    description.get_by_role("button", name="Save").click()
    dialog = visit.page.get_by_role("dialog", name="Overwrite the changes of others?")
    expect(dialog).to_contain_text("description: theirs again")
    dialog.get_by_role("button", name="Go on editing").click()
    description.get_by_role("button", name="Save").click()
    dialog.get_by_role("button", name="Overwrite").click()
    expect(description.locator(".description")).to_have_text("for the start page")


def test_a_model_is_described_and_found_by_its_tag(visit: Visit, prepared: Prepared) -> None:
    """The form has one tag per line and refuses an invalid one; a tag links to all models with it."""
    visit.refusals_expected = True
    prepared.model(2)
    latest = prepared.get("/v1/models/compared")
    page = visit.open(f"/models/{latest['id']}")
    description = page.locator(".panel").filter(has=page.get_by_role("heading", name="Description"))
    description.get_by_role("button", name="Edit").click()
    description.get_by_label("Description").fill("for the start page")
    description.get_by_label("Tags").fill("Team: search")
    description.get_by_role("button", name="Save").click()
    expect(description.locator(".problem, .field-error").first).to_be_visible()
    description.get_by_label("Tags").fill("team: search\ndraft")
    description.get_by_role("button", name="Save").click()
    expect(description.locator(".description")).to_have_text("for the start page")
    assert prepared.get(f"/v1/models/{latest['id']}")["tags"] == {"team": "search", "draft": ""}
    _overwrite_description(visit, latest["id"], description)
    description.get_by_role("link", name="team: search").click()
    page.wait_for_url(f"{visit.url}/models?tag=team%3Asearch")
    expect(page.locator("[data-model]")).to_have_count(1)
    expect(page.locator("[data-model]")).to_contain_text("draft")
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Description").check()
    expect(page.locator("[data-model]")).to_contain_text("for the start page")
    page.get_by_label("Filter by tag").fill("")
    page.get_by_label("Search by name").fill("no such")
    expect(page.get_by_role("heading", name="No matching models")).to_be_visible()
    assert "prefix=no+such" in page.url
    page.get_by_label("Search by name").fill("Compared:2")
    expect(page.locator("[data-model] th")).to_have_text("compared:2")
    page.get_by_label("Search by name").fill("Compared")
    expect(page.locator("[data-model]")).not_to_have_count(1)
    page.get_by_label("Filter by version").select_option("true")
    expect(page.locator("[data-model]")).to_have_count(1)


def test_a_model_is_reproduced(visit: Visit, prepared: Prepared) -> None:
    """Lineage links to the training data, and a second training reports an identical model file."""
    page = visit.open(f"/models/{prepared.model(1)}")
    lineage = page.locator(".lineage")
    expect(lineage.get_by_role("link", name="learnt from.csv")).to_be_visible()
    lineage.get_by_role("button", name="Train again and compare files").click()
    expect(lineage.locator(".verdict-line")).to_contain_text("The model file is identical.")


def test_the_open_view_is_in_sight_on_a_phone(visit: Visit, prepared: Prepared) -> None:
    """The URL of the last view shows its tab, although a phone is too narrow for all tabs."""
    visit.page.set_viewport_size({"width": 390, "height": 900})
    page = visit.open(f"/models/{prepared.model(1)}#view=try")
    expect(page.locator('#views [aria-current="page"]')).to_have_text("Try it")
    expect(page.locator('#views [aria-current="page"]')).to_be_in_viewport(ratio=0.9)


def test_an_alias_moves_through_its_gate_and_back(visit: Visit, prepared: Prepared) -> None:
    """An alias is set, gets a gate, moves by a job whose numbers the history shows, and is rolled back."""
    prepared.model(2)
    dataset_id = prepared.test_data()
    page = _view(visit, "compared:1", "Aliases")
    other = page.locator(".alias-form")
    other.get_by_role("textbox", name="Name").fill("trusted")
    other.get_by_role("button", name="Promote version 1").click()
    card = page.locator('.alias[data-alias="trusted"]')
    expect(card.get_by_role("heading")).to_contain_text("this version")
    card.get_by_role("button", name="Set a gate").click()
    card.get_by_label("Compared on the queries of").select_option(dataset_id)
    card.get_by_label("Largest drop in a segment").fill("0.5")
    card.get_by_role("checkbox", name="significantly better than the baselines").check()
    card.get_by_role("button", name="Set gate").click()
    expect(card.locator(".gate")).to_contain_text("not significantly worse by ndcg@10")
    expect(card.locator(".gate")).to_contain_text("significantly better than the baselines")
    # The form is sent before the list of datasets has loaded.
    late: list[Route] = []
    page.route("**/v1/datasets?*", lambda route: late.append(route), times=1)
    with page.expect_request("**/v1/datasets?*"):
        card.get_by_role("button", name="Edit gate").click()
    baselines_option = card.get_by_role("checkbox", name="significantly better than the baselines")
    expect(baselines_option).to_be_checked()
    baselines_option.uncheck()
    card.get_by_role("button", name="Set gate").click()
    for route in late:
        route.continue_()
    expect(card.locator(".gate")).not_to_contain_text("than the baselines")
    assert not prepared.get("/v1/models/compared/aliases/trusted/gate")["better_than_baselines"]

    page = _view(visit, "compared:2", "Aliases")
    card = page.locator('.alias[data-alias="trusted"]')
    card.get_by_role("button", name="Promote version 2").click()
    expect(card.get_by_role("heading")).to_contain_text("this version")
    promoted = card.locator('[data-kind="promoted"]')
    promoted.locator("summary").click()
    (move, _) = prepared.get("/v1/models/compared/aliases/trusted/history")["items"]
    expect(promoted).to_contain_text(move["report"]["sentence"])
    expect(promoted).to_contain_text(f"{move['report']['paired']['mean_b']:.4f}")
    visit.photograph("model-aliases")
    visit.refusals_expected = True  # the first answer is lost
    page.route("**/aliases/trusted/rollback", _lose_answer, times=1)
    for _ in range(2):
        card.get_by_role("button", name="Roll back").click()
        page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
    expect(card.get_by_role("heading")).to_contain_text("version 1")
    expect(card.locator('[data-kind="rolled_back"]'), "the second click repeats the request").to_have_count(1)
    _delete_and_undo(page, prepared)


def _lose_answer(route: Route) -> None:
    route.fetch()
    route.abort()


def _delete_and_undo(page: Page, prepared: Prepared) -> None:
    """Delete a gate and an alias; Undo restores each with its fields. A removed alias keeps its gate."""
    card = page.locator('.alias[data-alias="trusted"]')
    path = "/v1/models/compared/aliases/trusted/gate"
    before = {**prepared.get(path), "updated_at": None}
    card.get_by_role("button", name="Delete gate").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(card.locator(".gate")).to_contain_text("No gate")
    page.locator("#undo").get_by_role("button", name="Undo").click()
    expect(page.locator("#undo")).to_contain_text("Restored.")
    assert {**prepared.get(path), "updated_at": None} == before
    card.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(card.get_by_role("heading")).to_contain_text("has no version")
    expect(card.get_by_role("button", name="Delete gate")).to_be_visible()
    page.locator("#undo").get_by_role("button", name="Undo").click()
    expect(card.get_by_role("heading")).to_contain_text("version 1")


def test_an_export_is_compared_before_it_is_downloaded(visit: Visit, prepared: Prepared) -> None:
    """The form has the format's options and shows a refusal; a compared export has metrics and downloads."""
    visit.refusals_expected = True
    reference = prepared.model(1)
    page = visit.open(f"/models/{reference}#view=exports&format=solr")
    form = page.locator("#exports form")
    expect(form.locator(".export-words")).not_to_be_empty()
    assert "`" not in form.locator(".export-words").inner_text()
    form.get_by_label("Feature names in the engine").fill("nothing = x")
    form.get_by_role("button", name="Export and compare").click()
    expect(form.locator(".field-error")).to_contain_text("the model has no feature 'nothing'")
    form.get_by_label("Feature names in the engine").fill("f6 = bm25")
    form.get_by_role("button", name="Export and compare").click()
    report = page.locator(".parity")
    expect(report.get_by_role("heading", name="The export decides as the model does")).to_be_visible()
    expect(report).to_contain_text("adjacent documents swapped0 of")
    visit.photograph("model-export")
    page.route("**/export", lambda route: route.fulfill(status=503), times=1)
    report.get_by_role("button", name="Download model.json").click()
    expect(report.get_by_role("button", name="Try again")).to_be_visible()
    with page.expect_download() as file:
        report.get_by_role("button", name="Download model.json").click()
    expect(report.get_by_role("button", name="Try again")).to_have_count(0)
    assert '"bm25"' in file.value.path().read_text()
    assert file.value.suggested_filename == "compared-1-model.json"
    with page.expect_download() as archive:
        report.get_by_role("button", name="Download with parity files").click()
    assert archive.value.path().read_bytes()[:2] == b"PK"


def test_documents_are_ranked_on_the_view_try_it(visit: Visit, prepared: Prepared) -> None:
    """A changed value moves documents, the contributions add up, and documents can be pasted as JSON."""
    reference, dataset_id = prepared.model(2), prepared.test_data()
    page = visit.open(f"/models/{reference}#view=try&dataset={dataset_id}&query=q1")
    rows = page.locator(".candidates tbody tr[data-document]")
    expect(rows).to_have_count(20)
    last = rows.last.get_attribute("data-document")
    field = page.get_by_label(f"f6 of {last}", exact=True)
    for feature in ("f5", "f6"):
        page.get_by_label(f"{feature} of {last}", exact=True).fill("50")
    field.press("Enter")
    moved = page.locator(f'.candidates tr[data-document="{last}"]')
    expect(moved.locator(".shift")).to_have_attribute("data-shift", "up")
    expect(field).to_be_focused()
    moved.get_by_role("button", name="Why").click()
    reasons = page.locator(".reasons:not([hidden]) tbody td:last-child").all_inner_texts()
    score = moved.locator("td.number").nth(2).inner_text()
    added = sum(map(_signed, reasons))
    assert added == pytest.approx(float(score), abs=1e-3)
    visit.photograph("model-try")
    expect(page.locator(".snippet").first).to_contain_text(f"/v1/models/{reference}/rank")

    page.locator("#try details summary").click()
    text = page.get_by_label("Documents as JSON")
    text.fill("[")
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#try .field-error")).to_contain_text("must be JSON")
    documents = [
        {"id": "low", "features": {"f6": -9, "f5": -9}},
        {"id": "high", "features": {"f6": 9, "f5": 9}},
    ]
    text.fill(json.dumps({"queries": [{"id": "own", "documents": documents}]}))
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator(".candidates tbody tr[data-document] th")).to_have_text(["high", "low"])


def test_a_query_is_tried_by_its_text(visit: Visit, prepared: Prepared) -> None:
    """A query is found by its text, documents have titles, and labels have the dataset's colours."""
    lines = ["query_id,query_text,document_id,title,label,bm25"]
    for query in range(20):
        largest = 4 if query else 2  # the first query lacks the best label of the data
        lines += [
            f"q{query},red shoes {query},d{index},Shoe {index},{index % (largest + 1)},{index}"
            for index in range(6)
        ]
    dataset_id = prepared.upload("titled.csv", "\n".join([*lines, ""]).encode())
    prepared.training(
        model_name="titled",
        dataset_id=dataset_id,
        loss={"name": "lambdarank"},
        hyperparameters={"num_iterations": 2, "min_data_in_leaf": 1},
        validation=None,
    )
    grades = 'tbody tr:has-text("Shoe 2") .grade'
    page = visit.open(f"/datasets/{dataset_id}/queries/q0")
    colour = page.locator(grades).first.get_attribute("data-grade")
    page = visit.open(f"/models/titled:1#view=try&dataset={dataset_id}&query=q0")
    expect(page.locator("#try [role=status]")).to_have_text("red shoes 0: 6 documents.")
    row = page.locator('.candidates tr[data-document="d2"]')
    expect(row.locator("th")).to_contain_text("Shoe 2")
    expect(row.locator("th small")).to_have_text("d2")
    assert row.locator(".grade").get_attribute("data-grade") == colour == "2"


def _many_features() -> bytes:
    """Write judged documents of twelve features that all depend on the label, with independent noise."""
    draw = random.Random(5)
    names = [f"f{j}" for j in range(1, 13)]
    lines = [",".join(["query_id", "document_id", "label", *names])]
    for row in range(600):
        label = draw.choice([0, 1, 2, 3])
        values = [f"{label + draw.gauss(0, 2):.3f}" for _ in names]
        lines.append(",".join([f"q{row // 20}", f"d{row % 20}", str(label), *values]))
    return "\n".join([*lines, ""]).encode()


def test_the_bars_of_an_explanation_share_one_scale(visit: Visit, prepared: Prepared) -> None:
    """Bars of folded features and of the base score have lengths proportional to the numbers beside them."""
    prepared.job(
        kind="train",
        model_name="explained",
        dataset_id=prepared.upload("many features.csv", _many_features()),
        loss={"name": "mse"},
        hyperparameters={"num_iterations": 30, "num_leaves": 7},
    )
    page = visit.open("/models/explained:1#view=try")
    expect(page.locator(".candidates tbody tr[data-document]")).to_have_count(20)
    page.locator("#try details summary").click()
    high = {"id": "high", "features": {f"f{j}": 9 for j in range(1, 13)}}
    page.get_by_label("Documents as JSON").fill(json.dumps({"queries": [{"id": "own", "documents": [high]}]}))
    page.get_by_role("button", name="Rank", exact=True).click()
    page.locator('.candidates tr[data-document="high"]').get_by_role("button", name="Why").click()
    rows = page.locator(".contributions tbody tr")
    expect(rows).to_have_count(10)  # eight features, the four others, the base score
    expect(rows.nth(8)).to_contain_text("4 more")
    expect(rows.nth(9)).to_contain_text("Base score")
    adds = [_signed(text) for text in rows.locator("td:last-child").all_inner_texts()]
    widths = rows.locator("rect").evaluate_all("bars => bars.map(bar => bar.width.baseVal.value)")
    assert max(map(abs, adds[8:])) > max(map(abs, adds[:8]))
    assert widths == pytest.approx([50 * abs(one) / max(map(abs, adds)) for one in adds], abs=0.1)
    visit.fit("model-explained")


@pytest.mark.slow
def test_a_model_is_imported(visit: Visit, prepared: Prepared) -> None:
    """The form shows why a file is not a model; after a valid import the model's page opens."""
    text = visit.page.request.get(f"{visit.url}/v1/models/{prepared.model(1)}/export").body()
    page = visit.open("/models#import")
    form = page.locator("#import-form")
    for content, name in ((b"no trees", "brought"), (text, "brought")):
        form.get_by_role("textbox", name="Name").fill(name)
        form.locator('input[type="file"]').set_input_files(
            {"name": "m.txt", "mimeType": "text/plain", "buffer": content}
        )
        form.get_by_role("button", name="Import").click()
        if content is not text:
            expect(page.locator("#importing .problem")).to_be_visible()
    page.wait_for_url(re.compile(r"/models/mdl_"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("brought:1")
    expect(page.locator("#about")).to_contain_text("The model was imported")
