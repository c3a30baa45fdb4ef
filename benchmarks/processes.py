"""Memory of the service's processes, as Linux reports it."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.machine import status_bytes
from core.polling import polling

_LOOK_SECONDS = 0.05


@contextmanager
def peak_memory(process: int) -> Iterator[dict[str, int]]:
    """Follow a process and its descendants: the most bytes that one of them holds.

    `RssAnon` is anonymous memory, `VmRSS` includes mapped pages.
    """
    most = {"RssAnon": 0, "VmRSS": 0}

    def look() -> None:
        for each in _descendants(process):
            for field in most:
                most[field] = max(most[field], memory_bytes(each, field))

    with polling(look, _LOOK_SECONDS, "memory"):
        yield most


@contextmanager
def memory_by_name(process: int, most: dict[str, int]) -> Iterator[None]:
    """Follow a process and its descendants: the most anonymous memory by process name.

    Args:
        process: Its number.
        most: Where the bytes are noted.
    """

    def look() -> None:
        for each in _descendants(process):
            with contextlib.suppress(OSError):
                name = Path(f"/proc/{each}/comm").read_text().strip()
                most[name] = max(most.get(name, 0), memory_bytes(each, "RssAnon"))

    with polling(look, _LOOK_SECONDS, "memory"):
        yield


def memory_bytes(process: int | str, field: str) -> int:
    """Return a field of a process's status in bytes, 0 where the process has ended."""
    return status_bytes(field, process) or 0


def _descendants(parent: int) -> list[int]:
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return []
    return [parent, *(process for child in map(int, children) for process in _descendants(child))]
