"""What mkdocs asks while it builds: the pages made from the code, the pictures, the colours."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from guide import client_reference, command_reference, decisions, interface, palette
from guide.pictures import PICTURES

_PICTURE = re.compile(r"^!picture (?P<name>[a-z-]+)$", re.MULTILINE)


@cache
def _made() -> dict[str, str]:
    """Return everything that is made rather than written, by its place in the site."""
    return {
        **interface.pages(),
        **client_reference.pages(),
        **command_reference.pages(),
        **decisions.pages(),
        "stylesheets/palette.css": palette.stylesheet(),
        "favicon.svg": palette.favicon(),
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are made into the navigation."""
    written = [f"adr/{name}" for name in decisions.names()]
    config.nav = list(_with_pages(config.nav, [*_made(), *written]))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made to the files of the site."""
    for place, content in _made().items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Draw each picture where its name stands."""
    return _PICTURE.sub(lambda found: PICTURES[found["name"]](), markdown)


def on_page_context(context: dict[str, Any], *, page: Page, config: MkDocsConfig, nav: Any) -> dict[str, Any]:
    """Let no page name an address of its own: the guide is served under many."""
    page.canonical_url = None
    return context


def _with_pages(entries: Any, pages: list[str]) -> Iterator[Any]:
    """Replace `folder/` by the pages of the folder, its index first."""
    for entry in entries:
        if not isinstance(entry, dict):
            yield entry
            continue
        ((title, value),) = entry.items()
        if isinstance(value, list):
            yield {title: list(_with_pages(value, pages))}
        elif value.endswith("/") and value != "/":
            yield {title: [page for page in pages if page.startswith(value) and page.endswith(".md")]}
        else:
            yield entry
