"""Preconditions of changes: conditions that are checked while no other transaction can commit a change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Checks of the current context that no commit has passed yet.
_unchecked: ContextVar[list[Callable[[], None]] | None] = ContextVar("unchecked", default=None)


@contextmanager
def required(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` before the first commit of a change during the block, in the current context.

    An exception of `check` rolls the change back. Further commits pass: they belong to the same change.
    Tasks, and threads of `to_thread`, started during the block inherit the precondition.
    """
    before = _unchecked.set([check])
    try:
        yield
    finally:
        _unchecked.reset(before)


def require() -> None:
    """Call the check of the context, unless a commit has passed it."""
    unchecked = _unchecked.get()
    if unchecked:
        unchecked.pop()()
