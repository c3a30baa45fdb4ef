"""Uploads of judged data, and the problems of files that cannot be read."""

import gzip
import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.actions import choose_files, dataset_row, send_upload, upload, wait_until_read
from tests.browser.judged_files import broken_text, letor_text, table_text
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

FAULTS = 3
TOO_MANY_FAULTS = 150
MAX_FAULTS = 100
DROP = """([names]) => {
    const files = new DataTransfer();
    for (const [name, content] of names) files.items.add(new File([content], name));
    document.getElementById("upload").dispatchEvent(
        new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
    const inputs = [...document.querySelectorAll("#upload input[type=file]:enabled")];
    const filled = inputs.filter((each) => each.files.length);
    return Object.fromEntries(filled.map((each) => [each.name, each.files[0].name]));
}"""


def test_an_uploaded_file_is_followed_to_its_statistics(visit: Visit) -> None:
    """The upload opens the dataset's page, which shows progress and then the statistics."""
    page = upload(visit, file=("good.txt.gz", gzip.compress(letor_text(8).encode())))
    wait_until_read(page)
    expect(page.get_by_role("heading", name="good.txt.gz")).to_be_visible()
    expect(page.locator(".tile").filter(has_text="Documents").first).to_contain_text("96")
    expect(page.locator(".job-meta")).to_contain_text("LETOR text")


def test_a_broken_file_has_problems_by_line_and_column(visit: Visit) -> None:
    """Every mistake has a row with line, column, the expected and the found value, as text."""
    page = upload(visit, file=("broken.txt", broken_text(FAULTS)))
    wait_until_read(page, "invalid")
    table = page.get_by_role("region", name="Problems by location")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(FAULTS)
    for row, line in enumerate((2, 4, 6)):
        cells = rows.nth(row).locator("td").all_inner_texts()
        assert [cells[0], cells[1]] == [str(line), "1"]
        assert "label" in cells[2]
        assert "<b>fine</b>" in cells[3]
    expect(page.locator(".faults")).to_contain_text("broken.txt")
    assert page.locator("#dataset b").count() == 0
    expect(page.locator(".more-faults")).to_have_count(0)


def test_the_first_of_very_many_mistakes_are_listed(visit: Visit) -> None:
    """The page lists a hundred mistakes and mentions more; the list of datasets links to the page."""
    page = upload(visit, file=("very broken.txt", broken_text(TOO_MANY_FAULTS)))
    dataset_id = wait_until_read(page, "invalid")
    expect(page.locator(".faults tbody tr")).to_have_count(MAX_FAULTS)
    expect(page.locator(".more-faults")).to_contain_text("there are more")
    row = visit.open("/datasets?status=invalid").locator(f'[data-dataset="{dataset_id}"]')
    expect(row.locator(".status")).to_have_text("invalid")
    row.locator('[data-column="status"]').get_by_role("link").click()
    expect(page.locator(".faults tbody tr")).to_have_count(MAX_FAULTS)


def test_the_parts_of_a_split_are_uploaded_together(visit: Visit) -> None:
    """Three files become three datasets, whose pages link to each other."""
    page = visit.open("/datasets#add")
    choose_files(
        page,
        train=("tr.txt", letor_text(9, seed=1)),
        validation=("va.txt", letor_text(7, seed=2)),
        test=("te.txt", letor_text(8, seed=3)),
    )
    page.locator("#upload").get_by_role("textbox", name="Name").fill("fold 1")
    visit.photograph("upload-parts")
    send_upload(page)
    wait_until_read(page)
    parts = page.get_by_role("navigation", name="Datasets of this upload")
    for part, queries in (("train", "9"), ("validation", "7"), ("test", "8")):
        parts.get_by_role("link", name=part).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"fold 1 {part}")
        wait_until_read(page)
        expect(page.locator(".tile dd").first).to_have_text(queries)


def test_dropped_files_are_assigned_to_fields_by_name(visit: Visit) -> None:
    """Files dropped together are assigned to fields by name, including LightGBM's query files, and sent."""
    page = visit.open("/datasets#add")
    rows = "1 0:0.5 1:2\n0 0:0.25 1:3\n"
    dropped = {"rank.test": rows, "rank.train.query": "1\n1\n", "rank.train": rows, "rank.test.query": "2\n"}
    assert page.evaluate(DROP, [list(dropped.items())]) == {
        "train": "rank.train",
        "test": "rank.test",
        "train_query": "rank.train.query",
        "test_query": "rank.test.query",
    }
    send_upload(page)
    wait_until_read(page)
    expect(page.locator(".tile dd").first).to_have_text("2")
    expect(page.locator(".job-meta")).to_contain_text("LightGBM data")


def test_reading_options_are_sent(visit: Visit) -> None:
    """The reader gets the format, the treatment of scattered queries and the roles of columns."""
    page = visit.open("/datasets#add")
    table = table_text().replace("label", "verdict", 1).replace("query_id", "asked", 1)
    choose_files(page, file=("odd names.csv", table))
    page.get_by_text("Reading options").click()
    page.get_by_label("Format").select_option("csv")
    page.get_by_label("Scattered queries").select_option("error")
    for column, role in (
        ("verdict", "label"),
        ("asked", "query"),
        ("country", "query text"),
        ("f1", "left out"),
        ("f2", "left out"),
    ):
        page.get_by_label(f"Role of {column}", exact=True).select_option(role)
    visit.photograph("upload-options")
    send_upload(page)
    dataset_id = wait_until_read(page)
    source = page.request.get(f"{visit.url}/v1/datasets/{dataset_id}").json()["source"]
    assert source["format"] == "csv"
    assert source["options"] == {
        "non_contiguous_queries": "error",
        "columns": {
            "label": "verdict",
            "query": "asked",
            "query_text": "country",
            "ignore": ["f1", "f2"],
        },
    }
    expect(page.get_by_role("heading", name="Queries by column")).to_be_visible()
    assert page.locator(".column-values table caption").all_inner_texts() == ["split"]


def test_refusals_of_an_upload_are_shown_at_their_fields(visit: Visit) -> None:
    """A missing file, and one column with two roles, are explained at their fields."""
    visit.refusals_expected = True
    page = visit.open("/datasets#add")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator('#upload input[name="file"]')).to_have_attribute("aria-invalid", "true")
    choose_files(page, file=("table.parquet", b"PAR1\0"))
    page.get_by_text("Table columns").click()
    page.get_by_label("Query", exact=True).fill("label")
    page.get_by_label("Label", exact=True).fill("label")
    page.get_by_text("Table columns").click()
    page.get_by_role("button", name="Upload").click()
    query = page.locator('[data-pointer="/columns/query"]')
    expect(query, "unfolded, and in focus").to_be_focused()
    expect(page.locator(f"#{query.get_attribute('aria-describedby')}")).to_contain_text("'label'")


@pytest.mark.parametrize("own_page", [True])
def test_an_upload_is_stopped(visit: Visit) -> None:
    """An upload shows its progress; Stop ends it and keeps the form's values."""
    page = visit.open("/datasets#add")
    choose_files(page, file=("large.txt", b"0 qid:1 1:0\n" * 400_000))
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000},
    )
    page.locator("#upload").get_by_role("button", name="Upload").click()
    expect(page.locator(".upload-progress")).to_contain_text("of 4.8 MB")
    visit.photograph("uploading")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".upload-progress")).to_be_hidden()
    expect(page.locator("#upload").get_by_role("button", name="Upload")).to_be_enabled()
    assert page.locator('#upload input[name="file"]').evaluate("input => input.files[0].name") == "large.txt"


@pytest.mark.parametrize("own_page", [True])
def test_an_upload_sent_again_after_a_lost_answer_creates_one_dataset(visit: Visit) -> None:
    """The same form has the same Idempotency-Key until its answer arrives; another file has another key."""
    visit.refusals_expected = True
    page, requests = visit.open("/datasets#add"), re.compile(r"/v1/datasets$")
    page.route(requests, lambda route: route.abort("connectionreset"))
    keys = []
    for name in ("once.txt", None, "other.txt"):
        if name is not None:
            choose_files(page, file=(name, letor_text(2).encode()))
        button = page.locator("#upload").get_by_role("button", name="Upload")
        with page.expect_request(requests) as sent:
            button.click()
        keys.append(sent.value.headers["idempotency-key"])
        expect(page.locator("#upload .problem")).to_contain_text("does not answer")
        expect(button).to_be_enabled()
    assert (keys[0] == keys[1], keys[1] == keys[2]) == (True, False)
    page.unroute(requests)
    page.route(requests, lambda route: route.fulfill(status=202, body="<html>"))
    button.click()
    expect(page.locator("#upload .problem")).to_contain_text("was lost")
    expect(button).to_be_enabled()


def test_a_folder_of_the_service_is_read_in_place(visit: Visit, data_root: Path) -> None:
    """The parts of a folder become datasets; a folder outside the data roots is refused in the form."""
    fold = data_root / "web" / "Fold1"
    fold.mkdir(parents=True)
    for seed, name in enumerate(("train.txt", "vali.txt")):
        (fold / name).write_text(letor_text(8, seed))
    visit.refusals_expected = True
    page = visit.open("/datasets#add")
    form = page.locator("#folder")
    form.get_by_label("Folder").fill("../web")
    form.get_by_role("button", name="Read folder").click()
    expect(form).to_contain_text("must be a folder below RANKERY_DATA_ROOTS")
    visit.photograph("read-a-folder")
    form.get_by_label("Folder").fill("web/Fold1")
    form.get_by_role("button", name="Read folder").click()
    for part in ("train", "validation"):
        expect(dataset_row(page, f"web/Fold1 {part}")).to_have_attribute("data-status", "ready")


def test_a_corrected_file_of_a_folder_is_read_again(visit: Visit, data_root: Path) -> None:
    """An invalid dataset has a button that reads the files again as they are now."""
    folder = data_root / "broken"
    folder.mkdir()
    (folder / "train.txt").write_text("2 qid:1 1:x\n")
    page = visit.open("/datasets#add")
    form = page.locator("#folder")
    form.get_by_label("Folder").fill("broken")
    form.get_by_role("button", name="Read folder").click()
    row = dataset_row(page, "broken train")
    expect(row).to_have_attribute("data-status", "invalid")
    row.get_by_role("link", name="broken train").click()
    wait_until_read(page, "invalid")
    (folder / "train.txt").write_text(letor_text(8))
    assert visit.violations() == []
    page.get_by_role("button", name="Read again").click()
    expect(page.locator("#dataset")).to_have_attribute("data-status", "ready")


def test_a_table_is_read_again_without_a_column(visit: Visit) -> None:
    """Problems are listed by cause and column; without the column, the dataset becomes ready."""
    rows = "".join(f"q{row // 3},{row % 2},{row}.5,{'free' if row % 4 == 0 else row}\n" for row in range(60))
    page = upload(visit, file=("prices.csv", f"query_id,label,bm25,price\n{rows}"))
    wait_until_read(page, "invalid")
    causes = page.get_by_role("region", name="Problems by cause and column")
    expect(causes.locator("tbody tr")).to_have_count(1)
    expect(causes.locator("tbody tr")).to_contain_text("Not a number")
    expect(causes.locator("tbody td.number")).to_have_text("15")
    page.get_by_text("Problems by location").click()
    places = page.get_by_role("region", name="Problems by location")
    expect(places.locator("tbody code").first).to_have_text("price")
    assert "NaN" not in page.locator("main").inner_text()
    button = page.get_by_role("button", name="Ignore and read again")
    expect(button).to_be_disabled()
    page.get_by_label("Ignore price").check()
    visit.photograph("invalid-dataset")
    assert visit.violations() == []
    button.click()
    expect(page.locator("#dataset")).to_have_attribute("data-status", "ready")
    expect(page.locator(".tile").filter(has_text="Features").first).to_contain_text("1")


def test_a_read_key_ignores_no_column(visit: Visit) -> None:
    """The button that reads a file again stays disabled for a key that may only read."""
    page = upload(visit, file=("read only.csv", "query_id,label,bm25,price\nq1,1,2,x\nq1,0,1,3\n"))
    wait_until_read(page, "invalid")

    def with_read_key(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace("<body ", '<body data-missing-scopes="write" data-key-name="reader" ')
        route.fulfill(response=answer, body=body)

    page.route(re.compile("/datasets/ds_[a-z0-9]+$"), with_read_key, times=1)
    page.reload()
    page.get_by_label("Ignore price").check()
    expect(page.get_by_role("button", name="Ignore and read again")).to_be_disabled()


def test_judgments_alone_are_not_trained_on(visit: Visit) -> None:
    """Qrels have no features, so the page has no link to train and no number of features."""
    page = upload(visit, file=("judged.qrels", "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"))
    wait_until_read(page)
    expect(page.get_by_role("link", name="Rankings of this dataset")).to_be_visible()
    expect(page.get_by_role("link", name="Train on this dataset")).to_have_count(0)
    expect(page.locator(".views a").nth(1)).to_have_text("Features")


# The line of `_odd_table` that may lack cells.
MISTAKE = 12


def _odd_table(width: int) -> str:
    """Write judgments with unusual column names and seven columns; one line has only `width` cells."""
    lines = ["grade,search,sku,bm25,price,clicks,market"]
    for row in range(60):
        cells = [
            str(row % 3),
            f"query {row // 6}",
            f"sku-{row}",
            str(row),
            "1.5",
            "2",
            "at" if row % 2 else "de",
        ]
        lines.append(",".join(cells[:width] if row == MISTAKE - 2 else cells))
    return "\n".join([*lines, ""])


def test_roles_are_guessed_before_the_upload(visit: Visit) -> None:
    """The form shows ten rows and a select per column, and the guessed roles apply without a change."""
    page = visit.open("/datasets#add")
    choose_files(page, file=("odd.csv", _odd_table(7)))
    guessed = {"grade": "label", "search": "query", "sku": "document", "bm25": "features"}
    for column, role in guessed.items():
        expect(page.get_by_label(f"Role of {column}", exact=True)).to_have_value(role)
    expect(page.get_by_label("Role of market"), "varies within a query").to_have_value("document_columns")
    expect(page.get_by_role("region", name="First rows").locator("tbody tr")).to_have_count(10)
    page.get_by_label("Role of clicks").select_option("left out")
    expect(page.locator("#roles")).to_contain_text("label grade, query search, document sku; 2 features")
    assert visit.violations("#upload") == []
    visit.photograph("upload-roles")
    send_upload(page)
    dataset_id = wait_until_read(page)
    shown = page.request.get(f"{visit.url}/v1/datasets/{dataset_id}").json()
    assert shown["source"]["options"]["columns"] == {
        "query": "search",
        "document": "sku",
        "document_columns": ["market"],
        "ignore": ["clicks"],
    }
    assert shown["statistics"]["features"] == 2


def test_a_corrected_file_replaces_its_invalid_dataset(visit: Visit) -> None:
    """The broken line is shown before and after the upload; the corrected file replaces its dataset."""
    page = visit.open("/datasets#add")
    choose_files(page, file=("mended.csv", _odd_table(6)))
    expect(page.locator("#roles")).to_contain_text(f"Line {MISTAKE} has 6 columns, 7 expected")
    page.locator("#upload").get_by_role("textbox", name="Name").fill("mended in place")
    page.get_by_label("Role of clicks").select_option("left out")
    send_upload(page)
    broken = wait_until_read(page, "invalid")
    causes = page.get_by_role("region", name="Problems by cause and column")
    expect(causes).to_contain_text(str(MISTAKE))
    expect(causes).to_contain_text("but found")
    expect(page.get_by_text("Problems by location"), "of a single problem").to_have_count(0)

    form = page.get_by_role("form", name="Upload the corrected file")
    content = _odd_table(7).encode()
    form.locator('input[type="file"]').set_input_files(
        {"name": "mended.csv", "mimeType": "text/csv", "buffer": content}
    )
    expect(form.get_by_label("Role of clicks"), "as before").to_have_value("ignore")
    assert visit.violations() == []
    visit.fit("mend-a-dataset")
    form.get_by_role("button", name="Upload and replace").click()
    page.wait_for_url(lambda url: broken not in url)
    mended = wait_until_read(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("mended in place")
    shown = page.request.get(f"{visit.url}/v1/datasets/{mended}").json()
    assert shown["source"]["options"]["columns"]["ignore"] == ["clicks"]
    visit.refusals_expected = True
    assert page.request.get(f"{visit.url}/v1/datasets/{broken}").status == 404
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Restored.")).to_be_visible()
    assert page.request.get(f"{visit.url}/v1/datasets/{broken}").ok


def test_json_lines_are_refused_before_the_upload(visit: Visit) -> None:
    """The form names the unsupported format as soon as the file is chosen."""
    page = visit.open("/datasets#add")
    choose_files(page, file=("rows.jsonl", '{"query_id": "q1", "label": 1}\n'))
    expect(page.locator("#roles")).to_contain_text("JSON lines cannot be read")
