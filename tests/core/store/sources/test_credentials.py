"""Credentials that requests name."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidInput
from core.store.sources.credentials import CredentialFile
from core.store.sources.source_urls import parse_source_url

SECRET = "Bearer 5ecret"
OURS = parse_source_url("https://ex.org/a/x")
PARTNER: dict[str, Any] = {"prefixes": ["https://ex.org/a"], "headers": {"Authorization": SECRET}}


@pytest.fixture(params=["json", "toml", "variable"])
def credentials(request: pytest.FixtureRequest, tmp_path: Path) -> CredentialFile:
    """The credentials `part-ner`, from a JSON file, a TOML file and an environment variable."""
    if request.param == "variable":
        return CredentialFile(None, {"RANKERY_CREDENTIALS_PART_NER": json.dumps(PARTNER)})
    file = tmp_path / f"credentials.{request.param}"
    toml = f'[part-ner]\nprefixes = ["https://ex.org/a"]\nheaders = {{Authorization = "{SECRET}"}}\n'
    file.write_text(json.dumps({"part-ner": PARTNER}) if request.param == "json" else toml)
    return CredentialFile(file, {})


def test_credentials_are_found_by_name(credentials: CredentialFile) -> None:
    """The `repr` of credentials does not contain the secret."""
    found = credentials.find("part-ner", OURS)
    assert dict(found.headers) == {"Authorization": SECRET}
    assert "5ecret" not in repr(found)


@pytest.mark.parametrize("url", ["https://ex.org/b/x", "https://ex.org:8443/a/x", "http://ex.org/a/x"])
def test_credentials_are_bound_to_urls(credentials: CredentialFile, url: str) -> None:
    """Credentials are not used for other URLs."""
    with pytest.raises(InvalidInput, match="are not for") as refused:
        credentials.find("part-ner", parse_source_url(url))
    assert "5ecret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "detail"),
    [
        ("other", json.dumps({"partner": PARTNER}), "has no credentials 'other'"),
        ("../x", "{}", "must be the name"),
        ("partner", '{"partner": "5ecret"', "must be a JSON object"),
        ("partner", '{"partner": "5ecret"}', "must have prefixes"),
        pytest.param("partner", "[" * 100_000, "must be a JSON object", id="deep"),
        ("partner", json.dumps({"partner": {**PARTNER, "token": "5ecret"}}), "must have prefixes"),
        ("partner", json.dumps({"partner": {**PARTNER, "headers": "5ecret"}}), "must be objects"),
        ("partner", json.dumps({"partner": {"headers": {}}}), "must have prefixes"),
        (
            "partner",
            json.dumps({"partner": {"prefixes": ["https://u:5ecret@ex.org/a"]}}),
            "^/credentials: a prefix of partner in RANKERY_SOURCE_CREDENTIALS must",
        ),
    ],
)
def test_errors_hold_no_secret(tmp_path: Path, name: str, text: str, detail: str) -> None:
    """Errors name the setting and the mistake in it."""
    file = tmp_path / "credentials.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=detail) as refused:
        CredentialFile(file, {}).find(name, OURS)
    assert "5ecret" not in str(refused.value)


def test_without_settings_there_are_no_credentials(tmp_path: Path) -> None:
    """The error names the settings to define credentials, or the file that cannot be read."""
    with pytest.raises(InvalidInput, match="set RANKERY_CREDENTIALS_PARTNER or RANKERY_SOURCE_CREDENTIALS"):
        CredentialFile(None, {}).find("partner", OURS)
    with pytest.raises(InvalidInput, match="cannot be read by the worker"):
        CredentialFile(tmp_path / "gone.json", {}).find("partner", OURS)
