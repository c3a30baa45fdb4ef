"""A real Chromium on a real service: API, worker and Redis under a folder of their own."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, sync_playwright

from rankery.embedded.stack import EmbeddedStack
from tests.browser.prepared import Prepared
from tests.browser.visit import PATIENCE_MILLISECONDS, Visit

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Package scope: playwright's event loop must not be running while other packages' tests start theirs.
@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Launch one Chromium for all browser tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def service_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds everything of the service."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="package")
def data_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder below which the service reads judged files in place."""
    return tmp_path_factory.mktemp("corpora")


@pytest.fixture(scope="package")
def service_url(chromium_path: str, service_folder: Path, data_root: Path) -> Iterator[str]:
    """Start the service once for all browser tests."""
    environment = {"RANKERY_DATA_ROOTS": str(data_root)}
    with EmbeddedStack(service_folder, host="127.0.0.1", port=0, environment=environment) as stack:
        yield stack.url


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name the folder for pictures: RANKERY_TEST_SCREENSHOTS, else a temporary one."""
    wanted = os.environ.get("RANKERY_TEST_SCREENSHOTS")
    folder = Path(wanted) if wanted else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def look() -> tuple[Literal["light", "dark"], int]:
    """Choose the colour scheme and the width of the window; parametrised where it matters."""
    return "light", 1280


@pytest.fixture
def visit(
    browser: Browser,
    service_url: str,
    screenshots: Path,
    look: tuple[Literal["light", "dark"], int],
) -> Iterator[Visit]:
    """Open a page under watch; at the end nothing may have gone wrong in it or left this machine."""
    scheme, width = look
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    page = context.new_page()
    visit = Visit(page, service_url, screenshots)
    page.on("request", visit.watch_request)
    page.on("console", visit.watch_console)
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    yield visit
    page.unroute_all(behavior="ignoreErrors")
    context.close()
    assert visit.complaints == []
    assert visit.foreign_requests() == []


@pytest.fixture(scope="package")
def prepared_once() -> Prepared:
    """Remember what was made for the tests of results, which is made once for all of them."""
    return Prepared()


@pytest.fixture
def prepared(visit: Visit, prepared_once: Prepared) -> Prepared:
    """Have models, runs, evaluations and comparisons made by the service as they are asked for."""
    prepared_once.visit = visit
    return prepared_once
