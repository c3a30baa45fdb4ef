"""Large files that the dashboard uploads in pieces, and that resume after an interruption."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.actions import wait_until_read
from tests.browser.judged_files import letor_text, table_text
from tests.browser.visit import LOOKS, Look, Visit

pytestmark = pytest.mark.browser

QUERIES = 3000
DOCUMENTS_PER_QUERY = 12
PIECE_BYTES = 512 * 2**10
# Slow enough to interrupt the upload between two pieces.
BYTES_PER_SECOND = 1_500_000
MODULE = re.compile(r"/forms/resumable\.js")


@pytest.fixture
def own_page() -> bool:
    """Use a separate page, since the tests change its network."""
    return True


@pytest.fixture
def in_pieces(visit: Visit) -> Page:
    """The page, which sends files in smaller pieces than usual."""

    def with_small_pieces(route: Route) -> None:
        answer = route.fetch()
        text = answer.text().replace("= 100e6;", "= 1e5;").replace("= 64 * 2 ** 20;", f"= {PIECE_BYTES};")
        assert f"PART_BYTES = {PIECE_BYTES};" in text
        assert "RESUMABLE_BYTES = 1e5;" in text
        route.fulfill(response=answer, body=text)

    visit.page.route(MODULE, with_small_pieces)
    visit.page.on("dialog", lambda dialog: dialog.accept())  # allow the page to be left
    return visit.page


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """The path of a file with several pieces."""
    path = tmp_path / "large.txt"
    path.write_text(letor_text(QUERIES))
    assert path.stat().st_size > 4 * PIECE_BYTES
    return path


@LOOKS
def test_an_upload_resumes_after_a_lost_connection(
    visit: Visit, in_pieces: Page, judged: Path, look: Look
) -> None:
    """The page shows that it waits, and resumes by itself from the last received byte."""
    set_network = _choose(visit, judged)
    _send_until_half(in_pieces)
    set_network(offline=True)
    progress = in_pieces.locator(".upload-progress")
    expect(progress).to_contain_text("no connection; trying again")
    visit.photograph(f"upload-waits-{look[0]}-{look[1]}")
    assert visit.violations("#add-dialog") == []
    set_network(offline=False)
    in_pieces.wait_for_url(re.compile(r"/datasets/ds_"))
    _expect_each_byte_once(visit, judged, interruptions=1)


@pytest.mark.parametrize(
    "interrupted", ["by a reload", pytest.param("by Stop while it waits", marks=pytest.mark.slow)]
)
def test_choosing_the_same_file_resumes_its_upload(
    visit: Visit, in_pieces: Page, judged: Path, interrupted: str
) -> None:
    """The upload resumes after a reload of the page, or after Stop ended it without delay."""
    set_network = _choose(visit, judged)
    _send_until_half(in_pieces)
    if interrupted == "by a reload":
        in_pieces.reload()
        set_network = _choose(visit, judged)
    else:
        set_network(offline=True)
        expect(in_pieces.locator(".upload-progress")).to_contain_text("no connection")
        in_pieces.get_by_role("button", name="Stop").click()
        set_network(offline=False)
        expect(in_pieces.locator(".upload-progress")).to_be_hidden()
    in_pieces.locator("#upload").get_by_role("button", name="Upload").click()
    in_pieces.wait_for_url(re.compile(r"/datasets/ds_"))
    _expect_each_byte_once(visit, judged, interruptions=1)


def test_an_upload_stopped_during_its_creation_sends_no_piece(
    visit: Visit, in_pieces: Page, judged: Path
) -> None:
    """Stop ends the upload although no piece is being sent."""
    _choose(visit, judged)
    creations: list[Route] = []
    in_pieces.route("**/v1/uploads", lambda route: creations.append(route))
    button = in_pieces.locator("#upload").get_by_role("button", name="Upload")
    with in_pieces.expect_request("**/v1/uploads"):
        button.click()
    in_pieces.get_by_role("button", name="Stop").click()
    creations[0].continue_()
    expect(button).to_be_enabled()
    assert [request for request in visit.requests if request.method == "PATCH"] == []


def test_a_form_sent_again_sends_no_file_again(visit: Visit, in_pieces: Page, tmp_path: Path) -> None:
    """A refused option or a lost response sends only the form again, not the file."""
    visit.refusals_expected = True
    table = tmp_path / "table.csv"
    header, *rows = table_text().splitlines()
    table.write_text("\n".join([header, *rows * 20, ""]))
    _choose(visit, table)
    in_pieces.get_by_text("Reading options").click()
    name = in_pieces.locator("#upload").get_by_role("textbox", name="Name")
    name.fill("n" * 201)
    button = in_pieces.locator("#upload").get_by_role("button", name="Upload")
    button.click()
    expect(name).to_be_focused()
    name.fill("table.csv")
    lost: list[Route] = []

    def lose_once(route: Route) -> None:
        if route.request.method != "POST" or lost:
            route.continue_()
            return
        lost.append(route)
        route.fetch()  # the service creates the dataset, and the page gets no response
        route.abort()

    in_pieces.route("**/v1/datasets", lose_once)
    button.click()
    in_pieces.wait_for_url(re.compile(r"/datasets/ds_"))
    assert len(lost) == 1
    _expect_each_byte_once(visit, table, interruptions=0)


def test_one_file_for_two_parts_is_sent_for_each(visit: Visit, in_pieces: Page, tmp_path: Path) -> None:
    """A file that is chosen as training and as test data has one upload for each part."""
    path = tmp_path / "both.txt"
    path.write_text(letor_text(300))
    page = visit.open("/datasets#add")
    form = page.locator("#upload")
    form.get_by_label("train, validation and test").check()
    for part in ("train", "test"):
        form.locator(f'input[name="{part}"]').set_input_files(path)
    form.get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile(r"/datasets/ds_"))
    expect(page.locator(".siblings a")).to_have_text(["train", "test"])
    assert visit.page.evaluate("localStorage.length") == 0


def test_a_large_file_is_uploaded_without_storage(visit: Visit, in_pieces: Page, judged: Path) -> None:
    """A browser that forbids local storage sends large files, too, but cannot resume them later."""
    in_pieces.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('Forbidden'); }})"
    )
    page = visit.open("/datasets#add")
    page.locator('#upload input[name="file"]').set_input_files(judged)
    page.locator("#upload").get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile(r"/datasets/ds_"))
    assert _dataset(visit)["size_bytes"] == judged.stat().st_size


def _choose(visit: Visit, path: Path) -> Callable[..., None]:
    """Open the form, choose a file, and return a function that changes the network of the page."""
    visit.refusals_expected = True
    page = visit.open("/datasets#add")
    page.locator('#upload input[name="file"]').set_input_files(path)
    session = page.context.new_cdp_session(page)

    def set_network(*, offline: bool) -> None:
        speeds = {"downloadThroughput": -1, "uploadThroughput": BYTES_PER_SECOND}
        session.send("Network.emulateNetworkConditions", {"offline": offline, "latency": 0, **speeds})

    session.send("Network.enable")
    set_network(offline=False)
    return set_network


def _send_until_half(page: Page) -> None:
    """Press Upload, and return while the page sends the third piece."""
    with page.expect_request(lambda request: _offset(request) == 2 * PIECE_BYTES):
        page.locator("#upload").get_by_role("button", name="Upload").click()


def _offset(request: Request) -> int | None:
    return int(request.headers["upload-offset"]) if request.method == "PATCH" else None


def _expect_each_byte_once(visit: Visit, path: Path, interruptions: int) -> None:
    """Require that only interrupted pieces were sent twice, and that the dataset has the whole file."""
    size_bytes = path.stat().st_size
    offsets = [offset for request in visit.requests if (offset := _offset(request)) is not None]
    sent_bytes = sum(min(PIECE_BYTES, size_bytes - offset) for offset in offsets)
    assert offsets == sorted(offsets)
    assert sent_bytes <= size_bytes + interruptions * PIECE_BYTES, offsets
    created = [r for r in visit.requests if r.method == "POST" and r.url.endswith("/v1/uploads")]
    assert len(created) == 1
    dataset = _dataset(visit)
    assert (dataset["name"], dataset["size_bytes"]) == (path.name, size_bytes)
    assert dataset["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    if path.suffix == ".txt":
        statistics = dataset["statistics"]
        assert (statistics["queries"], statistics["documents"]) == (
            QUERIES,
            QUERIES * DOCUMENTS_PER_QUERY + 118,
        )
    remembered = visit.page.evaluate(
        "Object.keys(localStorage).filter((key) => key.startsWith('rankery-upload'))"
    )
    assert remembered == []


def _dataset(visit: Visit) -> Any:
    dataset_id = wait_until_read(visit.page)
    return visit.page.request.get(f"{visit.url}/v1/datasets/{dataset_id}").json()
