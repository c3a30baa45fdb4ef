"""Command line reference, generated from the Typer commands."""

from typing import Any

from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

from rankery import cli

_FOLDER = "reference/commands"
_INTRODUCTION = """\
# Command line

Rules for all commands; each command has a page.

**Grammar.** `rankery VERB` for everyday work, such as `rankery train`; `rankery NOUN VERB` for objects
of a service: `list`, `show`, `label`, `describe`, `delete` and the verbs of one noun.
Spellings of earlier versions work in this release, and print the new spelling on standard error.

**Service.** A command uses the service at `--url` (`RANKERY_URL`). Without one, it uses the running
service of the data folder (`--data-dir`, `RANKERY_DATA_DIR`), such as `rankery serve`. If no service runs,
it fails within seconds with the command that starts one. Only `rankery train FILE` and `rankery
demo` start a temporary service. If the service has keys, set `RANKERY_API_KEY`.

**Programs.** With `--json` standard output is JSON only; progress and warnings go to standard error, and
`--quiet` suppresses them. Exit codes: 0 success; 1 refused or failed, with one sentence; 2 invalid command
line; 3 the gate of an alias refused a version; 130 interrupted.

**Completion.** `rankery --install-completion` installs completion for the current shell (bash, zsh, fish or
PowerShell): commands, options, losses, metrics and formats, and the names of datasets, jobs and models of a
running service.

| command | description |
| --- | --- |
"""


def pages() -> dict[str, str]:
    """Return an index page, and one page for each command with its subcommands."""
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
    """Return the page of a command: usage, arguments, options and subcommands."""
    return get_docs_for_click(obj=command, ctx=root, call_prefix="rankery")
