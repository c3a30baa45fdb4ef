"""Check pages in light and dark, in desktop and phone widths, by pixels and by axe-core.

A look is a colour scheme in one window width. If RANKERY_TEST_SCREENSHOTS names a folder for screenshots,
all four looks are tested, and axe-core checks every text of every page in each look. Without the variable,
only light in the desktop width and dark in the phone width are tested. Axe-core then checks each page in
one of these two looks.
"""

import os
from collections.abc import Mapping, Sequence

from tests.browser.visit import DESK, PHONE, Look, Visit

DARK_LUMINANCE = 0.2
LOOKS: list[Look] = [("light", DESK), ("dark", PHONE)]
EVERY_LOOK = bool(os.environ.get("RANKERY_TEST_SCREENSHOTS"))
if EVERY_LOOK:
    LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (DESK, PHONE)]


def check_pages(visit: Visit, paths: Mapping[str, str], parts: Mapping[str, Sequence[str]]) -> None:
    """Open pages and check their colours, their width without sideways scrolling, and their accessibility.

    Args:
        visit: The browser page that opens the pages.
        paths: Paths of the pages, by name.
        parts: Selectors of parts that a page adds after loading, by page name; the check waits for them.
    """
    violations: dict[str, list[str]] = {}
    for number, (name, path) in enumerate(paths.items()):
        page = visit.open(path)
        visit.settle()
        for part in parts.get(name, ()):
            page.locator(part).first.wait_for()
        for look_number, (scheme, width) in enumerate(LOOKS):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            # Charts resize shortly after the window.
            page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
            assert (_luminance(visit) < DARK_LUMINANCE) == (scheme == "dark"), name
            visit.photograph(f"{name}-{scheme}-{width}")
            if EVERY_LOOK or look_number == number % len(LOOKS):
                violations[f"{name} in {scheme} at {width}"] = visit.violations(every_text=EVERY_LOOK)
        page.set_viewport_size({"width": DESK, "height": 900})
    assert {look: found for look, found in violations.items() if found} == {}


def _luminance(visit: Visit) -> float:
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    red, green, blue = (int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(","))
    return (red + green + blue) / (3 * 255)
