"""Visibility of progress messages and bars."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_quiet: ContextVar[bool] = ContextVar("rankery_quiet", default=False)


def is_quiet() -> bool:
    """Return whether progress is hidden at present; results and errors are shown anyway."""
    return _is_quiet.get()


@contextmanager
def quietly() -> Iterator[None]:
    """Hide progress while the block runs."""
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)
