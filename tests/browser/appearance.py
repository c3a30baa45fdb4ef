"""Pages looked at in light and dark, on a desk and on a phone, with and without eyes.

With RANKERY_TEST_SCREENSHOTS, a folder for pictures, each colour scheme is shown in both widths, else in one.
Axe then looks at every page in each, and at every text, else at one page in light on a desk and at the next
one dark on a phone.
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
    """Open pages: each has the preferred colours, no sideways scrolling and no barrier.

    Args:
        visit: The page that they are opened in.
        paths: Their paths by name.
        parts: Selectors of what stands on a page only after the page itself, by name; it is waited for.
    """
    barriers: dict[str, list[str]] = {}
    for number, (name, path) in enumerate(paths.items()):
        page = visit.open(path)
        visit.settle()
        for part in parts.get(name, ()):
            page.locator(part).first.wait_for()
        for place, (scheme, width) in enumerate(LOOKS):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            # Charts follow the window a moment later.
            page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
            assert (_luminance(visit) < DARK_LUMINANCE) == (scheme == "dark"), name
            visit.photograph(f"{name}-{scheme}-{width}")
            if EVERY_LOOK or place == number % len(LOOKS):
                barriers[f"{name} in {scheme} at {width}"] = visit.barriers(every_text=EVERY_LOOK)
        page.set_viewport_size({"width": DESK, "height": 900})
    assert {look: found for look, found in barriers.items() if found} == {}


def _luminance(visit: Visit) -> float:
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    red, green, blue = (int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(","))
    return (red + green + blue) / (3 * 255)
