"""Close database connections before the process forks.

SQLite records its file locks in process memory, but a forked child does not inherit the locks: it would
assume locks that it does not hold, and could lose commits of other processes. Also, a child that closes an
inherited PostgreSQL connection would end its parent's session.
"""

import contextlib
import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterator

WAIT_SECONDS = 30

_log = logging.getLogger(__name__)
_guards: "weakref.WeakSet[ForkGuard]" = weakref.WeakSet()
_held: "list[ForkGuard]" = []
_registering = threading.Lock()
_registered = False


class ForkGuard:
    """Guard of forks: a fork waits for running transactions and closes all connections.

    Args:
        close: Closes the connections; the pool opens them again when needed.
    """

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close
        self._condition = threading.Condition()
        self._threads_inside: list[int] = []
        self._fork_waits = False
        _guards.add(self)
        _register()

    @contextlib.contextmanager
    def delaying_forks(self) -> Iterator[None]:
        """Delay forks by other threads until the block ends."""
        thread = threading.get_ident()
        with self._condition:
            # A thread inside an outer block must not wait: the fork waits for that block, up to its timeout.
            self._condition.wait_for(lambda: not self._fork_waits or thread in self._threads_inside)
            self._threads_inside.append(thread)
        try:
            yield
        finally:
            with self._condition:
                self._threads_inside.remove(thread)
                self._condition.notify_all()

    def hold(self) -> None:
        """Block new transactions, wait up to 30 s for those of other threads, then close the connections."""
        self._condition.acquire()
        self._fork_waits = True
        self._condition.wait_for(self._only_this_thread_inside, WAIT_SECONDS)
        try:
            self._close()
        except Exception:  # noqa: BLE001 - the fork continues, and the lock must be released after it
            _log.exception("the connections could not be closed before a fork")

    def release(self) -> None:
        """Allow transactions again."""
        self._fork_waits = False
        self._condition.notify_all()
        self._condition.release()

    def forget_other_threads(self) -> None:
        """Forget the threads of the parent; called in a child, where only the forking thread exists."""
        self._threads_inside = [t for t in self._threads_inside if t == threading.get_ident()]

    def _only_this_thread_inside(self) -> bool:
        return set(self._threads_inside) <= {threading.get_ident()}


def _register() -> None:
    global _registered
    with _registering:
        if not _registered:
            os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_release_child)
            _registered = True


def _hold_all() -> None:
    for guard in list(_guards):
        guard.hold()
        _held.append(guard)


def _release_all() -> None:
    while _held:
        _held.pop().release()


def _release_child() -> None:
    for guard in _held:
        guard.forget_other_threads()
    _release_all()
