"""The built site: complete, and in need of nobody else."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from app.auth import refusals
from app.http.problems import _HTTP_KINDS, KINDS, ProblemKind
from core.losses import LOSSES
from guide import command_reference
from rankery import cli
from tests.guide.conftest import ROOT

_LOADED = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)="([^"]+)"')


def commands(words: list[str], command: Any) -> Iterator[list[str]]:
    """Walk the command line: the words of every command."""
    for name, below in getattr(command, "commands", {}).items():
        yield [*words, name]
        yield from commands([*words, name], below)


def test_a_page_loads_only_files_of_the_site(built_guide: Path) -> None:
    """Scripts, styles and pictures are files beside the page: no other host, no script within a page."""
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
    """What each command says to `--help` now stands in the reference, word for word."""
    shown = "".join(
        html.unescape(re.sub(r"<[^>]+>", "", page.read_text()))
        for page in (built_guide / "reference" / "commands").rglob("index.html")
    )
    walked = [[], *commands([], get_command(cli.app))]
    assert len(walked) > 20
    for words in walked:
        assert command_reference.help_of(words) in shown, words


def test_every_problem_has_a_way_out() -> None:
    """The page of troubles knows every kind of problem, by the last part of its type and its title."""
    kinds = [*KINDS.values(), *_HTTP_KINDS.values()]
    kinds += [kind for kind in vars(refusals).values() if isinstance(kind, ProblemKind)]
    page = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text()
    told = re.findall(r"^\| `([a-z-]+)` \| ([A-Z][^|]+) \| [^|]{8,} \|$", page, re.MULTILINE)
    assert sorted(told) == sorted({(kind.slug, kind.title) for kind in kinds})


def test_every_loss_is_explained() -> None:
    """Each loss has its formula, and words of its own."""
    page = (ROOT / "docs" / "concepts" / "losses.md").read_text()
    assert sorted(re.findall(r"^!loss (\S+)$", page, re.MULTILINE)) == sorted(LOSSES)
