"""A page under watch."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page, Request, expect

# The first job waits for the worker to compile its kernels: 80 s on two busy cores.
PATIENCE_MILLISECONDS = 200_000
expect.set_options(timeout=PATIENCE_MILLISECONDS)
_SERIOUS = {"serious", "critical"}


@dataclass
class Visit:
    """A page under watch: what it asked the network for and what it complained about."""

    page: Page
    url: str
    screenshots: Path
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    # Chromium logs every refused fetch as an error; a test that provokes refusals says so.
    refusals_expected: bool = False

    def open(self, path: str) -> Page:
        """Go to a page of the dashboard."""
        self.page.goto(self.url + path)
        return self.page

    def settle(self) -> None:
        """Wait until nothing that is to be seen is still being fetched."""
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('main [aria-busy]')].some((part) => part.checkVisibility())"
        )

    def photograph(self, name: str) -> None:
        """Keep a picture of the whole page, from its top: the bar of the page is where it is looked from."""
        self.page.evaluate("scrollTo(0, 0)")
        self.page.screenshot(path=self.screenshots / f"{name}.png", full_page=True)

    def barriers(self, within: str | None = None) -> list[str]:
        """List what axe-core finds that keeps people out: the rule, and where it is broken.

        Args:
            within: The selector of the part to look at; the whole page without.
        """
        # Axe is asked for nothing else: it looks for the nodes of passed rules as long as for violations.
        results = Axe().run(self.page, context=within, options={"resultTypes": ["violations"]})
        return [
            f"{rule['id']}: {', '.join(str(node['target']) for node in rule['nodes'])}"
            for rule in results.response["violations"]
            if rule["impact"] in _SERIOUS
        ]

    def watch_request(self, request: Request) -> None:
        """Take note of what is asked for."""
        self.requests.append(request)

    def watch_console(self, message: ConsoleMessage) -> None:
        """Take note of errors and warnings."""
        refused = "Failed to load resource" in message.text
        if message.type in {"error", "warning"} and not (refused and self.refusals_expected):
            self.complaints.append(f"{message.type}: {message.text} ({message.location})")

    def foreign_requests(self) -> list[str]:
        """List the requests that left this machine."""
        return [
            r.url
            for r in self.requests
            if urlsplit(r.url).scheme in {"http", "https", "ws", "wss"}
            and urlsplit(r.url).hostname != "127.0.0.1"
        ]
