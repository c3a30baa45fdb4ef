"""Exit codes: 0 success, 1 refused request or failure, 2 usage error, 3 a gate's refusal, 130 interrupted.

A usage error shows in the words of the command line, before a file is read or a service does anything.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from rankery.cli.columns import in_words_of_options
from rankery.cli.printing import say
from rankery.cli.renamed import renamed, replacements
from rankery.cli.texts import NotUnderstood
from rankery.errors import JobRefused, UserError

FAILED = 1
NOT_UNDERSTOOD = 2
REFUSED = 3
INTERRUPTED = 130


class Interrupted(Exception):
    """Raised when the user interrupts a command, with a hint on how to continue."""


class WrongUsage(typer.BadParameter):
    """Arguments that do not go together; the exit code is 2."""

    def format_message(self) -> str:
        """Return the sentence as it is."""
        return self.message


class OneSentenceGroup(TyperGroup):
    """Commands that say what went wrong in one sentence on standard error, without a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; an old spelling is replaced, with a line on standard error."""
        commands = {name: tuple(getattr(one, "commands", ())) for name, one in self.commands.items()}
        arguments, sentence = renamed(args, commands)
        if sentence is not None and not ctx.resilient_parsing:
            say(sentence, always=True)
        return super().parse_args(ctx, arguments)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; of a word that is none any more, name the new spellings."""
        if args[0] not in self.commands and (new := replacements(args[0])):
            ctx.fail(f"`rankery {args[0]}` is now {', '.join(f'`rankery {one}`' for one in new)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with _one_sentence_errors():
            return super().invoke(ctx)


@contextmanager
def _one_sentence_errors() -> Iterator[None]:
    try:
        yield
    except UserError as error:
        say(in_words_of_options(str(error)))
        raise typer.Exit(_code_of(error)) from None
    except Interrupted as stopped:
        say(str(stopped))
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        say("stopped")
        raise typer.Exit(INTERRUPTED) from None


def _code_of(error: UserError) -> int:
    if isinstance(error, NotUnderstood):
        return NOT_UNDERSTOOD
    return REFUSED if isinstance(error, JobRefused) else FAILED
