"""A real Chromium on a real service: API, worker and Valkey in a temporary folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from core.store import Store, StoreSettings
from rankery.embedded.stack import EmbeddedStack
from tests.browser.prepared import Prepared
from tests.browser.visit import DESK, Look, Visit, new_page, watched

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page lives for a second: its scripts end before optimised code repays the time of its compilation.
    "--js-flags=--no-opt --no-maglev",
]


# Package scope: playwright's event loop must have ended before tests of other packages start an event loop.
@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Launch one Chromium for all browser tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def shared_page(browser: Browser) -> Page:
    """Return the page that tests use one after another.

    The first page of a new context costs two seconds of processor time. Another URL on the same page
    costs a third of a second, because Chromium keeps its process and the compiled scripts.
    """
    return new_page(browser)


@pytest.fixture(scope="package")
def service_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the service."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="package")
def data_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the service may read judged files from."""
    return tmp_path_factory.mktemp("corpora")


@pytest.fixture(scope="package")
def live_url(chromium_path: str, service_folder: Path, data_root: Path) -> Iterator[str]:
    """Start one service that reads local files, samples all scores, and sends webhooks to this machine."""
    environment = {
        "RANKERY_DATA_ROOTS": str(data_root),
        "RANKERY_SCORE_LOG_SHARE": "1",
        "RANKERY_SCORE_LOG_SECONDS": "1",
        "RANKERY_OUTBOUND_ALLOWED": "127.0.0.1",
    }
    with EmbeddedStack(service_folder, host="127.0.0.1", port=0, environment=environment) as stack:
        yield stack.url


@pytest.fixture(scope="package")
def service_url(live_url: str) -> str:
    """The URL of the pages that `visit` opens."""
    return live_url


@pytest.fixture(scope="package")
def store(live_url: str, service_folder: Path) -> Iterator[Store]:
    """The store of the running service."""
    store = Store.open(StoreSettings(data_dir=service_folder))
    yield store
    store.close()


@pytest.fixture(scope="session")
def screenshots() -> Path | None:
    """The folder for screenshots from RANKERY_TEST_SCREENSHOTS; None if the variable is not set."""
    wanted = os.environ.get("RANKERY_TEST_SCREENSHOTS")
    if not wanted:
        return None
    folder = Path(wanted)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def look() -> Look:
    """The colour scheme and the window width; some tests parametrise this fixture."""
    return "light", DESK


@pytest.fixture
def own_page() -> bool:
    """False for the shared page; True for a separate page whose clock or network the test changes."""
    return False


@pytest.fixture
def visit(
    request: pytest.FixtureRequest, service_url: str, screenshots: Path | None, look: Look, own_page: bool
) -> Iterator[Visit]:
    """Open a watched page; at the end, require that it had no errors and no requests to other machines."""
    scheme, width = look
    if own_page:
        page = new_page(request.getfixturevalue("browser"))
    else:
        page = request.getfixturevalue("shared_page")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    try:
        with watched(page, service_url, screenshots) as visit:
            yield visit
    finally:
        if own_page:
            page.context.close()
        else:
            _reset_page(page, service_url)


def _reset_page(page: Page, url: str) -> None:
    """Reset a page after a test.

    The page stays on the service: opening another site, such as `about:blank`, would end the page's process.
    """
    page.goto(f"{url}/healthz")
    page.evaluate("localStorage.clear()")
    page.context.clear_cookies()
    page.mouse.move(0, 0)


@pytest.fixture(scope="package")
def prepared(service_url: str) -> Iterator[Prepared]:
    """Models, runs and comparisons on the service, each created by the first test that uses it."""
    prepared = Prepared(service_url)
    yield prepared
    prepared.close()
