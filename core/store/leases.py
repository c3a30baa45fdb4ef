"""Detect lost workers by heartbeats, measured with a monotonic clock."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from core.store.tables import Job


@dataclass(frozen=True)
class _Heartbeat:
    """The last observed renewal of a lease.

    Attributes:
        expires_at: End of the lease, which each renewal changes.
        seen_at: Monotonic time at which this `expires_at` was first seen.
    """

    token: int
    expires_at: datetime | None
    seen_at: float


class LeaseWatch:
    """Time since the last heartbeat of each running job.

    The worker writes the end of a lease by its wall clock, which may differ from the clock of this machine
    or be adjusted meanwhile. With wall clocks alone, after a clock was set back, a dead worker would keep its
    job. With a clock set forward, a live worker would lose its job. Each renewal changes the row and counts
    as a heartbeat; this class measures the time since the heartbeat by a monotonic clock.

    Args:
        lease_seconds: A job without a heartbeat for this long is lost, regardless of wall clocks.
        watch_seconds: A job whose lease has expired by the wall clock is lost after this long without a
            heartbeat; longer than the interval of heartbeats.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self, lease_seconds: float, watch_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lease_seconds = lease_seconds
        self._watch_seconds = min(watch_seconds, lease_seconds)
        self._clock = clock
        self._heartbeats: dict[str, _Heartbeat] = {}

    def lost(self, running: Iterable[Job], now: datetime) -> list[Job]:
        """Return the jobs without a recent heartbeat.

        Args:
            running: All running jobs; heartbeats of other jobs are forgotten.
            now: The wall clock's time.
        """
        jobs = list(running)
        self._heartbeats = {job.id: self._latest(job) for job in jobs}
        return [job for job in jobs if self._is_lost(self._heartbeats[job.id], now)]

    def _latest(self, job: Job) -> _Heartbeat:
        last = self._heartbeats.get(job.id)
        if last is not None and (last.token, last.expires_at) == (job.token, job.lease_expires_at):
            return last
        return _Heartbeat(job.token, job.lease_expires_at, self._clock())

    def _is_lost(self, heartbeat: _Heartbeat, now: datetime) -> bool:
        silent_seconds = self._clock() - heartbeat.seen_at
        if heartbeat.expires_at is None or heartbeat.expires_at < now:
            return silent_seconds >= self._watch_seconds
        return silent_seconds >= self._lease_seconds
