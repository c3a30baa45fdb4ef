"""Time and memory limits of a job."""

import time

from core.jobs import JobLimits
from core.machine import process_memory_bytes
from worker.settings import WorkerSettings


class LimitReached(Exception):
    """Raised when a job reaches a time or memory limit.

    Attributes:
        problem: Title and detail for the user.
    """

    def __init__(self, title: str, detail: str) -> None:
        self.problem = {"title": title, "detail": detail}
        super().__init__(detail)


class Bounds:
    """Time and memory limits of a running job.

    Memory is counted from the start of the job in this process, without mapped files. It is measured on Linux
    only; elsewhere only planned allocations are limited.

    Args:
        requested: Limits that the job requested, or None; the stricter of the job's and the worker's applies.
        spent_seconds: Running time of earlier attempts.
    """

    def __init__(
        self, kind: str, requested: JobLimits | None, settings: WorkerSettings, spent_seconds: float
    ) -> None:
        requested = requested or JobLimits()
        self.seconds = _least(requested.seconds, settings.job_seconds)
        self.memory_bytes = _least(requested.memory_bytes, settings.memory_per_job(kind))
        self._started_at = time.monotonic() - spent_seconds
        self._memory_before = process_memory_bytes() or 0

    def check(self) -> None:
        """Raise if the job exceeds its time or memory limit.

        Raises:
            LimitReached: The job exceeds a limit.
        """
        if self.seconds is not None and time.monotonic() - self._started_at > self.seconds:
            raise LimitReached("Time limit", f"The job exceeded its time limit of {self.seconds:g} seconds.")
        used_bytes = self.used_bytes()
        if self.memory_bytes is not None and used_bytes is not None and used_bytes > self.memory_bytes:
            raise LimitReached(
                "Memory limit",
                f"The job used {_mebibytes(used_bytes)} of memory;"
                f" its limit is {_mebibytes(self.memory_bytes)}.",
            )

    def used_bytes(self) -> int | None:
        """Return the memory that the job has added to this process, or None if unknown."""
        now = process_memory_bytes()
        return None if now is None else max(0, now - self._memory_before)

    def require_memory(self, needed_bytes: int, reason: str) -> None:
        """Raise if a planned allocation would exceed the job's memory limit.

        Args:
            needed_bytes: Memory to allocate in addition to the present use.
            reason: First sentence of the message for the user, without the full stop, such as "This training
                needs about 3 GiB".

        Raises:
            LimitReached: The allocation would exceed the limit.
        """
        if self.memory_bytes is None or (self.used_bytes() or 0) + needed_bytes <= self.memory_bytes:
            return
        raise LimitReached(
            "Memory limit",
            f"{reason}. The job's limit is {_mebibytes(self.memory_bytes)}. Raise RANKERY_JOB_MEMORY_BYTES or"
            " the job's own limit, or train on fewer documents or features.",
        )


def _least(*bounds: float | None) -> float | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _mebibytes(size_bytes: float) -> str:
    return f"{size_bytes / 2**20:,.0f} MiB"
