"""Memory of the service's processes, as Linux tells it."""

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOOK_SECONDS = 0.05
_KIBIBYTE = 1024


@contextmanager
def peak_memory(process: int) -> Iterator[dict[str, int]]:
    """Follow a process and its descendants: the most bytes that one of them holds.

    `RssAnon` is memory of its own, `VmRSS` has mapped pages beside.
    """
    most = {"RssAnon": 0, "VmRSS": 0}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            for each in _descendants(process):
                for field in most:
                    most[field] = max(most[field], memory_bytes(each, field))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()


@contextmanager
def memory_by_name(process: int, most: dict[str, int]) -> Iterator[None]:
    """Follow a process and its descendants: the most memory of their own, by the names that they have then.

    Args:
        process: Its number.
        most: Where the bytes are noted.
    """
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            for each in _descendants(process):
                with contextlib.suppress(OSError):
                    name = Path(f"/proc/{each}/comm").read_text().strip()
                    most[name] = max(most.get(name, 0), memory_bytes(each, "RssAnon"))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def memory_bytes(process: int | str, field: str) -> int:
    """Return a field of a process's status in bytes, 0 where the process has ended.

    Args:
        process: Its number, or `self`.
        field: Such as `VmHWM`, its peak.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * _KIBIBYTE for line in lines if line.startswith(f"{field}:")), 0)


def _descendants(parent: int) -> list[int]:
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return []
    return [parent, *(process for child in map(int, children) for process in _descendants(child))]
