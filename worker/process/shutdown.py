"""Shutdown flag shared by a worker and its pool processes."""

import mmap


class StopFlag:
    """One bit shared by the worker's parent process and the pool processes forked from it.

    Celery's warm shutdown waits for running tasks but tells them nothing; with this a running job can be
    handed back at once. It lives in anonymous shared memory, so nothing is left behind however processes end.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def set(self) -> None:
        """Announce the shutdown to every process. Safe to call from a signal handler."""
        self._memory[0] = 1

    def is_set(self) -> bool:
        """Return whether the shutdown was announced."""
        return self._memory[0] == 1
