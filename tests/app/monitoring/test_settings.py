"""List of settings for administrators."""

from typing import Any

import pytest

from app import ApiSettings
from core.store import Store
from tests.app.conftest import TestClient


@pytest.fixture
def items(client: TestClient) -> dict[str, dict[str, Any]]:
    """Settings by name."""
    return {item["name"]: item for item in client.get("/v1/settings").json()["items"]}


def test_every_setting_is_listed(items: dict[str, dict[str, Any]], settings: ApiSettings) -> None:
    """Each setting has its value in the form of its variable, its default and its description."""
    assert set(items) == {f"RANKERY_{name}".upper() for name in ApiSettings.model_fields}
    assert items["RANKERY_BURST_SECONDS"] == {
        "name": "RANKERY_BURST_SECONDS",
        "value": "2",
        "default": "2",
        "changed": False,
        "description": ApiSettings.model_fields["burst_seconds"].description,
    }
    assert items["RANKERY_MAX_JSON_BYTES"]["value"] == str(settings.max_json_bytes)
    assert items["RANKERY_MAX_JSON_BYTES"]["changed"]
    assert items["RANKERY_ALLOWED_HOSTS"]["value"] == ""
    assert items["RANKERY_DATABASE_URL"]["default"] is None


def test_locations_are_not_shown(items: dict[str, dict[str, Any]], settings: ApiSettings) -> None:
    """URLs may contain passwords; the list shows only whether they were changed."""
    for name in ("BROKER_URL", "DATA_DIR", "DATA_ROOTS", "DATABASE_URL", "STORAGE_URL"):
        assert items[f"RANKERY_{name}"]["value"] == "…"
    assert items["RANKERY_BROKER_URL"]["changed"]
    assert str(settings.data_dir) not in str(items)


def test_only_administrators_see_the_settings(client: TestClient, store: Store) -> None:
    """Settings describe the infrastructure, so other scopes are refused."""
    with store.begin() as tx:
        secrets = [tx.api_keys.create(scope, [scope])[1] for scope in ("admin", "write")]
    answers = [client.get("/v1/settings", headers={"Authorization": f"Bearer {each}"}) for each in secrets]
    assert [answer.status_code for answer in answers] == [200, 403]
