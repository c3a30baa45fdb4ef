"""The dashboard's colours and mark, for the guide: the dashboard's own files stay the only source of both."""

import re
from pathlib import Path

from app import dashboard

_STATIC = Path(dashboard.__file__).parent / "static"
_RULE = re.compile(r":root \{(?P<declarations>.*?)\}", re.DOTALL)
# The two schemes as the theme calls them.
_SCHEMES = ('[data-md-color-scheme="default"]', '[data-md-color-scheme="slate"]')


def stylesheet() -> str:
    """Return the tokens of the dashboard, pairs of light and dark, and which of a pair each scheme takes."""
    [declarations] = _RULE.findall((_STATIC / "styles" / "tokens.css").read_text())
    declarations = re.sub(r"color-scheme:[^;]*;\s*", "", declarations)
    return "".join(
        f"{selector} {{\n  color-scheme: {word};\n{declarations.rstrip()}\n}}\n"
        for selector, word in zip(_SCHEMES, ("light", "dark"), strict=True)
    )


def favicon() -> str:
    """Return the mark."""
    return (_STATIC / "favicon.svg").read_text()
