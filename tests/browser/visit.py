"""A page whose requests and errors a test watches."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, expect

from tests.browser.accessibility import violations

# The first job waits until the worker has compiled its kernels: 80 s on two busy cores.
PATIENCE_MILLISECONDS = 200_000
expect.set_options(timeout=PATIENCE_MILLISECONDS)

# A colour scheme and a window width in pixels.
Look = tuple[Literal["light", "dark"], int]
DESK, PHONE = 1280, 390
# For tests whose steps are the same in every look. By default, they run only in the phone width, which has
# the least room; `test_appearance` also tests pages in light and in the desktop width.
LOOKS = pytest.mark.parametrize(
    "look", [("dark", PHONE), pytest.param(("light", DESK), marks=pytest.mark.slow)], ids=["dark", "light"]
)


@dataclass
class Visit:
    """A page whose requests are recorded, and whose errors and warnings are recorded as complaints."""

    page: Page
    url: str
    # The folder for screenshots, which take a third of a second each; None for no screenshots.
    screenshots: Path | None
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    # Chromium logs every refused fetch as an error; a test that provokes refusals sets this.
    refusals_expected: bool = False

    def open(self, path: str) -> Page:
        """Open a page of the dashboard."""
        self.page.goto(self.url + path)
        return self.page

    def settle(self) -> None:
        """Wait until all visible parts of the page have loaded."""
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('main [aria-busy]')].some((part) => part.checkVisibility())"
        )

    def photograph(self, name: str) -> None:
        """Save a screenshot of the whole page if screenshots are requested.

        The page scrolls to its top first, because its header stays at the top of the window.
        """
        if self.screenshots is None:
            return
        self.page.evaluate("scrollTo(0, 0)")
        self.page.screenshot(path=self.screenshots / f"{name}.png", full_page=True)

    def fit(self, name: str, widths: Sequence[int] = (DESK, PHONE)) -> None:
        """Wait until the page fits each width without sideways scrolling; save screenshots in light and dark.

        Args:
            name: Name of the pictures.
            widths: Widths of the window, in pixels.
        """
        page = self.page
        size = page.viewport_size
        assert size is not None
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            # Charts resize shortly after the window.
            page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
            for scheme in ("light", "dark") if self.screenshots else ():
                page.emulate_media(color_scheme=scheme)
                page.wait_for_timeout(800)  # charts change to the scheme, too
                self.photograph(f"{name}-{scheme}-{width}")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(size)

    def violations(self, within: str | None = None, *, every_text: bool = False) -> list[str]:
        """List the rules of axe-core that the page violates, and the elements that violate them.

        Args:
            within: Selector of the part to check; None checks the whole page.
            every_text: Whether to measure the contrast of a text even if a text of the same style has passed.
        """
        return violations(self.page, within, every_text=every_text)

    def watch_error(self, error: Error) -> None:
        """Record an error that a script did not catch."""
        self.complaints.append(str(error))

    def watch_request(self, request: Request) -> None:
        """Record a request."""
        self.requests.append(request)

    def watch_console(self, message: ConsoleMessage) -> None:
        """Record errors and warnings."""
        refused = "Failed to load resource" in message.text
        if message.type in {"error", "warning"} and not (refused and self.refusals_expected):
            self.complaints.append(f"{message.type}: {message.text} ({message.location})")

    def foreign_requests(self) -> list[str]:
        """List the requests to other machines."""
        return [
            r.url
            for r in self.requests
            if urlsplit(r.url).scheme in {"http", "https", "ws", "wss"}
            and urlsplit(r.url).hostname != "127.0.0.1"
        ]


def new_page(browser: Browser, *, ignore_https_errors: bool = False) -> Page:
    """Open a page with separate storage and without animations, which redraw while a test waits."""
    context = browser.new_context(reduced_motion="reduce", ignore_https_errors=ignore_https_errors)
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    return context.new_page()


@contextmanager
def watched(page: Page, url: str, screenshots: Path | None) -> Iterator[Visit]:
    """Watch a page; at the end, require that it had no errors and sent no request to other machines."""
    visit = Visit(page, url, screenshots)
    page.on("request", visit.watch_request)
    page.on("console", visit.watch_console)
    page.on("pageerror", visit.watch_error)
    yield visit
    page.remove_listener("request", visit.watch_request)
    page.remove_listener("console", visit.watch_console)
    page.remove_listener("pageerror", visit.watch_error)
    page.unroute_all(behavior="ignoreErrors")
    assert visit.complaints == [], visit.complaints  # pytest shows no values for this module
    assert visit.foreign_requests() == []
