"""A service that requires API keys, and actions to make keys and to sign in."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack


def first_key(data_dir: Path, name: str, scope: str) -> str:
    """Create a key as an operator does before the service starts, and return its secret."""
    command = [sys.executable, "-m", "rankery", "keys", "create", name, "--scope", scope]
    command += ["--data-dir", str(data_dir)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_key(service_url: str, admin_key: str, name: str, *scopes: str) -> str:
    """Create a key as an administrator does, and return its secret."""
    with Client(service_url, api_key=admin_key) as client:
        made = client.request("POST", "/v1/keys", json={"name": name, "scopes": list(scopes)}).json()
    return str(made["secret"])


def sign_in(page: Page, key: str) -> None:
    """Type the key into the focused field and press Enter."""
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.type(key)
    page.keyboard.press("Enter")


@pytest.fixture(scope="package")
def keyed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the service with keys."""
    return tmp_path_factory.mktemp("keyed")


@pytest.fixture(scope="package")
def admin_key(keyed_folder: Path) -> str:
    """The secret of the first key, which has the scope admin."""
    return first_key(keyed_folder, "admin", "admin")


@pytest.fixture(scope="package")
def service_url(chromium_path: str, keyed_folder: Path, admin_key: str) -> Iterator[str]:
    """The URL of a service that requires an API key."""
    with EmbeddedStack(keyed_folder, host="127.0.0.1", port=0) as stack:
        yield stack.url
