"""The titles of the guide's pages and their headings, for the search of the dashboard."""

import html
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

_TAG = re.compile(r"<[^>]+>")
# The reference has a heading for each operation and field; they would crowd out the headings of explanations.
_REFERENCE = "reference/"


class Heading(NamedTuple):
    """A page of the guide or a heading on it.

    Attributes:
        path: Path below `/guide/`, with the anchor of a heading.
        title: Text of the heading, or title of the page.
        page: Title of the page that has the heading; empty for a page.
    """

    path: str
    title: str
    page: str


def headings_of(site: Path) -> list[Heading]:
    """Return the pages of a built guide, then the headings of those outside the reference.

    Args:
        site: Folder of the guide.

    Returns:
        Pages and headings in the order of the navigation; none where the guide is not built.
    """
    index = site / "search" / "search_index.json"
    if not index.is_file():
        return []
    return _read(index, index.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read(index: Path, modified_nanoseconds: int) -> list[Heading]:  # noqa: ARG001 - part of the key
    """Read the search index; the result is cached until the file changes."""
    documents: list[dict[str, Any]] = json.loads(index.read_text())["docs"]
    titles = {document["location"]: _text(document["title"]) for document in documents}
    pages = [Heading(path, title, "") for path, title in titles.items() if "#" not in path]
    below = [
        Heading(path, title, titles.get(path.split("#")[0], ""))
        for path, title in titles.items()
        if "#" in path and not path.startswith(_REFERENCE)
    ]
    return pages + below


def _text(title: str) -> str:
    return html.unescape(_TAG.sub("", title))
