"""Exit codes: 0 success, 1 refused request or failure, 2 usage error, 3 a gate's refusal, 130 interrupted.

A usage error follows from the arguments, or from a confirmation that cannot be asked for.
"""

import typer

from rankery.cli.texts import NotUnderstood
from rankery.errors import JobRefused, UserError

FAILED = 1
NOT_UNDERSTOOD = 2
REFUSED = 3
INTERRUPTED = 130


class Interrupted(Exception):
    """Raised when the user interrupts a command, with a hint on how to continue."""


class WrongUsage(typer.BadParameter):
    """Raised for invalid, missing or incompatible arguments; the exit code is 2."""

    def format_message(self) -> str:
        """Return the message without a prefix."""
        return self.message


def exit_code_of(error: UserError) -> int:
    """Return the exit code of a command that ends with an error."""
    if isinstance(error, NotUnderstood):
        return NOT_UNDERSTOOD
    return REFUSED if isinstance(error, JobRefused) else FAILED
