"""The question before many objects are changed."""

import sys
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import RenderableType

from rankery.cli.connection import ServiceConnection
from rankery.cli.endings import WrongUsage
from rankery.cli.printing import show

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; a program has to say so.")]


def confirm(session: ServiceConnection, preview: Iterable[RenderableType], question: str) -> None:
    """Show what would change, and end where the answer is no.

    Raises:
        WrongUsage: Nobody can be asked.
    """
    if session.json or not sys.stdin.isatty():
        raise WrongUsage("say --yes where nobody can be asked, or --dry-run to look only")
    show(*preview)
    typer.confirm(question, abort=True, err=True)
