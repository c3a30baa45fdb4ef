"""One service a data folder."""

import fcntl
import os
from pathlib import Path

from rankery.errors import StackError

LOCK_NAME = "serve.lock"


class DataFolderLock:
    """An exclusive lock on a data folder, held as long as this process lives or until `release`.

    The kernel drops it with the process, however that ends, so a stale lock cannot exist.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether the folder is ours."""
        return self._descriptor is not None

    def acquire(self) -> None:
        """Create the folder where needed and take the lock.

        Raises:
            StackError: Another service uses the folder, or it cannot be written.
        """
        try:
            self._data_dir.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._data_dir / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StackError(f"cannot use the data folder {self._data_dir}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise StackError(
                f"the data folder {self._data_dir} is in use by another rankery service; "
                "choose another with --data-dir"
            ) from error
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others have the folder. The file stays: removing it would race with the next owner."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
