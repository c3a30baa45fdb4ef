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
        self._record = path.with_name(f".{path.name}.json")

    @property
    def size_bytes(self) -> int:
        """The bytes downloaded so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def record(self) -> dict[str, Any] | None:
        """Return the recorded version, or None."""
        try:
            kept: dict[str, Any] = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return None
        return kept

    def keep(self, record: dict[str, Any]) -> None:
        """Record the version."""
        temporary = self._record.with_suffix(".new")
        temporary.write_text(json.dumps(record))
        temporary.replace(self._record)

    def free_bytes(self) -> int:
        """Return the free space on its disk."""
        return shutil.disk_usage(self.path.parent).free


@contextlib.contextmanager
def scratch_folder(folder: Path, key: str) -> Iterator[Path]:
    """Provide the folder of a key, which is kept when the process is killed or the block is interrupted.

    The caller removes it by `shutil.rmtree` when the downloads are no longer needed. If another process
    holds or removes the folder, such as one that lost its job without noticing, a temporary folder is
    provided.

    Args:
        folder: Parent of all such folders; created if missing. Folders unused for a day are removed.
        key: Key of the downloads.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / hashlib.sha256(key.encode()).hexdigest()[:32]
    _remove_old(folder, own)
    with contextlib.ExitStack() as stack:
        try:
            own.mkdir(exist_ok=True)
            stack.enter_context(locked(own))
        except OSError:
            own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rankery-", dir=folder)))
            stack.enter_context(locked(own))
        os.utime(own)
        yield own


def _remove_old(folder: Path, own: Path) -> None:
    for other in folder.iterdir():
        with contextlib.suppress(OSError):
            if other != own and time.time() - other.stat().st_mtime > _KEPT_SECONDS:
                with locked(other):
                    shutil.rmtree(other, ignore_errors=True)
