"""Whether a text names a file or a folder of this machine."""

import stat
from pathlib import Path

from rankery.errors import FileUnusable


def is_file(path: str | Path) -> bool:
    """Return whether a path is a file; a text that no path can be, such as a very long name, is none.

    Raises:
        FileUnusable: A folder of the path may not be searched.
    """
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Return whether a path is a folder; see `is_file`.

    Raises:
        FileUnusable: A folder of the path may not be searched.
    """
    return stat.S_ISDIR(_mode(path))


def _mode(path: str | Path) -> int:
    try:
        return Path(path).stat().st_mode
    except PermissionError as error:
        raise FileUnusable(f"{path} cannot be read: {error.strerror}") from error
    except (OSError, ValueError):
        return 0
