"""Spool the rows of parts to the disk until all parts are read."""

import errno
import mmap
import tempfile
from dataclasses import replace
from types import TracebackType

import numpy as np

from core.data.part_files.part import Part
from core.errors import StoreFull

_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)


class PartSpool:
    """Parts whose rows are in one unlinked file in the folder of temporary files (`TMPDIR`).

    Parts may be added in any order. Usable as a context manager.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the spool
        self._parts: dict[int, tuple[Part, slice]] = {}
        self._written = 0

    def __enter__(self) -> "PartSpool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, position: int, part: Part) -> None:
        """Store a part.

        Args:
            position: Position of the part among all parts, from 0.
            part: Part to store; its rows are written to the disk and released.

        Raises:
            StoreFull: The disk has no room for the rows.
        """
        try:
            self._file.write(part.rows.data)
            self._file.flush()
        except OSError as error:
            if error.errno in _DISK_FULL_ERRORS:
                raise StoreFull(
                    "the folder of temporary files (TMPDIR) has no room for the rows of all files"
                ) from error
            raise
        byte_range = slice(self._written, self._written + part.rows.size)
        self._parts[position] = replace(part, rows=np.empty(0, np.uint8)), byte_range
        self._written = byte_range.stop

    def parts(self) -> list[Part]:
        """Return all parts in order, with memory-mapped rows."""
        content = np.frombuffer(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        return [
            replace(part, rows=content[byte_range])
            for part, byte_range in (self._parts[position] for position in sorted(self._parts))
        ]
