"""Links of the pages into the guide."""

import re
from pathlib import Path

import pytest

from app import dashboard
from app.dashboard.pages import GUIDE_PAGES

FOLDER = Path(dashboard.__file__).parent
_SCRIPT_LINK = re.compile(r"""helpLink\(\s*"([^"]+)\"""")
_TEMPLATE_LINK = re.compile(r"""\bhelp\("([^"]+)\"""")


def _linked_pages() -> set[str]:
    """Return the pages of the guide that pages, templates and scripts name."""
    scripts = (path.read_text() for path in (FOLDER / "static").rglob("*.js"))
    templates = (path.read_text() for path in (FOLDER / "templates").glob("*.html"))
    named = {page for text in scripts for page in _SCRIPT_LINK.findall(text)}
    return (
        named
        | {page for text in templates for page in _TEMPLATE_LINK.findall(text)}
        | set(GUIDE_PAGES.values())
    )


def test_every_view_has_a_guide_page() -> None:
    """Every view except sign-in and the documentation of the API has a page in the guide."""
    views = {path.stem for path in (FOLDER / "static/views").glob("*.js")}
    assert views - set(GUIDE_PAGES) == {"docs", "sign_in"}


@pytest.mark.parametrize("page", sorted(_linked_pages()))
def test_linked_pages_and_headings_are_in_the_guide(built_guide: Path, page: str) -> None:
    """The guide has each linked page, and each linked heading of it."""
    path, _, heading = page.partition("#")
    text = (built_guide / path / "index.html").read_text()
    assert not heading or f'id="{heading}"' in text
