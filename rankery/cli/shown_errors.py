"""Errors and warnings of commands, shown as one sentence or as JSON."""

import errno
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from rankery.cli.completion import names_split_by_bash
from rankery.cli.exit_codes import FAILED, INTERRUPTED, Interrupted, exit_code_of
from rankery.cli.option_names import with_column_options, with_options
from rankery.cli.printing import json_line, say, show_text
from rankery.errors import DataWarning, FileUnreadable, JobFailed, RankeryApiError, UserError

_FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
_JSON_OPTION = "--from-json"  # its users write the fields that errors name


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
        """Run the command line; standard streams may be closed, and the output a file on a full disk."""
        _open_closed_streams()
        try:
            with names_split_by_bash():
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
        words = [*ctx._protected_args, *ctx.args]
        with _one_sentence_errors(lambda: self._options(ctx, words)), _warnings_without_location():
            return super().invoke(ctx)

    def _options(self, ctx: Any, words: list[str]) -> dict[str, str] | None:
        """Return the options and arguments of the requested command by parameter; None with `--from-json`."""
        if any(word.partition("=")[0] == _JSON_OPTION for word in words):
            return None
        command: Any = self
        while isinstance(command, TyperGroup):
            _, command, words = command.resolve_command(ctx, words)
        longest = {parameter.name: max(parameter.opts, key=len) for parameter in command.params}
        return {name: text if text.startswith("-") else text.upper() for name, text in longest.items()}


def _open_closed_streams() -> None:
    """Open the null device for standard streams that were closed at the start, which Python has as None."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open until the process ends


@contextmanager
def _warnings_without_location() -> Iterator[None]:
    """Print warnings about data as sentences, without a line of the code."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_sentence(
            message: Warning | str, category: type[Warning], *location: Any, **more: Any
        ) -> None:
            if issubclass(category, DataWarning):
                say(str(message))
            else:
                show(message, category, *location, **more)

        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = show_sentence
        yield


@contextmanager
def _one_sentence_errors(options_of_command: Callable[[], dict[str, str] | None]) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        _show_error(_sentence(error, options_of_command()))
        raise typer.Exit(exit_code_of(error)) from None
    except Interrupted as stopped:
        say(str(stopped))
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        say("stopped")
        raise typer.Exit(INTERRUPTED) from None


def _show_error(sentence: str) -> None:
    """Print the error that ends a command; a service whose output is a log in JSON logs it as critical."""
    if getattr(sys.stderr, "is_log", False):
        logging.getLogger("rankery").critical(sentence)
    else:
        say(sentence)


def _sentence(error: UserError, options: dict[str, str] | None) -> str:
    sentence = str(error)
    if options is None:
        return sentence
    if isinstance(error, RankeryApiError | JobFailed):
        sentence = with_options(sentence, options)
    return with_column_options(sentence)
