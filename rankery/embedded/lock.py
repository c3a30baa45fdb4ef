"""Lock a data folder and record the service's URL."""

import fcntl
import os
import time
from pathlib import Path

from rankery.errors import StackError

LOCK_NAME = "serve.lock"
_MAX_URL_BYTES = 1024
# `is_taken` in another process holds a shared lock for some microseconds.
_MAX_WAIT_SECONDS = 0.2
_POLL_SECONDS = 0.01


class DataFolderInUse(StackError):
    """Raised when another service holds the data folder."""


class DataFolderLock:
    """An exclusive lock on a data folder, held as long as this process lives or until `release`.

    The kernel releases the lock when the process ends, so a stale lock cannot exist. The holder writes the
    URL of its service into the lock file, for other commands.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process holds the lock."""
        return self._descriptor is not None

    def acquire(self) -> None:
        """Create the folder if needed and acquire the lock.

        Raises:
            DataFolderInUse: Another service uses the folder.
            StackError: The folder cannot be written or locked.
        """
        try:
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._data_dir / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StackError(f"cannot use the data folder {self._data_dir}: {error.strerror}") from error
        try:
            _lock_with_retries(descriptor)
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                url = self.read_url()
                raise DataFolderInUse(
                    f"the data folder {self._data_dir} is in use by another rankery service"
                    f"{'' if url is None else f' at {url}'}; choose another with --data-dir"
                ) from error
            raise StackError(
                f"the data folder {self._data_dir} cannot be locked: {error.strerror}; choose one on a local"
                " disk with --data-dir"
            ) from error
        self._descriptor = descriptor
        self.write_url("")

    def is_taken(self) -> bool:
        """Return whether a service, perhaps still starting, holds the lock; nothing is created."""
        try:
            with (self._data_dir / LOCK_NAME).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def write_url(self, url: str) -> None:
        """Write the URL of the service into the lock file if this process holds the lock; "" clears it.

        Raises:
            StackError: The file cannot be written.
        """
        if self._descriptor is None:
            return
        try:
            os.truncate(self._descriptor, 0)
            os.pwrite(self._descriptor, url.encode(), 0)
        except OSError as error:
            raise StackError(f"cannot write to the data folder {self._data_dir}: {error.strerror}") from error

    def read_url(self) -> str | None:
        """Return the URL in the lock file; it is stale if no process holds the lock."""
        try:
            with (self._data_dir / LOCK_NAME).open("rb") as file:
                return file.read(_MAX_URL_BYTES).decode() or None
        except (OSError, UnicodeDecodeError):
            return None

    def release(self) -> None:
        """Release the lock; the file stays, since removing it would race with the next owner."""
        if self._descriptor is not None:
            self.write_url("")
            os.close(self._descriptor)
            self._descriptor = None


def _lock_with_retries(descriptor: int) -> None:
    """Acquire the exclusive lock with retries; raise `BlockingIOError` if another process keeps it."""
    deadline = time.monotonic() + _MAX_WAIT_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_POLL_SECONDS)
        else:
            return
