"""The built site: complete, and without files of other hosts."""

import html
import re
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer import Context
from typer.main import get_command

from app.auth import refusals
from app.http.problems import ALL_KINDS, ProblemKind
from core.losses import LOSSES
from guide.__main__ import main
from rankery import cli
from tests.guide.conftest import ROOT

_LOADED = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)="([^"]+)"')


class Build(NamedTuple):
    """A build of a site with a broken link.

    Attributes:
        pages: Folder of the guide's pages, which are written before the build.
        exit_code: Exit code of the build.
        errors: Printed errors.
    """

    pages: Path
    exit_code: int
    errors: str


@pytest.fixture(scope="module")
def broken_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Write the guide's pages, and build a small site with a link to an absent anchor."""
    folder = tmp_path_factory.mktemp("build")
    (folder / "small").mkdir()
    (folder / "small" / "index.md").write_text("# First\n\n[a link](index.md#absent)\n")
    settings, errors = folder / "mkdocs.yml", StringIO()
    settings.write_text("site_name: small\ndocs_dir: small\nvalidation: {anchors: warn}\n")
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(errors):
        patch.setattr("guide.__main__._PAGES", folder / "pages")
        exit_code = main(["--config-file", str(settings), "--site-dir", str(folder / "site")])
    return Build(folder / "pages", exit_code, errors.getvalue())


def commands(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
    """Yield every command of the command line, with the words that call it."""
    for name, below in getattr(command, "commands", {}).items():
        yield [*words, name], below
        yield from commands([*words, name], below)


def test_a_page_loads_only_files_of_the_site(built_guide: Path) -> None:
    """Scripts, styles and pictures are files of the site, and pages have no inline script."""
    pages = list(built_guide.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        text = page.read_text()
        assert re.findall(r'<script(?![^>]*\bsrc=)(?![^>]*type="application/json")', text) == [], page
        assert re.findall(r"<[^>]+\son[a-z]+=", text) == [], page
        for loaded in _LOADED.findall(text):
            place = loaded.split("?")[0].split("#")[0]
            whole = (
                built_guide / place.removeprefix("/guide/") if place.startswith("/") else page.parent / place
            )
            assert whole.exists(), (page, loaded)


def test_every_command_is_shown_with_its_present_help(built_guide: Path) -> None:
    """The reference has the current `--help` texts of each command and its options."""
    folder = built_guide / "reference" / "commands"
    shown = {page.parent.name: _plain(page.read_text()) for page in folder.glob("*/index.html")}
    walked = list(commands([], get_command(cli.app)))
    assert len(walked) > 20
    for words, command in walked:
        page = shown[words[0]]
        assert _plain(f"rankery {' '.join(words)}") in page, words
        assert _plain(command.help.splitlines()[0]) in page, words
        for parameter in command.get_params(Context(command)):
            record = parameter.get_help_record(Context(command))
            assert record is None or _plain(record[1]) in page, (words, parameter.name)


def _plain(text: str) -> str:
    """Return the words of HTML or Markdown without markup, quotes and spacing."""
    return re.sub(r"[\W_]+", " ", html.unescape(re.sub(r"<[^>]+>", "", text)))


def test_the_site_generator_reads_plain_markdown() -> None:
    """The site uses no hook and no plugin except search, so another generator needs only other settings."""
    settings = (ROOT / "mkdocs.yml").read_text()
    assert "\nhooks:" not in settings
    assert "\nplugins:\n  - search\n\n" in settings


def test_no_page_waits_for_a_replacement(broken_build: Build) -> None:
    """Every placeholder is replaced, and the guide has every page of `docs/` except decisions."""
    pages = broken_build.pages
    written = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    shown = {page for page in written if (pages / page).is_file()}
    assert shown == {page for page in written if page.parts[0] != "adr"}
    for page in pages.rglob("*.md"):
        assert re.findall(r"^ *![a-z]+(?: \S+)?$", page.read_text(), re.MULTILINE) == [], page


def test_no_page_keeps_latex(broken_build: Build) -> None:
    """No page contains a formula as LaTeX."""
    for page in broken_build.pages.rglob("*.md"):
        assert "```math" not in page.read_text(), page


def test_no_page_is_long() -> None:
    """A page of the guide has at most 2,000 words; a longer page is split, or repeats another page."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "adr"]
    assert {page.name for page in pages if len(page.read_text().split()) > 2000} == set()


def test_files_of_the_architecture_exist() -> None:
    """Each file and folder that a page names is in the repository, or in a folder named in the same line."""
    named = re.compile(r"`([\w./-]+(?:\.(?:py|md|toml|yml)|/))`")
    for page in (ROOT / "docs" / "architecture").glob("*.md"):
        for line in page.read_text().splitlines():
            paths = named.findall(line)
            folders = [ROOT, *(ROOT / path for path in paths if path.endswith("/"))]
            absent = [path for path in paths if not any((folder / path).exists() for folder in folders)]
            assert absent == [], page.name


def test_every_kind_of_problem_is_in_the_troubleshooting_page() -> None:
    """The troubleshooting page lists every kind of problem, by the last part of its type and its title."""
    kinds = {*ALL_KINDS, *(kind for kind in vars(refusals).values() if isinstance(kind, ProblemKind))}
    page = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text()
    listed = re.findall(r"^\| `([a-z-]+)` \| ([A-Z][^|]+) \| [^|]{8,} \|$", page, re.MULTILINE)
    assert sorted(listed) == sorted({(kind.slug, kind.title) for kind in kinds})


def test_every_loss_is_explained() -> None:
    """The page has an entry for each loss."""
    page = (ROOT / "docs" / "concepts" / "losses.md").read_text()
    assert sorted(re.findall(r"^!loss (\S+)$", page, re.MULTILINE)) == sorted(LOSSES)


def test_every_term_of_the_glossary_links_to_its_page() -> None:
    """Each term has an anchor, and a definition with a link to a page of the guide."""
    page = (ROOT / "docs" / "glossary.md").read_text()
    entries = re.findall(r"^(?P<term>\S.*)\n:   (?P<definition>.+)$", page, re.MULTILINE)
    assert len(entries) > 60
    for term, definition in entries:
        assert re.search(r"\{ #[a-z-]+ \}$", term), term
        assert re.search(r"\]\((?!#|http)[^)]+\)", definition), term


def test_a_link_to_an_absent_anchor_fails_the_build(broken_build: Build) -> None:
    """The build treats and prints the site generator's warnings as errors."""
    assert broken_build.exit_code != 0
    assert "#absent" in broken_build.errors
