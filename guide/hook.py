"""What mkdocs asks while it builds: the pages made from the code, the pictures, the colours."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from guide import catalogue, client_reference, command_reference, decisions, interface, palette
from guide.pictures import PICTURES

# A line `!loss lambdarank` of a page asks for what the code says of it.
_ASKED = re.compile(r"^!(?P<what>[a-z]+)(?: (?P<name>\S+))?$", re.MULTILINE)
_ANSWERS: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "picture": lambda name: PICTURES[name](),
        "loss": catalogue.loss,
        "options": catalogue.options,
        "metrics": catalogue.metrics,
        "contracts": catalogue.contracts,
        "formats": catalogue.formats,
    }
)


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


def on_page_markdown(markdown: str, **_: object) -> str:
    """Answer each line that asks for something, in its place."""
    return _ASKED.sub(_answer, markdown)


def on_page_context(context: dict[str, Any], *, page: Page, **_: object) -> dict[str, Any]:
    """Let no page name an address of its own: the guide is served under many."""
    page.canonical_url = None
    return context


def on_post_page(output: str, **_: object) -> str:
    """Give the search a name for those who hear it, which the theme has forgotten."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _answer(asked: re.Match[str]) -> str:
    return _ANSWERS[asked["what"]](*filter(None, [asked["name"]]))


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
