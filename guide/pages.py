"""Pages of the guide as Markdown: the pages of `docs/`, and generated reference pages."""

import re
import shutil
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from guide import catalogue, command_reference, interface, palette, python_reference
from guide.formulas import replace_formulas
from guide.pictures import PICTURES
from guide.screenshots import figures as screenshots

_DOCS = Path(__file__).parents[1] / "docs"

# Placeholder lines: `!loss lambdarank` is replaced by the formula and the parameters of that loss.
_PLACEHOLDER = re.compile(r"^!(?P<kind>[a-z]+)(?: (?P<name>\S+))?$", re.MULTILINE)
_SCREENSHOT = re.compile(r"^(?P<indent> *)!screenshot (?P<name>\S+)$", re.MULTILINE)
_REPLACEMENTS: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "picture": lambda name: PICTURES[name](),
        "loss": catalogue.loss,
        "options": catalogue.options,
        "metrics": catalogue.metrics,
        "spellings": catalogue.spellings,
        "contracts": catalogue.contracts,
        "formats": catalogue.formats,
        "limits": catalogue.limits,
    }
)


def write_pages(folder: Path) -> None:
    """Write the pages of `docs/` except decision records, placeholders replaced, and the generated pages."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_DOCS, folder, ignore=shutil.ignore_patterns("adr"))
    if screenshots.FOLDER.is_dir():
        shutil.copytree(screenshots.FOLDER, folder / screenshots.GUIDE_FOLDER)
    for page in folder.rglob("*.md"):
        page.write_text(_completed(page.read_text(), depth=len(page.relative_to(folder).parts) - 1))
    for path, content in _generated_files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)


def _completed(text: str, depth: int) -> str:
    """Replace placeholders and formulas in a page that is `depth` folders below the root."""

    def screenshot(placeholder: re.Match[str]) -> str:
        return textwrap.indent(screenshots.figure(placeholder["name"], depth), placeholder["indent"])

    return replace_formulas(_PLACEHOLDER.sub(_replacement, _SCREENSHOT.sub(screenshot, text)))


def _generated_files() -> dict[str, str]:
    """Return the pages and files that are generated from the code, by path in the guide."""
    return {
        **interface.pages(),
        **python_reference.pages(),
        **command_reference.pages(),
        "stylesheets/palette.css": palette.stylesheet(),
        "favicon.svg": palette.favicon(),
    }


def _replacement(placeholder: re.Match[str]) -> str:
    return _REPLACEMENTS[placeholder["kind"]](*filter(None, [placeholder["name"]]))
