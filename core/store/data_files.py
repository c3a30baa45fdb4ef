"""Judged files in folders of the machine and in buckets, which are read without an upload."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.data.folders import DataRoots, FoundFiles, OpenFile
from core.errors import DatasetError
from core.store.buckets import SCHEME, Buckets
from core.types import OnProgress


class DataFiles:
    """Files below the roots that the operator allows.

    Args:
        roots: Folders and URLs of buckets, from the setting `data_roots`.
        patience_seconds: How long failed requests to a bucket are retried.
    """

    def __init__(self, roots: Sequence[Path | str], patience_seconds: float) -> None:
        self._folders = DataRoots(roots)
        self._buckets = Buckets(roots, patience_seconds)

    def find(self, folder: str, pattern: str) -> FoundFiles:
        """Find the files of a folder that match a pattern; see `DataRoots.find` and `Buckets.find`.

        Raises:
            InvalidInput: The folder may not be read, or does not hold 1 to 1,000 such files.
            StoreUnavailable: The storage of the bucket does not answer.
        """
        if folder.startswith(SCHEME):
            return self._buckets.find(folder, pattern)
        return self._folders.find(folder, pattern)

    @contextlib.contextmanager
    def opened(self, folder: str, name: str, on_bytes: OnProgress | None = None) -> Iterator[Path]:
        """Open a file that `find` found; objects of buckets are copied first.

        Args:
            folder: Folder that `find` returned.
            on_bytes: Called with the bytes copied and the total, for objects of buckets; may raise to stop.

        Raises:
            DatasetError: The file is missing or unreadable, or changes before the end of the block; an object
                of a bucket, before the end of the copy.
            StoreUnavailable: The storage of the bucket does not answer.
            StoreFull: The folder of temporary files is full.
        """
        with self._open(folder, name, on_bytes) as file:
            yield file.path
            if file.version and self._folders.version(file) != file.version:
                raise DatasetError.changed(name)

    def _open(
        self, folder: str, name: str, on_bytes: OnProgress | None
    ) -> contextlib.AbstractContextManager[OpenFile]:
        if folder.startswith(SCHEME):
            return self._buckets.opened(folder, name, on_bytes)
        return self._folders.opened(folder, name)
