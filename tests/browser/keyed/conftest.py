"""A service that requires API keys, and actions to make keys and to sign in."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack


def make_key(service_url: str, admin_key: str | None, name: str, *scopes: str) -> str:
    """Create an API key and return its secret; only the first key needs no `admin_key`."""
    with Client(service_url, api_key=admin_key) as client:
        created = client.request("POST", "/v1/keys", json={"name": name, "scopes": list(scopes)}).json()
    return str(created["secret"])


def sign_in(page: Page, key: str) -> None:
    """Type the key into the focused field and press Enter."""
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.type(key)
    page.keyboard.press("Enter")


@pytest.fixture(scope="package")
def keyed_stack(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """A service that requires an API key as soon as one exists."""
    with EmbeddedStack(tmp_path_factory.mktemp("keyed"), host="127.0.0.1", port=0) as stack:
        yield stack


@pytest.fixture(scope="package")
def admin_key(keyed_stack: EmbeddedStack) -> str:
    """The secret of the first key, which has the scope admin."""
    return make_key(keyed_stack.url, None, "admin", "admin")


@pytest.fixture(scope="package")
def service_url(keyed_stack: EmbeddedStack, admin_key: str) -> str:
    """The URL of the service, which requires an API key."""
    return keyed_stack.url
