"""The disk of temporary files and of a worker's folder, which may be full."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import StoreFull

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def reporting_full_disk(
    content: str, folder: str = "the folder of temporary files (TMPDIR)"
) -> Iterator[None]:
    """Convert an error of a full disk in the block, which writes files.

    Args:
        content: Written content, for the message.
        folder: Folder of the files, for the message.

    Raises:
        StoreFull: The disk has no room for the content.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (*DISK_FULL, errno.EFBIG):
            raise
        raise StoreFull(f"{folder} has no room for {content}: {error}") from error
