"""The reference of the command line, from what its commands say to `--help`."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from rankery import cli

_FOLDER = "reference/commands"
_WIDTH = "80"
_PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": _WIDTH}
_INTRODUCTION = """\
# Command line

What holds for every command; its own page shows what each says to `--help`.

**Which service.** The one at `--url` (`RANKERY_URL`); else the one that has the data folder (`--data-dir`,
`RANKERY_DATA_DIR`), as a running `rankery serve` does; else the command starts a service on that folder for
its own time and says so. What it makes stays in the folder for the next command. Where the service has keys,
set `RANKERY_API_KEY`. The reasons are in [ADR 23](../../adr/0023-commands-bring-their-own-service.md).

**For programs.** With `--json` standard output holds JSON and nothing else; progress and warnings go to
standard error. Exit codes: 0 done; 1 refused or failed, told in one sentence; 2 the command line is not
understood; 130 interrupted.

**Completion.** `rankery --install-completion` teaches it to the shell it is called from (bash, zsh, fish or
PowerShell): commands, options, losses, metrics and formats, and the names of datasets, jobs and models that
a running service has.

| command | what it does |
| --- | --- |
"""


def pages() -> dict[str, str]:
    """Return an index, and a page a command with the commands below it."""
    commands = dict(sorted(get_command(cli.app).commands.items()))  # type: ignore[attr-defined] # it is a group
    rows = [f"| [`rankery {name}`]({name}.md) | {told(command)} |\n" for name, command in commands.items()]
    return {
        f"{_FOLDER}/index.md": f"{_INTRODUCTION}{''.join(rows)}\n```text\n{help_of([])}\n```\n",
        **{f"{_FOLDER}/{name}.md": "".join(_page([name], command)) for name, command in commands.items()},
    }


def told(command: Any) -> str:
    """Return the first sentence of what a command says of itself."""
    return str(command.get_short_help_str(limit=200))


def help_of(words: list[str]) -> str:
    """Return what a command says to `--help`."""
    shown = CliRunner(env=_PLAIN).invoke(cli.app, [*words, "--help"], prog_name="rankery").output
    return "\n".join(line.rstrip() for line in shown.strip().splitlines())


def _page(words: list[str], command: Any) -> Iterator[str]:
    yield f"{'#' * len(words)} `rankery {' '.join(words)}`\n\n```text\n{help_of(words)}\n```\n\n"
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from _page([*words, name], below)
