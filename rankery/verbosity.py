"""Visibility of progress messages and bars."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_quiet: ContextVar[bool] = ContextVar("rankery_quiet", default=False)


def is_quiet() -> bool:
    """Return whether progress messages are hidden; results and errors are always shown."""
    return _is_quiet.get()


@contextmanager
def quietly() -> Iterator[None]:
    """Hide progress messages and bars in the block."""
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)
