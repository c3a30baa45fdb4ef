"""Folders of downloads under way, which outlive the process that began them."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LOCK = ".lock"
_KEPT_SECONDS = 24 * 3600.0  # of a job that was lost and never came back


class PartialFile:
    """A file that is being downloaded, with what is known of its version beside it.

    Args:
        path: Where its bytes are.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._record = path.with_name(f".{path.name}.json")

    @property
    def size_bytes(self) -> int:
        """The bytes that are there."""
        return self.path.stat().st_size if self.path.exists() else 0

    def record(self) -> dict[str, Any] | None:
        """Return what was kept of the version, None where nothing was."""
        try:
            kept: dict[str, Any] = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return None
        return kept

    def keep(self, record: dict[str, Any]) -> None:
        """Keep what is known of the version."""
        temporary = self._record.with_suffix(".new")
        temporary.write_text(json.dumps(record))
        temporary.replace(self._record)

    def free_bytes(self) -> int:
        """Return the free space on its disk."""
        return shutil.disk_usage(self.path.parent).free


@contextlib.contextmanager
def scratch_folder(folder: Path, key: str) -> Iterator[Path]:
    """Provide the folder of a key; it stays when the process is killed or the block is interrupted.

    The caller removes it by `shutil.rmtree` when the downloads are not needed any more. Where another process
    has the folder, as one that lost its job and is yet to hear of it, a temporary one is provided.

    Args:
        folder: Of all such folders; made where it is missing. Those left for a day are removed.
        key: Of the downloads.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / hashlib.sha256(key.encode()).hexdigest()[:32]
    _remove_old(folder, own)
    own.mkdir(exist_ok=True)
    with _lock_of(own) as is_free:
        if is_free:
            os.utime(own)
            yield own
            return
    with tempfile.TemporaryDirectory(prefix="rankery-", dir=folder) as temporary:
        yield Path(temporary)


@contextlib.contextmanager
def _lock_of(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder, where it is free, until the block or the process ends."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _remove_old(folder: Path, own: Path) -> None:
    for other in folder.iterdir():
        with contextlib.suppress(OSError):
            if other != own and time.time() - other.stat().st_mtime > _KEPT_SECONDS:
                with _lock_of(other) as is_free:
                    if is_free:
                        shutil.rmtree(other, ignore_errors=True)
