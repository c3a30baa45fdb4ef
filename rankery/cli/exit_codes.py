"""Exit codes: 0 success, 1 refused request or failure, 2 usage error, 3 a gate's refusal, 130 interrupted.

A usage error follows from the arguments, or from a confirmation that cannot be asked for.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from rankery.cli.columns import with_option_names
from rankery.cli.printing import json_line, say, show_text
from rankery.cli.texts import NotUnderstood
from rankery.errors import FileUnreadable, JobRefused, RankeryApiError, UserError

FAILED = 1
NOT_UNDERSTOOD = 2
REFUSED = 3
INTERRUPTED = 130
_FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
_JSON_OPTION = "--from-json"  # its users write the fields that errors name


class Interrupted(Exception):
    """Raised when the user interrupts a command, with a hint on how to continue."""


class WrongUsage(typer.BadParameter):
    """Raised for invalid, missing or incompatible arguments; the exit code is 2."""

    def format_message(self) -> str:
        """Return the message without a prefix."""
        return self.message


def show_problem(error: UserError) -> None:
    """Print an error as one line of JSON to standard output, for commands with --json."""
    problem: dict[str, Any] = {"detail": str(error)}
    if isinstance(error, FileUnreadable | RankeryApiError):
        problem = error.problem
    show_text(f"{json_line({'problem': problem})}\n")


@contextmanager
def problem_as_json(*, json: bool) -> Iterator[None]:
    """Print an error as JSON, too, if the command has --json.

    A command with a `ServiceConnection` needs no such block.
    """
    try:
        yield
    except UserError as error:
        if json:
            show_problem(error)
        raise


class OneSentenceGroup(TyperGroup):
    """Command group that prints errors as one sentence on standard error, without a traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; standard output may be a file on a full disk."""
        try:
            return super().main(*args, **options)
        except OSError as error:
            if error.errno not in _FULL_DISK:
                raise
            # Python flushes standard output again when it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            say(f"the output cannot be written: {error.strerror}")
            sys.exit(FAILED)

    def invoke(self, ctx: Any) -> Any:
        """Run the requested command."""
        writes_json = any(argument.partition("=")[0] == _JSON_OPTION for argument in ctx.args)
        with _one_sentence_errors(names_options=not writes_json):
            return super().invoke(ctx)


@contextmanager
def _one_sentence_errors(*, names_options: bool) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        say(with_option_names(str(error)) if names_options else str(error))
        raise typer.Exit(_exit_code(error)) from None
    except Interrupted as stopped:
        say(str(stopped))
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        say("stopped")
        raise typer.Exit(INTERRUPTED) from None


def _exit_code(error: UserError) -> int:
    if isinstance(error, NotUnderstood):
        return NOT_UNDERSTOOD
    return REFUSED if isinstance(error, JobRefused) else FAILED
