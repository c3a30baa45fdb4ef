"""A small disk that a test can fill."""

import contextlib
import errno
import os
import resource
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

SIZE = "400m"
_BLOCK = bytes(2**20)


class Disk(Protocol):
    """A folder in which writes can be made to fail.

    Attributes:
        method: Method by which writes fail, for the report.
    """

    method: str

    def fill(self) -> None:
        """Make all writes fail."""

    def free(self) -> None:
        """Let writes succeed again."""


class MountedDisk:
    """A separate file system; a large file fills it."""

    method = "a mounted file system filled up"

    def __init__(self, folder: Path) -> None:
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Fill the file system."""
        with self._filler.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(_BLOCK)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def free(self) -> None:
        """Remove the large file."""
        self._filler.unlink(missing_ok=True)


class LimitedProcesses:
    """Processes that cannot write to any file (`RLIMIT_FSIZE`), for machines that cannot mount a disk.

    Args:
        processes: Returns the ids of the processes at that moment.
    """

    method = "RLIMIT_FSIZE of 0 on every process"

    def __init__(self, processes: Callable[[], Iterable[int]]) -> None:
        self._processes = processes

    def fill(self) -> None:
        """Limit the size of files to 0 bytes."""
        self._limit(0)

    def free(self) -> None:
        """Remove the limit of the size of files."""
        self._limit(resource.RLIM_INFINITY)

    def _limit(self, size_bytes: int) -> None:
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size_bytes, resource.RLIM_INFINITY))


NOT_MOUNTED = "no small disk can be mounted: run as root with the capability SYS_ADMIN"


@contextlib.contextmanager
def mounted(folder: Path, size: str = SIZE) -> Iterator[bool]:
    """Mount a small file system on a folder if that is allowed; yield whether it was mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    is_mounted = os.geteuid() == 0 and _runs(
        "mount", "-t", "tmpfs", "-o", f"size={size}", "rankery", str(folder)
    )
    try:
        yield is_mounted
    finally:
        if is_mounted:
            _runs("umount", "--lazy", str(folder))


def _runs(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
