"""Files that appear when they are complete."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rankery.errors import FileUnusable


@contextmanager
def opened_for_writing(target: Path) -> Iterator[IO[bytes]]:
    """Write a file beside its place, and put it there at the end; nothing is left where that fails.

    Raises:
        FileUnusable: It cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            part.chmod(0o666 & ~_umask())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise FileUnusable(f"{target} cannot be written: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
