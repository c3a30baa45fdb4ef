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
    """Yield the peak memory in bytes of any process among a process and its descendants.

    `RssAnon` is anonymous memory, `VmRSS` includes mapped pages.
    """
    peaks = {"RssAnon": 0, "VmRSS": 0}

    def look() -> None:
        for each in _descendants(process):
            for field in peaks:
                peaks[field] = max(peaks[field], memory_bytes(each, field))

    with polling(look, _LOOK_SECONDS, "memory"):
        yield peaks


@contextmanager
def memory_by_name(process: int, peaks: dict[str, int]) -> Iterator[None]:
    """Record the peak anonymous memory of a process and its descendants by process name, during the block.

    Args:
        process: Process id.
        peaks: Mapping that receives the bytes by name.
    """

    def look() -> None:
        for each in _descendants(process):
            with contextlib.suppress(OSError):
                name = Path(f"/proc/{each}/comm").read_text().strip()
                peaks[name] = max(peaks.get(name, 0), memory_bytes(each, "RssAnon"))

    with polling(look, _LOOK_SECONDS, "memory"):
        yield


def memory_bytes(process: int | str, field: str) -> int:
    """Return a field of the status of a process in bytes, 0 if the process has ended."""
    return status_bytes(field, process) or 0


def _descendants(parent: int) -> list[int]:
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return []
    return [parent, *(process for child in map(int, children) for process in _descendants(child))]
