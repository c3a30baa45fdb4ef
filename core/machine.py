"""Processors and memory available to this process, within the limits of its container."""

import ctypes
import math
import os
import sys
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_MEMORY = Path("/proc/meminfo")
_KIBIBYTE = 1024


@dataclass(frozen=True)
class ControlGroups:
    """The control groups of this process on Linux, of version 1, 2 or both; elsewhere there are none.

    A limit of a group also applies to all groups below it. In a container, the path of a group may be the
    path on the host, though only its last folder is mounted: missing folders are skipped.

    Attributes:
        root: Mount point of the groups.
    """

    membership: Path = Path("/proc/self/cgroup")
    root: Path = Path("/sys/fs/cgroup")

    def cpus(self) -> float:
        """Return the limit of processors, infinity without a limit.

        The limit is the quota of CPU time or the number of processors in the CPU set, whichever is less.
        """
        quota = min(map(_cpus_of, self._folders("cpu")), default=math.inf)
        return min(quota, min(map(_cpu_set_size, self._folders("cpuset")), default=math.inf))

    def memory_bytes(self) -> float:
        """Return the limit of memory, infinity without a limit."""
        return min(map(_memory_of, self._folders("memory")), default=math.inf)

    def _folders(self, controller: str) -> Iterator[Path]:
        for line in _lines(self.membership):
            _, controllers, path = line.split(":", 2)
            if not controllers:
                mounts = {self.root, self.root / "unified"}
            elif controller in controllers.split(","):
                mounts = {self.root / controller, self.root / controllers}
            else:
                continue
            group = PurePosixPath(path.lstrip("/"))
            groups = [group, *group.parents] if ".." not in group.parts else [PurePosixPath()]
            yield from (mount / group for mount in mounts for group in groups)


def available_cpus(groups: ControlGroups | None = None) -> int:
    """Return the number of available processors, rounded up and at least one."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = (groups or ControlGroups()).cpus()
    return max(1, math.ceil(min(allowed, limit)))


def limit_threads(environment: MutableMapping[str, str] = os.environ, requested: int | None = None) -> None:
    """Limit the threads of OpenMP, kernels, BLAS and Arrow to the available processors.

    These libraries read the limit once, when they are imported. Variables that are set already keep
    their values.

    Args:
        environment: Environment of this process, or of one to start.
        requested: Number of threads to allow even if there are fewer processors, or None.
    """
    threads = str(max(available_cpus(), requested or 1))
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment.setdefault(variable, threads)


def available_memory_bytes(groups: ControlGroups | None = None) -> int | None:
    """Return the memory of the machine or the container, whichever is less; None if unknown."""
    sizes = (line.split() for line in _lines(_MEMORY) if line.startswith("MemTotal:"))
    machine = next((int(words[1]) * _KIBIBYTE for words in sizes), math.inf)
    least = min(machine, (groups or ControlGroups()).memory_bytes())
    return None if math.isinf(least) else int(least)


def _cpus_of(group: Path) -> float:
    # Version 2 has "quota period" in one file, version 1 has one file for each; no quota is "max", or -1.
    words = _words(group / "cpu.max") or _words(group / "cpu.cfs_quota_us", group / "cpu.cfs_period_us")
    if len(words) != 2 or not all(map(str.isdecimal, words)):
        return math.inf
    quota, period = map(int, words)
    return quota / max(period, 1)


def _cpu_set_size(group: Path) -> float:
    # Ranges such as "0-3,8"; a group without a set has an empty file, and its parent's effective set applies.
    words = _words(group / "cpuset.cpus.effective") or _words(group / "cpuset.cpus")
    spans = [span.split("-") for word in words for span in word.split(",")]
    if not spans or not all(part.isdecimal() for span in spans for part in span):
        return math.inf
    return sum(int(span[-1]) - int(span[0]) + 1 for span in spans)


def _memory_of(group: Path) -> float:
    # No limit is "max", or about 2**63, which is more than any machine has.
    words = _words(group / "memory.max") or _words(group / "memory.limit_in_bytes")
    return int(words[0]) if words and words[0].isdecimal() else math.inf


def _words(*files: Path) -> list[str]:
    return [word for file in files for line in _lines(file) for word in line.split()]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def process_memory_bytes() -> int | None:
    """Return the anonymous memory of this process that is in RAM, or None if unknown."""
    return status_bytes("RssAnon")


def peak_memory_bytes() -> int | None:
    """Return the peak memory of this process in RAM, including mapped files; None if unknown.

    `getrusage` is not used: its `ru_maxrss` begins with the memory of the parent process.
    """
    return status_bytes("VmHWM")


def release_heap() -> None:
    """Give freed heap memory of the C library back to the operating system, if it is glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is not None:
        trim(0)


def status_bytes(field: str, process: int | str = "self") -> int | None:
    """Return a field of a process's status in bytes; None if unknown, or the process has ended.

    Args:
        field: Name of a field in kilobytes, such as `VmHWM`, the peak memory.
    """
    for line in _lines(Path(f"/proc/{process}/status")):
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * _KIBIBYTE
    return None
