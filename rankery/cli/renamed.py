"""Old spellings of commands, accepted until the next release.

Each row of the table maps an old spelling to a new one. The first word of an old spelling must be the first
argument. A second word is an argument that selects the row: a fixed word is removed, a pattern with `*`
stays. If the first word is a present command, the second word must follow immediately; otherwise it may be
anywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType

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
