"""Every block of every page runs and prints the output that the page shows."""

import re
import subprocess
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.guide.block_runner import COMMANDS, BlockRunner
from tests.guide.blocks import Block, blocks
from tests.guide.conftest import ROOT
from tests.requirements import require_program

SHOWN_URL = "http://127.0.0.1:8000"  # URL of the service in the pages
# `make test` runs the README. `make test-all` runs it last: it adds a version to the model of other pages.
README = ROOT / "README.md"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), README]
# The commands of this page need separate stores; tests/deploy/test_backup.py runs them.
RUN_ELSEWHERE = ROOT / "docs" / "how-to" / "backup.md"
WITH_BLOCKS = [page for page in PAGES if page != RUN_ELSEWHERE and any(blocks(page))]
# This page reads downloaded files that are not part of the repository.
ON_REAL_DATA = ROOT / "docs" / "tutorial.md"
# Languages of blocks that are not run: formulas.
NOT_RUN = ("math",)
# Languages of blocks that show the output of the block before.
PRINTED = ("text", "json")
PARAMETERS = [
    pytest.param(page, id=str(page.relative_to(ROOT)), marks=[pytest.mark.slow] if page != README else [])
    for page in WITH_BLOCKS
]

Run = Callable[[Block, str], str]


@pytest.fixture
def run(tmp_path: Path, environment: Mapping[str, str]) -> Iterator[Run]:
    """Function that runs a block in a session, which starts and ends with the page."""
    with ExitStack() as stack:
        sessions: dict[str, BlockRunner] = {}

        def in_session(block: Block, text: str) -> str:
            if block.language not in sessions:
                sessions[block.language] = stack.enter_context(
                    BlockRunner(block.language, tmp_path, environment)
                )
            return sessions[block.language].run(block, text)

        yield in_session


@pytest.mark.parametrize("page", PARAMETERS)
def test_commands_and_outputs_of_a_page_are_current(
    page: Path, run: Run, tmp_path: Path, guide_service: str, request: pytest.FixtureRequest
) -> None:
    """Commands and programs run as written, excerpts match their files, and output matches the page."""
    require_program("curl", "curl")
    if page != README:  # README creates all objects that it shows
        request.getfixturevalue("prepared")
    if page == ON_REAL_DATA:
        (tmp_path / "lambdarank").symlink_to(request.getfixturevalue("shared_data") / "lightgbm-rank")
    printed: str | None = None
    for block in blocks(page):
        if block.language in NOT_RUN:
            continue
        if block.title is not None:
            _compare_or_write(block, tmp_path)
        elif block.language in COMMANDS:
            printed = run(block, block.text.replace(SHOWN_URL, guide_service)).replace(
                guide_service, SHOWN_URL
            )
        else:
            assert block.language in PRINTED, f"{block} is neither run nor checked"
            assert printed is not None, f"{block} follows nothing that prints"
            assert re.fullmatch(_pattern(block.text), _stripped(printed)), (
                f"{block} differs from the output:\n{printed}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_can_be_run_or_compared(page: Path, tmp_path: Path) -> None:
    """Commands and programs have valid syntax, excerpts are in their files, and output follows a command."""
    is_printing = False
    for block in blocks(page):
        if block.language in NOT_RUN:
            continue
        if block.title is not None:
            _compare_or_write(block, tmp_path)
        elif block.language == "python":
            compile(block.text, str(block), "exec")
        elif block.language == "bash":
            read = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
            assert read.returncode == 0, f"{block}: {read.stderr}"
        else:
            assert block.language in PRINTED, f"{block} is neither run nor compared"
            assert is_printing, f"{block} follows nothing that prints"
        is_printing = is_printing or block.language in COMMANDS


def _compare_or_write(block: Block, folder: Path) -> None:
    """Compare an excerpt with the file of the repository, or write the file that the page shows."""
    original = ROOT / str(block.title)
    if original.exists():
        lines = [line.strip() for line in original.read_text().splitlines()]
        shown = [line.strip() for line in block.text.splitlines()]
        is_excerpt = any(lines[i : i + len(shown)] == shown for i in range(len(lines)))
        assert is_excerpt, f"{block} is not in {block.title}"
    else:
        (folder / str(block.title)).write_text(block.text)


def _stripped(text: str) -> str:
    """Return text without margins, trailing spaces and empty lines."""
    lines = textwrap.dedent(text).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _pattern(shown: str) -> str:
    """Return the regular expression of the shown output, in which `…` matches any text."""
    return ".*?".join(re.escape(part) for part in _stripped(shown).split("…")).join(("(?s:", ")"))
