"""Time and memory limits of a job."""

import time

from core.jobs import JobLimits
from core.machine import process_memory_bytes
from worker.settings import WorkerSettings


class LimitReached(Exception):
    """Raised when a job reaches a time or memory limit.

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

    Attributes:
        seconds: How long it may run, or None.
        memory_bytes: How much memory it may take, or None.

    Args:
        kind: What the job does.
        asked: The job's own limits, None where the worker's apply.
        settings: The worker's limits.
        spent_seconds: How long earlier attempts ran.
    """

    def __init__(
        self, kind: str, asked: JobLimits | None, settings: WorkerSettings, spent_seconds: float
    ) -> None:
        asked = asked or JobLimits()
        self.seconds = _least(asked.seconds, settings.job_seconds)
        self.memory_bytes = _least(asked.memory_bytes, settings.memory_per_job(kind))
        self._started_at = time.monotonic() - spent_seconds
        self._memory_before = process_memory_bytes() or 0

    def check(self) -> None:
        """Raise if the job exceeds its time or memory limit.

        Raises:
            LimitReached: The job has had enough of either.
        """
        if self.seconds is not None and time.monotonic() - self._started_at > self.seconds:
            raise LimitReached("Time limit", f"The job ran for its limit of {self.seconds:g} seconds.")
        taken = self.taken_bytes()
        if self.memory_bytes is not None and taken is not None and taken > self.memory_bytes:
            raise LimitReached(
                "Memory limit",
                f"The job took {_mebibytes(taken)}, its limit is {_mebibytes(self.memory_bytes)}.",
            )

    def taken_bytes(self) -> int | None:
        """Return the memory that the job has added to this process, or None if unknown."""
        now = process_memory_bytes()
        return None if now is None else max(0, now - self._memory_before)

    def require_memory(self, needed_bytes: int, what: str) -> None:
        """Raise if the job cannot have the memory that it is about to need.

        Args:
            needed_bytes: Beside what it holds already.
            what: Needs it, and what for, to be told to the user.

        Raises:
            LimitReached: Its limit is lower.
        """
        if self.memory_bytes is None or (self.taken_bytes() or 0) + needed_bytes <= self.memory_bytes:
            return
        raise LimitReached(
            "Memory limit",
            f"{what}, the job's limit is {_mebibytes(self.memory_bytes)}. Raise RANKERY_JOB_MEMORY_BYTES or"
            " the job's own limit, or train on fewer documents or features.",
        )


def _least(*bounds: float | None) -> float | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _mebibytes(size_bytes: float) -> str:
    return f"{size_bytes / 2**20:,.0f} MiB"
