"""Displayed names have no invisible characters and none that change the direction of text."""

import json
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from core.names import is_visible
from core.store import Model
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded  # validation of requests does not depend on the store

INVISIBLE = {
    "escape": "\x1b",
    "line feed": "\n",
    "delete": "\x7f",
    "next line": "\x85",
    "string terminator": "\x9c",
    "soft hyphen": "\xad",
    "Arabic letter mark": "\u061c",
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "line separator": "\u2028",
    "right-to-left override": "\u202e",
    "word joiner": "\u2060",
    "right-to-left isolate": "\u2067",
    "byte order mark": "\ufeff",
    "tag": "\U000e0041",
}
LINES = {"\n"}  # allowed in a description
FILE = {"file": ("a.txt", b"1 qid:1 1:1\n")}


def send(client: TestClient, place: str, name: str) -> Any:
    """Send a request with a name in one of the fields of `PLACES`."""
    match place:
        case "synthetic dataset":
            return client.post("/v1/datasets/synthetic", json={"queries": 1, "name": name})
        case "uploaded dataset":
            return client.post("/v1/datasets", files=FILE, data={"name": name})
        case "list of datasets":
            return client.get("/v1/datasets", params={"name": name})
        case "feature":
            return client.post("/v1/datasets", files=FILE, data={"feature_names": json.dumps([name])})
        case "key":
            return client.post("/v1/keys", json={"name": name, "scopes": ["admin"]})
        case "tag":
            return client.patch("/v1/models/web", json={"tags": {"team": name}})
        case "wanted tag":
            return client.get("/v1/models", params={"tag": f"team:{name}"})
        case "run":
            data = {"dataset_id": "ds_1", "name": name}
            return client.post("/v1/rankings", files={"file": ("a.run", b"1 Q0 d 1 1 a\n")}, data=data)
        case "exported feature":
            body = {"format": "vespa", "feature_names": {"bm25": name}}
            return client.post("/v1/models/web/export", json=body)
    return client.patch("/v1/models/web", json={"description": name})


PLACES = (
    "synthetic dataset",
    "uploaded dataset",
    "list of datasets",
    "feature",
    "tag",
    "wanted tag",
    "run",
    "exported feature",
    "description",
    "key",
)


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_a_name_with_hidden_characters_is_refused(
    client: TestClient, add_model: Callable[..., Model], place: str
) -> None:
    """The answer is 422 for every field of `PLACES`."""
    add_model("web")
    for character_name, character in INVISIBLE.items():
        if place != "description" or character not in LINES:
            answer = send(client, place, f"a{character}b")
            assert answer.status_code == 422, (character_name, answer.text)


@pytest.mark.parametrize(
    "place", [place for place in PLACES if place not in ("run", "key", "exported feature")]
)
def test_names_of_all_languages_are_accepted(
    client: TestClient, add_model: Callable[..., Model], place: str
) -> None:
    """Letters, combining marks, emoji and spaces are valid in names."""
    add_model("web")
    for name in ("größe", "検索", "सर्च", "بحث", "a b", "🔎 2"):
        assert send(client, place, name).status_code < 300, name


def test_control_and_format_characters_of_unicode_are_invisible() -> None:
    """Control, format and separator characters of the basic plane are invisible; printable ones are not."""
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and code < 0x10000:
            assert not is_visible(character), hex(code)
        if character.isprintable():
            assert is_visible(character), hex(code)
