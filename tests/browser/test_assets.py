"""Static files of the pages, tested without a browser."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from app import dashboard
from app.dashboard import assets

FOLDER = Path(dashboard.__file__).parent
MAX_BYTES = 110_000
HEADER_BYTES = 340  # response headers of a script, with the status line
PAGES = [
    "/",
    "/jobs",
    "/jobs/job_1",
    "/jobs/compare",
    "/datasets",
    "/datasets/ds_1",
    "/datasets/ds_1/queries/a/b",
    "/train",
    "/models",
    "/models/web:3",
    "/evaluations",
    "/evaluations/evl_1",
    "/comparisons",
    "/comparisons/cmp_1",
    "/rankings",
    "/rankings/rnk_1",
    "/studies",
    "/studies/new",
    "/studies/std_1",
    "/experiments",
    "/experiments/exp_1",
]


class Pages:
    """A client of the dashboard alone, without API, store or worker."""

    def __init__(self) -> None:
        self.application = FastAPI()
        self.application.state.trash_days = 7.0
        self.application.include_router(dashboard.router)
        dashboard.mount_static(self.application)

    def get(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        """Request one file in a separate thread, since playwright's event loop may be running in this one."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._get(path, headers)).result()

    async def _get(self, path: str, headers: dict[str, str] | None) -> httpx.Response:
        transport = httpx.ASGITransport(self.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://dashboard") as client:
            return await client.get(path, headers=headers)


@pytest.fixture
def client() -> Pages:
    """Serve the dashboard."""
    return Pages()


@pytest.mark.parametrize("path", PAGES)
def test_everything_a_page_names_is_served(client: Pages, path: str) -> None:
    """The service has the styles, scripts and icon of each page, and no page loads files of another host."""
    page = client.get(path)
    assert page.headers["content-type"].startswith("text/html")
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    assert any(name.endswith(".js") for name in named)
    for name in named:
        assert client.get(name).status_code == 200, name
    assert "//" not in re.sub(r'<!.*?>|placeholder="[^"]*"', "", page.text)


@pytest.mark.parametrize("path", PAGES)
def test_pages_hold_no_inline_code_or_style(client: Pages, path: str) -> None:
    """Pages work under a content security policy of `script-src 'self'`."""
    text = client.get(path).text
    assert re.findall(r"<script(?![^>]*\bsrc=)", text) == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=", text) == []


def test_old_urls_of_lists_of_jobs_redirect(client: Pages) -> None:
    """The list of jobs was at the root; its old URL redirects to the new one with the query string."""
    answer = client.get("/?kind=train&cursor=job_1")
    assert (answer.status_code, answer.headers["location"]) == (307, "/jobs?kind=train&cursor=job_1")


def test_the_pages_have_every_style_sheet(client: Pages) -> None:
    """One response has all style sheets except those of the docs and sign-in pages, compressed on request."""
    answer = client.get(f"{assets.files_url()}/styles.css", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    for sheet in (FOLDER / "static/styles").glob("*.css"):
        alone = sheet.name in {"docs.css", "sign_in.css"}
        assert (sheet.read_text() in answer.text) != alone, sheet.name
    plain = client.get(f"{assets.files_url()}/styles.css", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == answer.text


def test_no_two_style_rules_have_the_same_declarations() -> None:
    """Within a media query, selectors with the same two or more declarations share a rule."""
    selectors: dict[tuple[tuple[str, ...], frozenset[str]], list[str]] = {}
    for sheet in (FOLDER / "static/styles").glob("*.css"):
        for queries, selector, declarations in _style_rules(sheet.read_text()):
            selectors.setdefault((queries, declarations), []).append(f"{sheet.name}: {selector}")
    assert len(selectors) > 300
    repeated = [
        names for (_, declarations), names in selectors.items() if len(declarations) > 1 and len(names) > 1
    ]
    assert repeated == []


def _style_rules(sheet: str) -> Iterator[tuple[tuple[str, ...], str, frozenset[str]]]:
    """Yield the enclosing at-rules, the selector and the declarations of every rule of a formatted sheet."""
    opened: list[str] = []
    declarations: list[str] = []
    for line in map(str.strip, sheet.splitlines()):
        if line.endswith("{"):
            opened.append(line.removesuffix("{"))
        elif line == "}":
            selector = opened.pop()
            if declarations:
                yield tuple(opened), selector, frozenset(declarations)
            declarations = []
        elif line.endswith(";"):
            declarations.append(line)


def test_pages_name_files_of_their_version(client: Pages) -> None:
    """Browsers may cache the files of a page for ever, since their URL changes with their content."""
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/models").text)
    assert {name.split("/")[2] for name in named} == {assets.files_url().split("/")[2]}
    for name in named:
        assert "immutable" in client.get(name).headers["cache-control"]
    assert client.get(f"/static/{'0' * 16}/page/api.js").status_code == 404


@pytest.mark.parametrize("page", sorted(path.stem for path in (FOLDER / "static/views").glob("*.js")))
def test_pages_name_every_imported_script(page: str) -> None:
    """The page names all imported scripts, so a browser loads them without reading the scripts first."""
    imported, waiting = set(), [FOLDER / "static/page/header.js", FOLDER / f"static/views/{page}.js"]
    while waiting:
        script = waiting.pop()
        for target in re.findall(r'from "(\.[^"]+)"', script.read_text()):
            path = (script.parent / target).resolve()
            if path not in imported:
                imported.add(path)
                waiting.append(path)
    assert {FOLDER / "static" / name for name in assets.modules_of(page)} == imported


@pytest.mark.parametrize("page", sorted(path.stem for path in (FOLDER / "static/views").glob("*.js")))
def test_a_first_visit_transfers_at_most_110_kb(client: Pages, page: str) -> None:
    """Scripts and styles have at most 110 kB compressed, so a page with its responses stays below 150 kB."""
    names = {
        "page/header.js",
        "page/theme.js",
        f"views/{page}.js",
        "styles.css",
        *assets.modules_of(page),
    }
    packed = {"accept-encoding": "gzip"}
    answers = [client.get(f"{assets.files_url()}/{name}", headers=packed) for name in names]
    bytes_sent = sum(int(answer.headers["content-length"]) + HEADER_BYTES for answer in answers)
    assert bytes_sent <= MAX_BYTES, f"{bytes_sent} bytes"


@pytest.mark.parametrize("script", sorted((FOLDER / "static").rglob("*.js")), ids=lambda path: path.stem)
def test_only_comments_are_left_out_of_scripts(script: Path) -> None:
    """Scripts are sent without JSDoc comments and types; numbers of lines stay correct."""
    own = script.read_text().split("\n")
    sent = assets.without_jsdoc(script.read_text()).split("\n")
    assert len(sent) == len(own)
    for line, original in zip(sent, own, strict=True):
        code = re.sub(r"/\*\* .*?\*/ ?", "", original)
        assert line.strip() == code.strip() or (not line and original.strip().startswith(("/**", "*")))


def test_urls_without_a_version_are_revalidated(client: Pages) -> None:
    """Scripts at URLs without a version are revalidated each time; an upgrade never mixes versions."""
    first = client.get("/static/page/api.js")
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/static/page/api.js", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304


def test_imports_exist_and_no_script_parses_markup() -> None:
    """Every import resolves to a file, and no script turns data into markup or code."""
    for script in (FOLDER / "static").rglob("*.js"):
        text = script.read_text()
        for target in re.findall(r'(?:from |import\()"(\.[^"]+)"', text):
            assert (script.parent / target).resolve().is_file(), (script.name, target)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), script
