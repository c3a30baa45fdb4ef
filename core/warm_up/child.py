"""Compile parts of the kernels: `python -m core.warm_up.child <pid of the parent> <part…>`."""

import gc
import sys
import time
from collections.abc import Sequence

from core.kernel_cache import KernelCache, exclusive
from core.subprocesses import die_with_parent
from core.warm_up.parts import PARTS, Part, missing_parts

_POLL_SECONDS = 0.05
# The compiler creates few reference cycles, but garbage collection took a twentieth of its time.
_OBJECTS_PER_COLLECTION = 100_000


def main(parent_pid: int, names: Sequence[str]) -> None:
    """Compile the named parts until each is compiled, by this or another process."""
    die_with_parent(parent_pid)
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    failures: dict[Part, Exception] = {}
    parts = [part for part in PARTS if part.name in names]
    while waiting := [part for part in missing_parts(parts) if part not in failures]:
        is_compiled = False
        for part in _independent(waiting):
            try:
                is_compiled = _compile(part)
            except Exception as error:  # noqa: BLE001 - reported once the others are compiled
                failures[part] = error
            if is_compiled:
                break
        if not is_compiled:
            time.sleep(_POLL_SECONDS)
    for failure in failures.values():
        raise failure


def _independent(waiting: Sequence[Part]) -> list[Part]:
    """Return the parts that call no kernels of other waiting parts."""
    functions = {part.warm_up for part in waiting}
    return [part for part in waiting if functions.isdisjoint(part.after)]


def _compile(part: Part) -> bool:
    """Compile a part; return False if another process is compiling it."""
    try:
        with exclusive(part.lock, wait=False):
            if not part.mark.exists():
                part.warm_up()
                if KernelCache.failures:
                    raise KernelCache.failures[-1]
                part.mark.touch()
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
