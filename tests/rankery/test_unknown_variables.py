"""Environment variables that no part of Rankery reads."""

import re
from pathlib import Path

import pytest

from rankery.processes import unknown_variables

ROOT = Path(__file__).parents[2]
SOURCES = ("rankery", "app", "core", "worker", "docs", "Dockerfile", "docker-compose.yml", "README.md")
KINDS = (".py", ".md", ".yml", "")
VARIABLE = re.compile(r"\bRANKERY_[A-Z_]*[A-Z]\b")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("RANKERY_LEASE_SECOND", "did you mean RANKERY_LEASE_SECONDS?"),
        ("RANKERY_DATABASEURL", "did you mean RANKERY_DATABASE_URL?"),
        ("RANKERY_APIKEY", "did you mean RANKERY_API_KEY?"),
        ("rankery_therads", "did you mean RANKERY_THREADS?"),
        ("RANKERY_XYZ", "the guide lists all settings"),
    ],
)
def test_a_wrong_name_is_reported_with_the_right_one(name: str, hint: str) -> None:
    """Settings of all processes and of the client are known, in any case."""
    right = {"RANKERY_THREADS": "2", "rankery_max_upload_bytes": "3", "RANKERY_URL": "", "HOME": "/"}
    right["RANKERY_CREDENTIALS_WAREHOUSE"] = "{}"
    assert unknown_variables({name: "1", **right}) == {name: hint}


def test_every_variable_that_is_named_is_known() -> None:
    """`unknown_variables` knows each variable that the code and the guide name."""
    files = [path for source in SOURCES for path in (ROOT / source, *(ROOT / source).rglob("*"))]
    texts = [path.read_text() for path in files if path.suffix in KINDS and path.is_file()]
    named = {name for text in texts for name in VARIABLE.findall(text)}
    assert len(named) > 50
    assert unknown_variables(dict.fromkeys(named, "")) == {}
