"""The fenced blocks of a page, in order, including blocks in tabs and admonitions."""

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
        page: File that contains the block.
        line: Line number of its first line, from 1.
        language: Language of the fence.
        title: Name of the file that the block is, or is a part of; None for commands, programs and output.
        text: Content of the block.
    """

    page: Path
    line: int
    language: str
    title: str | None
    text: str

    def __str__(self) -> str:
        """Return the file and line number."""
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page.

    Raises:
        ValueError: A fence has no end, or has more than a language and a title.
    """
    lines = enumerate(page.read_text().splitlines(), 1)
    for number, line in lines:
        if not (opened := _OPEN.match(line)):
            continue
        if opened["rest"]:
            raise ValueError(f"{page}:{number}: {line}")
        content = []
        for _, inner in lines:
            if inner.strip() == opened["fence"]:
                break
            content.append(inner)
        else:
            raise ValueError(f"{page}:{number}: the block does not end")
        text = textwrap.dedent("\n".join(content)) + "\n"
        yield Block(page, number + 1, opened["language"], opened["title"], text)
