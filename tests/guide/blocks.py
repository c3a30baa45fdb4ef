"""The fenced blocks of a page, in order, those within tabs and remarks included."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OPEN = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[a-z+-]*)(?: title=\"(?P<title>[^\"]+)\")?(?P<rest>.*)$"
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: The file that it stands in.
        line: Where its first line stands, counted from 1.
        language: As the fence says.
        title: Name of the file that it is, or is a part of; None for what is run or printed.
        text: What it holds.
    """

    page: Path
    line: int
    language: str
    title: str | None
    text: str

    def __str__(self) -> str:
        """Say where it is."""
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """Walk the blocks of a page.

    Raises:
        ValueError: For a fence that does not end, or that says more than a language and a title.
    """
    lines = enumerate(page.read_text().splitlines(), 1)
    for number, line in lines:
        if not (opened := _OPEN.match(line)):
            continue
        if opened["rest"]:
            raise ValueError(f"{page}:{number}: {line}")
        held = []
        for _, inner in lines:
            if inner.strip() == opened["fence"]:
                break
            held.append(inner)
        else:
            raise ValueError(f"{page}:{number}: the block does not end")
        text = textwrap.dedent("\n".join(held)) + "\n"
        yield Block(page, number + 1, opened["language"], opened["title"], text)
