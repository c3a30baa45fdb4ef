"""The reference of the command line, as Typer documents its commands."""

from typing import Any

from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

from rankery import cli

_FOLDER = "reference/commands"
_INTRODUCTION = """\
# Command line

What holds for every command; each has a page of its own.

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
    root = Context(get_command(cli.app), info_name="rankery")
    commands = dict(sorted(root.command.commands.items()))  # type: ignore[attr-defined] # it is a group
    rows = [
        f"| [`rankery {name}`]({name}.md) | {command.get_short_help_str(limit=200)} |\n"
        for name, command in commands.items()
    ]
    return {
        f"{_FOLDER}/index.md": _INTRODUCTION + "".join(rows),
        **{f"{_FOLDER}/{name}.md": _page(command, root) for name, command in commands.items()},
    }


def _page(command: Any, root: Context) -> str:
    """Return a command's page, its title without the code font that navigation would show as it is."""
    return get_docs_for_click(obj=command, ctx=root, call_prefix="rankery")
