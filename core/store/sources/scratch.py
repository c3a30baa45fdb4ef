"""Folders of unfinished downloads, which another process can resume."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.store.artifacts.local_cache import locked

_KEPT_SECONDS = 24 * 3600.0  # for jobs that were lost and not resumed


class PartialFile:
    """A partially downloaded file, with a record of its version in a file beside it.

    Args:
        path: Path of its bytes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version_file = path.with_name(f".{path.name}.json")

    @property
    def size_bytes(self) -> int:
        """The bytes downloaded so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def recorded_version(self) -> dict[str, Any] | None:
        """Return the recorded version of the remote file, or None."""
        try:
            version: dict[str, Any] = json.loads(self._version_file.read_text())
        except (OSError, ValueError):
            return None
        return version

    def record_version(self, version: dict[str, Any]) -> None:
        """Record the version of the remote file that the downloaded bytes belong to."""
        temporary = self._version_file.with_suffix(".new")
        temporary.write_text(json.dumps(version))
        temporary.replace(self._version_file)

    def free_bytes(self) -> int:
        """Return the free space on the disk of the partial file."""
        return shutil.disk_usage(self.path.parent).free


@contextlib.contextmanager
def scratch_folder(folder: Path, key: str) -> Iterator[Path]:
    """Provide the folder of a key, which is kept when the process is killed or the block is interrupted.

    The caller removes it by `shutil.rmtree` when the downloads are no longer needed. If another process
    holds or removes the folder, such as one that lost its job without noticing, a temporary folder is
    provided.

    Args:
        folder: Parent of all such folders; created if missing. Folders unused for a day are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key_folder = folder / hashlib.sha256(key.encode()).hexdigest()[:32]
    _remove_old(folder, key_folder)
    with contextlib.ExitStack() as stack:
        try:
            key_folder.mkdir(exist_ok=True)
            stack.enter_context(locked(key_folder))
        except OSError:
            key_folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rankery-", dir=folder)))
            stack.enter_context(locked(key_folder))
        os.utime(key_folder)
        yield key_folder


def _remove_old(folder: Path, key_folder: Path) -> None:
    for other in folder.iterdir():
        with contextlib.suppress(OSError):
            if other != key_folder and time.time() - other.stat().st_mtime > _KEPT_SECONDS:
                with locked(other):
                    shutil.rmtree(other, ignore_errors=True)
