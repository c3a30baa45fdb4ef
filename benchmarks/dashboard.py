"""Seconds, requests and kilobytes of each page of the dashboard, with 10,000 jobs and 1,000 models on record.

A page is usable when it shows its content and its main thread is idle, measured in the browser from the start
of the navigation. `settled` is the end of its last long task in the next 0.7 seconds, when the charts are
drawn, too. `cold` is a browser with an empty cache, `warm` one that opens the page again. Requests and
kilobytes are network traffic with headers, until the end of these 0.7 seconds.

The second table counts the requests a second of pages that follow 20 running trainings. With
`--followed-minutes`, the third table shows their memory before and after these minutes, after garbage
collection.
"""

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from rich.console import Console
from rich.progress import track

from benchmarks.dashboard_records import (
    SERVICE_ENVIRONMENT,
    Numbers,
    add_copies,
    create_one_of_each_kind,
    running_trainings,
)
from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack

TARGET_SECONDS = 1.0
FOLLOWED_SECONDS = 10
_SETTLE_MILLISECONDS = 700

# Resolves when no element is busy, a frame has been drawn and the main thread is idle.
_WATCH = """
(() => {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longTasks.push(task.startTime + task.duration);
  }).observe({ type: "longtask", buffered: true });
  const busy = () => [...document.querySelectorAll("main, main [aria-busy]")].some(
    (part) => part.hasAttribute("aria-busy") && part.checkVisibility(),
  );
  window.usable = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("still busy")), 20000);
    const look = () => {
      if (document.readyState === "loading" || busy()) requestAnimationFrame(look);
      else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    look();
  });
})();
"""


@dataclass(frozen=True)
class Visit:
    """One opening of a page.

    Attributes:
        usable: Milliseconds from the start of the navigation until the page is usable.
        settled: Milliseconds from the start of the navigation until the last long task has ended.
        requests: Number of network requests.
        received_bytes: Bytes of the responses, including headers.
    """

    usable: float
    settled: float
    requests: int
    received_bytes: int


@dataclass(frozen=True)
class Memory:
    """Memory of an open page after garbage collection.

    Attributes:
        heap_bytes: Bytes of JavaScript objects.
        nodes: Number of DOM nodes.
        listeners: Number of event listeners.
    """

    heap_bytes: int
    nodes: int
    listeners: int

    @classmethod
    def of(cls, page: Page) -> "Memory":
        """Measure a page."""
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        session.send("HeapProfiler.collectGarbage")
        counters = {
            each["name"]: int(each["value"]) for each in session.send("Performance.getMetrics")["metrics"]
        }
        session.detach()
        return cls(counters["JSHeapUsedSize"], counters["Nodes"], counters["JSEventListeners"])


@dataclass
class Traffic:
    """Requests of a page and their bytes, as the browser reports them."""

    received_bytes: int = 0
    sent: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, page: Page) -> "Traffic":
        """Start counting the traffic of a page."""
        traffic = cls()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", lambda event: traffic.sent.add(event["requestId"]))
        session.on("Network.requestServedFromCache", lambda event: traffic.sent.discard(event["requestId"]))
        session.on("Network.responseReceived", traffic.exclude_cached)
        session.on("Network.loadingFinished", traffic.add_bytes)
        return traffic

    def exclude_cached(self, event: dict[str, Any]) -> None:
        """Exclude a request whose response comes from the browser's disk cache."""
        if event["response"].get("fromDiskCache"):
            self.sent.discard(event["requestId"])

    def add_bytes(self, event: dict[str, Any]) -> None:
        """Count the bytes of a response."""
        self.received_bytes += int(event["encodedDataLength"])


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--running", type=int, default=20, help="trainings that run in the second table")
    parser.add_argument(
        "--followed-minutes", type=int, default=0, help="minutes between the measurements of the third table"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser's program")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    with (
        tempfile.TemporaryDirectory(prefix="rankery-bench-") as name,
        EmbeddedStack(Path(name), environment=SERVICE_ENVIRONMENT) as stack,
        Client(stack.url) as client,
        chromium(arguments.chromium) as browser,
    ):
        with console.status("making one record of each kind"):
            pages = create_one_of_each_kind(client)
        with console.status("making very many of them"):
            add_copies(stack.data_dir / "rankery.db", Numbers(arguments.jobs, arguments.models))
        measured = {
            page: measure(browser, stack.url + path, arguments.rounds)
            for page, path in track(pages.items(), "opening pages", console=console)
        }
        print(page_table(measured))
        with running_trainings(stack.data_dir, arguments.running) as job_ids:
            followed = {
                "overview": "/",
                "jobs": "/jobs?status=running",
                "compare trainings": "/jobs/compare?" + urlencode([("job", each) for each in job_ids]),
                "training": f"/jobs/{job_ids[0]}",
            }
            rates = {
                page: requests_a_second(browser, stack.url + path)
                for page, path in track(followed.items(), "following trainings", console=console)
            }
            print(f"\n{rate_table(rates, arguments.running)}")
            if arguments.followed_minutes:
                urls = {page: stack.url + path for page, path in followed.items()}
                grown = memory_growth(browser, urls, arguments.followed_minutes, console)
                print(f"\n{memory_table(grown, arguments.followed_minutes)}")


@contextmanager
def chromium(program: str | None) -> Iterator[Browser]:
    """Start the browser."""
    if program is None:
        raise SystemExit("no chromium on the PATH; name it with --chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def new_context(browser: Browser) -> BrowserContext:
    """Open a window with an empty cache, whose pages measure when they are usable."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(_WATCH)
    return context


def measure(browser: Browser, url: str, rounds: int) -> dict[str, list[Visit]]:
    """Open a page several times, each time first with an empty browser cache and then with a warm one."""
    visits: dict[str, list[Visit]] = {"cold": [], "warm": []}
    for _ in range(rounds):
        context = new_context(browser)
        for cache in visits:
            visits[cache].append(visit(context, url))
        context.close()
    return visits


def visit(context: BrowserContext, url: str) -> Visit:
    """Open a page once."""
    page = context.new_page()
    traffic = Traffic.of(page)
    answer = page.goto(url)
    if answer is None or not answer.ok:
        raise SystemExit(f"{url} answers {answer and answer.status}")
    usable = float(page.evaluate("window.usable"))
    page.wait_for_timeout(_SETTLE_MILLISECONDS)
    settled = max([usable, *page.evaluate("window.longTasks")])
    page.close()
    return Visit(usable, settled, len(traffic.sent), traffic.received_bytes)


def requests_a_second(browser: Browser, url: str) -> float:
    """Count the requests of an open page while it follows jobs."""
    context = new_context(browser)
    page = context.new_page()
    page.goto(url)
    page.evaluate("window.usable")
    page.wait_for_timeout(_SETTLE_MILLISECONDS)
    traffic = Traffic.of(page)
    page.wait_for_timeout(1000 * FOLLOWED_SECONDS)
    requests = len(traffic.sent)
    context.close()
    return requests / FOLLOWED_SECONDS


def memory_growth(
    browser: Browser, urls: Mapping[str, str], minutes: int, console: Console
) -> dict[str, tuple[Memory, Memory]]:
    """Open pages together; return the memory of each after one minute and some minutes later."""
    pages = {}
    for name, url in urls.items():
        pages[name] = new_context(browser).new_page()
        pages[name].goto(url)
    any_page = next(iter(pages.values()))
    any_page.wait_for_timeout(60_000)
    before = {name: Memory.of(page) for name, page in pages.items()}
    for _ in track(range(minutes), "following trainings for their memory", console=console):
        any_page.wait_for_timeout(60_000)
    return {name: (before[name], Memory.of(page)) for name, page in pages.items()}


def page_table(measured: dict[str, dict[str, list[Visit]]]) -> str:
    """Return a Markdown table of medians, with the worst time of each page."""
    heads = [f"{cache}: {column}" for cache in ("cold", "warm") for column in _COLUMNS]
    rows = [
        [
            page,
            *(cell for each in visits.values() for cell in _cells(each)),
            "yes" if _meets_target(visits) else "NO",
        ]
        for page, visits in measured.items()
    ]
    return _markdown(["page", *heads, "under 1 s"], rows)


_COLUMNS = ("usable, s", "worst", "settled", "requests", "kB")


def _cells(visits: Sequence[Visit]) -> list[str]:
    usable = [each.usable / 1000 for each in visits]
    return [
        f"{statistics.median(usable):.2f}",
        f"{max(usable):.2f}",
        f"{statistics.median(each.settled / 1000 for each in visits):.2f}",
        f"{statistics.median_high([each.requests for each in visits])}",
        f"{statistics.median(each.received_bytes for each in visits) / 1000:,.0f}",
    ]


def _meets_target(visits: dict[str, list[Visit]]) -> bool:
    return all(max(one.usable for one in each) < 1000 * TARGET_SECONDS for each in visits.values())


def rate_table(rates: dict[str, float], running: int) -> str:
    """Return a Markdown table of requests per second."""
    heads = ["page", f"requests a second, {running} trainings running"]
    return _markdown(heads, [[page, f"{rate:.1f}"] for page, rate in rates.items()])


def memory_table(grown: Mapping[str, tuple[Memory, Memory]], minutes: int) -> str:
    """Return a Markdown table of the memory of pages before and after some minutes."""
    heads = [
        f"{column}, {when}"
        for column in ("heap, MB", "DOM nodes", "listeners")
        for when in ("after 1 minute", f"{minutes} minutes later")
    ]
    rows = [
        [
            page,
            *(f"{each.heap_bytes / 1e6:.1f}" for each in both),
            *(f"{each.nodes:,}" for each in both),
            *(f"{each.listeners:,}" for each in both),
        ]
        for page, both in grown.items()
    ]
    return _markdown(["page", *heads], rows)


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruler = ["---", *("---:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ruler, *rows))


if __name__ == "__main__":
    main()
