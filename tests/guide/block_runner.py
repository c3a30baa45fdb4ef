"""A shell and an interpreter that run a page's blocks one after another, as its reader does."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tests.guide.blocks import Block

_END = "— end of block —"
_SHELL = """\
set -euo pipefail
while IFS= read -r block; do
    source "$block" </dev/null
    printf '\\n%s\\n' "$END_OF_BLOCK"
done
"""
_INTERPRETER = """\
import os, pathlib, sys
namespace = {"__name__": "__main__"}
while block := sys.stdin.readline().strip():
    exec(compile(pathlib.Path(block).read_text(), block, "exec"), namespace)
    print("\\n" + os.environ["END_OF_BLOCK"], flush=True)
"""
COMMANDS = {
    "bash": ["bash", "-c", _SHELL],
    "python": [sys.executable, "-P", "-u", "-W", "error", "-c", _INTERPRETER],
}


class BlockRunner:
    """One process that runs blocks of one language; each block sees the variables of the blocks before it."""

    def __init__(self, language: str, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._errors = folder / f".{language}-errors"
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                COMMANDS[language],
                cwd=folder,
                env={**environment, "END_OF_BLOCK": _END},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def __enter__(self) -> "BlockRunner":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, block: Block, text: str) -> str:
        """Run a block's text and return its output.

        Raises:
            AssertionError: The block failed; the message has its output.
        """
        script = self._folder / f".{block.page.stem}-{block.line}"
        script.write_text(text)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{script}\n")
        self._process.stdin.flush()
        printed: list[str] = []
        for line in self._process.stdout:
            if line.rstrip("\n") == _END:
                return "".join(printed)
            printed.append(line)
        raise AssertionError(f"{block} fails:\n{''.join(printed)}{self._errors.read_text()}")
