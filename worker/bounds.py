"""How long a job may run, and how much memory it may take."""

import contextlib
import time
from pathlib import Path
from typing import Any

from worker.settings import WorkerSettings

_STATUS = Path("/proc/self/status")
_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
_MACHINE = Path("/proc/meminfo")
_KIBIBYTE = 1024
_DEFAULT_SHARE = 0.85


class LimitReached(Exception):
    """A job has reached one of its limits.

    Attributes:
        problem: What its user is told.
    """

    def __init__(self, title: str, detail: str) -> None:
        self.problem = {"title": title, "detail": detail}
        super().__init__(detail)


class Bounds:
    """The limits of one job while it runs here.

    Memory is what the job has added to this process, files mapped into it left out. It is known on Linux
    only; elsewhere it is not bounded.

    Args:
        asked: The job's own limits, `{"seconds", "memory_bytes"}`, each None where the worker's apply.
        settings: The worker's limits.
        spent_seconds: How long earlier attempts ran.
    """

    def __init__(self, asked: dict[str, Any] | None, settings: WorkerSettings, spent_seconds: float) -> None:
        asked = asked or {}
        self._seconds = _least(asked.get("seconds"), settings.job_seconds)
        self._memory_bytes = _least(
            asked.get("memory_bytes"), settings.job_memory_bytes or default_memory_bytes()
        )
        self._started_at = time.monotonic() - spent_seconds
        self._memory_before = memory_bytes() or 0

    def check(self) -> None:
        """Look at the clock and at the memory of this process.

        Raises:
            LimitReached: The job has had enough of either.
        """
        if self._seconds is not None and time.monotonic() - self._started_at > self._seconds:
            raise LimitReached("Time limit", f"The job ran for its limit of {self._seconds:g} seconds.")
        taken = (memory_bytes() or 0) - self._memory_before
        if self._memory_bytes is not None and taken > self._memory_bytes:
            raise LimitReached(
                "Memory limit",
                f"The job took {_mebibytes(taken)}, its limit is {_mebibytes(self._memory_bytes)}.",
            )


def memory_bytes() -> int | None:
    """Return the memory of this process that is not mapped from files, None where it cannot be known."""
    found = _read_kibibytes(_STATUS, "RssAnon:")
    return None if found is None else found * _KIBIBYTE


def default_memory_bytes() -> int | None:
    """Return most of what this machine or its control group has, None where it cannot be known."""
    machine = _read_kibibytes(_MACHINE, "MemTotal:")
    bounds = [] if machine is None else [machine * _KIBIBYTE]
    with contextlib.suppress(OSError, ValueError):  # no control group, or one without a bound
        bounds.append(int(_CONTROL_GROUP.read_text()))
    return int(min(bounds) * _DEFAULT_SHARE) if bounds else None


def _least(*bounds: float | None) -> float | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _read_kibibytes(path: Path, name: str) -> int | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), None)


def _mebibytes(size_bytes: float) -> str:
    return f"{size_bytes / 2**20:,.0f} MiB"
