"""Lazily imported commands of `rankery`, by their first word.

Importing all modules would take longer than printing the help.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand
from typer.main import get_group

from rankery.cli.printing import say
from rankery.cli.shown_errors import OneSentenceGroup


class CommandEntry(NamedTuple):
    """Help entry of a command that is not imported yet.

    Attributes:
        module: Module below `rankery.cli` that has the command, as a function or `Typer` with the name of
            the command, with underscores. It imports all modules that add subcommands.
    """

    module: str
    line: str
    verbs: tuple[str, ...] = ()


def _noun(module: str, verbs: str) -> CommandEntry:
    return CommandEntry(module, verbs, tuple(verbs.split(", ")))


PANELS: Mapping[str, Mapping[str, CommandEntry]] = MappingProxyType(
    {
        "Everyday": {
            "serve": CommandEntry("serving", "Start the whole service on this machine."),
            "demo": CommandEntry("serving", "Train and compare two losses, as an example."),
            "doctor": CommandEntry("doctor", "Check judged files before they are uploaded."),
            "train": CommandEntry("train", "Train a model from a file or a dataset."),
            "tune": CommandEntry("tune", "Search hyperparameters with many trainings."),
            "evaluate": CommandEntry("evaluate", "Evaluate a model or TREC runs."),
            "compare": CommandEntry("compare", "Compare models and rankings, query by query."),
            "rank": CommandEntry("rank", "Rank the documents of a file with a model."),
            "export": CommandEntry("export", "Export a model for another search engine."),
        },
        "Processes and images": {
            "api": CommandEntry("serving", "Run only the API and the dashboard."),
            "worker": CommandEntry("serving", "Run only a worker."),
            "rank-worker": CommandEntry("serving", "Run a worker of a Dask cluster."),
            "warm-up": CommandEntry("serving", "Compile the Numba kernels ahead of time."),
            "health": _noun("serving", "api, worker"),
        },
        "Data and models": {
            "datasets": _noun(
                "dataset_transfers",
                "list, show, folders, doctor, queries, read-again, describe, delete, upload, read, import,"
                " download, generate",
            ),
            "click-logs": _noun(
                "click_models",
                "upload, served, interleaved, send-events, list, show, delete, propensities, simulate, fit,"
                " judge",
            ),
            "models": _noun(
                "inspections",
                "list, show, promote, rollback, import, download, describe, label, delete, reproduce, distil,"
                " inspect",
            ),
            "aliases": _noun("models", "list, history"),
            "gates": _noun("gates", "list, show, set, delete"),
            "mlflow": _noun("export", "export, import"),
        },
        "Jobs and results": {
            "jobs": _noun("jobs", "list, show, wait, cancel, history, candidates, describe, label, delete"),
            "evaluations": _noun("results", "list, show, delete"),
            "comparisons": _noun("results", "list, show, delete"),
            "rankings": _noun("results", "list, download, delete"),
            "inspections": _noun("results", "list, show, delete"),
            "studies": _noun("tune", "list, show, pause, resume, cancel, delete"),
            "papers": _noun("papers", "list, show"),
            "experiments": _noun("papers", "run, show, list, cancel, delete"),
        },
        "Operation": {
            "schedules": _noun("schedules", "list, show, create, pause, resume, run, delete"),
            "drift": _noun("drift", "check, list, show"),
            "interleavings": _noun("interleavings", "create, list, show, send-clicks, verdict, delete"),
            "projects": _noun("lifecycle", "list"),
            "trash": _noun("lifecycle", "list, restore, empty"),
            "storage": _noun("lifecycle", "show"),
            "events": _noun("webhooks", "list"),
            "webhooks": _noun("webhooks", "list, show, create, change, test, redeliver, rotate, delete"),
            "keys": _noun("keys", "create, list, revoke"),
            "audit": _noun("webhooks", "list"),
        },
    }
)
_PANEL_OF = {word: panel for panel, commands in PANELS.items() for word in commands}
_COMMANDS = {word: entry for commands in PANELS.values() for word, entry in commands.items()}


class ImportedCommands(Mapping[str, Any]):
    """Mapping from the first word to the command, imported on first access."""

    def __getitem__(self, word: str) -> Any:
        return _imported(word)

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class RankeryGroup(OneSentenceGroup):
    """Lazy command group of `PANELS`: listing commands imports none of them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = ImportedCommands()  # type: ignore[assignment] # no command is added later

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; replace old spellings, with a notice on standard error."""
        arguments, sentence = renamed(args, {word: entry.verbs for word, entry in _COMMANDS.items()})
        if sentence is not None and not ctx.resilient_parsing:
            say(sentence, always=True)
        return super().parse_args(ctx, arguments)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the first words of all commands."""
        return [*_COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a placeholder command with its short help and no options; None for an unknown word."""
        if cmd_name not in _COMMANDS:
            return None
        line = _COMMANDS[cmd_name].line
        return TyperCommand(cmd_name, short_help=line, rich_help_panel=_PANEL_OF[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the word, the imported command and the arguments after it.

        The error for a removed command lists its new spellings.
        """
        if args[0] not in _COMMANDS and (new := replacements(args[0])):
            ctx.fail(f"`rankery {args[0]}` is now {', '.join(f'`rankery {spelling}`' for spelling in new)}")
        word, _, rest = super().resolve_command(ctx, args)
        return word, _imported(str(word)), rest


@cache
def _imported(word: str) -> Any:
    entry, panel = _COMMANDS[word], _PANEL_OF[word]
    command = getattr(import_module(f"rankery.cli.{entry.module}"), word.replace("-", "_"))
    parent = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")
    if isinstance(command, typer.Typer):
        parent.add_typer(command, name=word, rich_help_panel=panel, short_help=entry.line)
    else:
        parent.command(word, rich_help_panel=panel, short_help=entry.line)(command)
    return get_group(parent).commands[word]


# Old spellings of commands, accepted until the next release, with the new ones. The first word of an old
# spelling must be the first argument. A second word is an argument that selects the row: a fixed word is
# removed, a pattern with `*` stays. If the first word is a present command, the second word must follow
# immediately; otherwise it may be anywhere.
SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        **{
            f"delete {noun}": f"{noun} delete"
            for noun in (
                *("jobs", "models", "evaluations", "comparisons"),
                *("rankings", "inspections", "experiments", "studies"),
            )
        },
        "label jobs": "jobs label",
        "label models": "models label",
        "tags job_*": "jobs label",
        "tags": "models label",
        "describe --dataset": "datasets describe",
        "describe ds_*": "datasets describe",
        "describe job_*": "jobs describe",
        "describe": "models describe",
        "importance": "models inspect",
        "inspect": "models inspect",
        "models aliases": "aliases list",
        "models history": "aliases history",
        "datasets synthetic": "datasets generate",
        "papers run": "experiments run",
        "papers report": "experiments show",
        "events": "events list",
        "audit": "audit list",
        "storage": "storage show",
        "projects": "projects list",
    }
)
_OPTIONS = {"--job-kind": "--kind"}
_HELP = frozenset({"-h", "--help"})


def renamed(arguments: Sequence[str], commands: Mapping[str, Sequence[str]]) -> tuple[list[str], str | None]:
    """Return a command line in its new spelling, and a notice about the renaming.

    Args:
        arguments: Arguments of the command line, without the program.
        commands: The present commands by first word, with the words that may follow each.

    Returns:
        The new arguments and the notice; the same arguments and None if the spelling is current.
    """
    for old, new in _rows(arguments, commands):
        first, *selectors = old.split()
        at = _selector_position(arguments, selectors[0], is_next=first in commands) if selectors else 0
        if at is None:
            continue
        rest = [one for index, one in enumerate(arguments) if index and (index != at or "*" in old)]
        spelled = old.partition(" ")[0] if "*" in old else old
        return [*new.split(), *map(_renamed_option, rest)], f"`rankery {spelled}` is now `rankery {new}`"
    return [*arguments], None


def replacements(first: str) -> list[str]:
    """Return the new spellings of old commands with this first word."""
    return list(dict.fromkeys(new for old, new in SPELLINGS.items() if old.split()[0] == first))


def _rows(arguments: Sequence[str], commands: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the rows of `SPELLINGS` whose old spelling begins with the first argument.

    A row without a second word is left out if its word is a present command and its verb or `--help` follows.
    """
    if not arguments:
        return
    first, following = arguments[0], arguments[1:2]
    for old, new in SPELLINGS.items():
        is_bare_noun = old == first in commands
        if old.split()[0] == first and not (is_bare_noun and {*following} & {*commands[first], *_HELP}):
            yield old, new


def _selector_position(arguments: Sequence[str], selector: str, *, is_next: bool) -> int | None:
    """Return the position of the first argument that matches the second word of a row; None without one."""
    last = 2 if is_next else len(arguments)
    return next(
        (at for at in range(1, min(last, len(arguments))) if fnmatchcase(arguments[at], selector)), None
    )


def _renamed_option(argument: str) -> str:
    name, equals, value = argument.partition("=")
    return f"{_OPTIONS.get(name, name)}{equals}{value}"
