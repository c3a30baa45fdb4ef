"""Functions that run commands in this process or in separate processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from rankery.cli import app

_COMMAND = get_command(app)
JUDGED = "".join(
    f"{label} qid:{query} 1:{(7 * query + 3 * label) % 11} 2:{label + query % 3} 3:{(query * label) % 5}\n"
    for query in range(1, 41)
    for label in (0, 1, 2, 0, 1)
)


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    output: str
    errors: str

    @property
    def document(self) -> Any:
        """The standard output, parsed as JSON."""
        return json.loads(self.output)

    @property
    def sentence(self) -> str:
        """The last line of standard error without its prefix; fails on a traceback."""
        assert "Traceback" not in self.errors
        return self.errors.splitlines()[-1].removeprefix("rankery: ")


def run(*arguments: str | Path, stdin: str | None = None, **environment: str) -> Done:
    """Run a command in this process."""
    # Without this, typer builds all commands again for each run, which takes longer than most commands.
    with patch("typer.testing._get_command", lambda _: _COMMAND):
        result = CliRunner(env=environment).invoke(app, [str(one) for one in arguments], input=stdin)
    return Done(result.exit_code, result.stdout, result.stderr)


def start_command(*arguments: str | Path, **environment: str) -> "subprocess.Popen[str]":
    """Start a command in a separate process."""
    return subprocess.Popen(
        [sys.executable, "-m", "rankery", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        # Child processes of a shell's background jobs ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def all_commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, without command groups."""
    yield from _below((), _COMMAND)


def _below(path: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    commands = getattr(command, "commands", None)
    if commands is None:
        yield path
        return
    for name, one in commands.items():
        yield from _below((*path, name), one)


def ids(items: Sequence[dict[str, Any]]) -> list[str]:
    """Return the ids of a list."""
    return [item["id"] for item in items]
