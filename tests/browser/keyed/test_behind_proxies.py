"""Upload, training and search under a path prefix, behind the real nginx and Caddy."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from rankery.embedded.stack import EmbeddedStack
from tests.browser.actions import open_training_form
from tests.browser.keyed.conftest import sign_in
from tests.browser.test_story import train_and_watch, upload_and_read_the_doctor
from tests.browser.visit import Visit, new_page, watched
from tests.servers.web_proxies import ROOT_PATH, Caddy, Nginx, WebProxy

# tests/deploy/test_web_proxies.py tests the rules of the proxies without a browser.
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the service."""
    return tmp_path_factory.mktemp("proxied")


@pytest.fixture(scope="module")
def secret(data_dir: Path) -> str:
    """The secret of a key with the scope write; a service behind a proxy requires a key."""
    command = [sys.executable, "-m", "rankery", "keys", "create", "engineer", "--scope", "write"]
    command += ["--data-dir", str(data_dir)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def api_port(chromium_path: str, data_dir: Path, secret: str) -> Iterator[int]:
    """The port of the service, which runs with the settings that the proxy examples name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKERY_ROOT_PATH", ROOT_PATH)
        patch.setenv("RANKERY_TRUSTED_PROXIES", "127.0.0.1")
        with EmbeddedStack(data_dir, host="127.0.0.1", port=0) as stack:
            yield int(urlsplit(stack.url).port or 0)


@pytest.fixture(params=[Nginx, Caddy])
def proxy(request: pytest.FixtureRequest, tmp_path: Path, api_port: int) -> Iterator[WebProxy]:
    """Each reverse proxy, in front of the service."""
    with request.param(tmp_path / "proxy", api_port) as proxy:
        yield proxy


@pytest.fixture
def visit(browser: Browser, proxy: WebProxy, screenshots: Path | None) -> Iterator[Visit]:
    """A watched page, behind the proxy."""
    page = new_page(browser, ignore_https_errors=True)
    with watched(page, proxy.url, screenshots) as visit:
        yield visit
    page.context.close()


def test_data_are_uploaded_and_trained_on_below_a_prefix(visit: Visit, proxy: WebProxy, secret: str) -> None:
    """Sign in, upload, read findings, train, search, read the guide and sign out, all under the prefix."""
    page = visit.open("/datasets")
    sign_in(page, secret)
    page.wait_for_url(f"{proxy.url}/datasets")
    upload_and_read_the_doctor(visit, page)
    open_training_form(page)
    train_and_watch(visit, page)
    page.keyboard.press("Control+k")
    page.keyboard.type("story")
    page.get_by_role("group", name="Models").get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{proxy.url}/models/story:*")
    visit.settle()
    page.get_by_role("link", name="Help: this page in the guide").click()
    page.wait_for_url(f"{proxy.url}/guide/**")
    page.get_by_role("link", name="Dashboard").first.click()
    page.wait_for_url(f"{proxy.url}/")
    visit.settle()
    visit.refusals_expected = True  # the page sends requests while it signs out
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    paths = {urlsplit(request.url).path for request in visit.requests if request.url.startswith("http")}
    assert [path for path in paths if not path.startswith(f"{ROOT_PATH}/")] == []
