"""Colours and logo of the guide, read from the files of the dashboard."""

import re
from pathlib import Path

from app import dashboard

_STATIC = Path(dashboard.__file__).parent / "static"
_RULE = re.compile(r":root \{(?P<declarations>.*?)\}", re.DOTALL)
# Selectors of the light and the dark scheme in the theme.
_SCHEMES = ('[data-md-color-scheme="default"]', '[data-md-color-scheme="slate"]')


def stylesheet() -> str:
    """Return a stylesheet with the dashboard's design tokens for the light and the dark scheme."""
    [declarations] = _RULE.findall((_STATIC / "styles" / "tokens.css").read_text())
    declarations = re.sub(r"color-scheme:[^;]*;\s*", "", declarations)
    return "".join(
        f"{selector} {{\n  color-scheme: {scheme};\n{declarations.rstrip()}\n}}\n"
        for selector, scheme in zip(_SCHEMES, ("light", "dark"), strict=True)
    )


def favicon() -> str:
    """Return the logo as SVG."""
    return (_STATIC / "favicon.svg").read_text()
