"""Disk cache with a size limit and LRU eviction."""

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

_WRITING_PREFIX = ".writing-"
_REMOVING_PREFIX = ".leaving-"
_LOCK = ".lock"


class LocalCache:
    """A disk cache of folders under keys, with LRU eviction.

    Safe to share between processes. Entries are added atomically and never change, so a key must always
    have the same content. An entry may be evicted at any time: mapped and opened files stay readable, and
    readers treat a missing file as a missing entry.

    Args:
        folder: Folder of the entries; created if missing.
        max_bytes: Size limit of all entries together; a larger entry is not kept.

    Attributes:
        hits: Number of lookups by this object that found an entry.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self.hits = 0
        self.misses = 0

    def fits(self, size_bytes: int) -> bool:
        """Return whether an entry of this size fits."""
        return size_bytes <= self._max_bytes

    def find(self, key: str) -> Path | None:
        """Return the folder of an entry and mark it as used, or None."""
        entry = self._entry(key)
        try:
            _mark_used(entry)
        except OSError:  # there is no entry, or its folder is not writable
            self.misses += 1
            return None
        self.hits += 1
        return entry

    @contextlib.contextmanager
    def adding(self, key: str) -> Iterator[Path]:
        """Provide an empty folder that becomes the entry if the block succeeds.

        The folder is discarded if the entry already exists, or if the folder exceeds `max_bytes`.

        Raises:
            OSError: The entry cannot be written.
        """
        with self._new_folder() as folder:
            yield folder
            for file in folder.iterdir():
                _synchronise(file)
            with self._exclusive_lock():
                self._publish(folder, self._entry(key))

    def discard(self, key: str) -> None:
        """Remove a damaged entry, if it exists."""
        with self._exclusive_lock(), contextlib.suppress(FileNotFoundError):
            self._remove(self._entry(key))

    def _entry(self, key: str) -> Path:
        return self._folder / hashlib.sha256(key.encode()).hexdigest()

    @contextlib.contextmanager
    def _exclusive_lock(self) -> Iterator[None]:
        """Lock the cache against other processes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def _new_folder(self) -> Iterator[Path]:
        """Create a folder and hold its lock; an unlocked folder was left behind by a crashed process."""
        with contextlib.ExitStack() as stack:
            with self._exclusive_lock():
                self._sweep()
                folder = self._folder / f"{_WRITING_PREFIX}{secrets.token_hex(8)}"
                folder.mkdir()
                stack.enter_context(locked(folder))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            yield folder

    def _sweep(self) -> None:
        """Remove the unfinished entries of dead processes."""
        for folder in self._folder.glob(f"{_WRITING_PREFIX}*"):
            with contextlib.suppress(OSError), locked(folder):
                shutil.rmtree(folder)
        for folder in self._folder.glob(f"{_REMOVING_PREFIX}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _publish(self, folder: Path, entry: Path) -> None:
        size_bytes = _size_bytes(folder)
        if entry.exists() or size_bytes > self._max_bytes:
            return
        self._evict_to(self._max_bytes - size_bytes)
        _mark_used(folder)
        folder.rename(entry)

    def _evict_to(self, max_bytes: int) -> None:
        """Evict least recently used entries until the remaining ones have at most `max_bytes`."""
        entries = [entry for entry in self._folder.iterdir() if not entry.name.startswith(".")]
        for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime_ns, reverse=True):
            max_bytes -= _size_bytes(entry)
            if max_bytes < 0:
                self._remove(entry)

    def _remove(self, entry: Path) -> None:
        # Rename first, so that no reader finds a half-deleted entry.
        renamed = entry.rename(self._folder / f"{_REMOVING_PREFIX}{secrets.token_hex(8)}")
        shutil.rmtree(renamed, ignore_errors=True)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock; it is released even if this process is killed.

    Raises:
        OSError: Another process holds it, or has removed the folder.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink == 0:  # removed between the two calls
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        yield
    finally:
        os.close(descriptor)


def _mark_used(folder: Path) -> None:
    # Without `ns`, the file system's own clock is used, whose resolution is milliseconds.
    now = time.time_ns()
    os.utime(folder, ns=(now, now))


def _synchronise(file: Path) -> None:
    # After a machine crash, an entry must not exist without its bytes.
    with file.open("rb") as opened:
        os.fsync(opened.fileno())


def _size_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())
