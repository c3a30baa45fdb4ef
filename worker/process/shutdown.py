"""Shutdown flag shared by a worker and its pool processes."""

import mmap


class StopFlag:
    """One bit shared by the worker's parent process and the pool processes forked from it.

    Celery's warm shutdown waits for running tasks without notifying them. This flag lets a running job return
    to the queue immediately. The bit is in anonymous shared memory, which the operating system frees even if
    processes are killed.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def set(self) -> None:
        """Set the flag for every process. Safe to call from a signal handler."""
        self._memory[0] = 1

    def is_set(self) -> bool:
        """Return whether any process has set the flag."""
        return self._memory[0] == 1
