"""Progress of the compilation of kernels: a bar on a terminal, occasional lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_LINE_SECONDS = 10.0
_TITLE = "compiling kernels, once for this machine"


@contextmanager
def compilation_progress() -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows the numbers of compiled parts and of all parts."""
    if sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _lines()


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    title = TextColumn("rankery: {task.description}")
    columns = (title, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(_TITLE, total=None, visible=False)
        yield lambda compiled, parts: progress.update(task, completed=compiled, total=parts, visible=True)


def _lines() -> Callable[[int, int], None]:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    printed_at, is_complete = -_LINE_SECONDS, False

    def report(compiled: int, parts: int) -> None:
        nonlocal printed_at, is_complete
        if is_complete:
            return
        is_complete = compiled == parts
        if is_complete or time.monotonic() - printed_at >= _LINE_SECONDS:
            printed_at = time.monotonic()
            console.print(f"rankery: {_TITLE}: {compiled} of {parts} parts")

    return report
