"""Sweep: requeue jobs of lost workers, advance experiments and schedules, resend wake-ups, report liveness.

A sweep also frees the artifacts of deleted and expired objects.
"""

import math
import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import structlog

from core.errors import RankeryError, StoreUnavailable
from core.jobs.base import QUEUED
from core.store import Job, Store, Transaction, WakeUps
from core.store.clock import utc_now
from core.store.leases import LeaseWatch
from core.store.lifecycle.retention import RetentionPolicy, Upkeep
from core.worker_health import READY, WorkerHealth, WorkerHealthFile
from worker.process import experiments, schedules
from worker.settings import WorkerSettings

# A worker is lost after this many lease durations without a report.
_WORKER_TIMEOUT_LEASES = 3
# A job with an expired lease is lost after this many heartbeat intervals without a heartbeat.
_JOB_TIMEOUT_HEARTBEATS = 2
_EVENTS_SECONDS = 300.0  # interval of removing old events
_BATCH_EVENTS = 1_000
# Time limit of the upkeep in a sweep, which blocks the event loop of this process.
_UPKEEP_SECONDS = 1.0
_RETENTION_SECONDS = 3600.0
_LOG = structlog.stdlib.get_logger(__name__)


class Sweeper:
    """Sweeps on the event loop of the worker's parent process.

    A thread would be unsafe: the parent forks pool processes, and in a child forked while a thread holds one
    of SQLite's locks, the lock is never released. For the same reason the store has connections only during
    a sweep.

    Args:
        worker: Worker name, without the id of a pool process.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        worker: str,
        lane: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._worker = worker
        self._lane = lane
        self._reported_at = self._removed_events_at = -math.inf
        self._leases = LeaseWatch(
            settings.lease_seconds, _JOB_TIMEOUT_HEARTBEATS * settings.heartbeat_seconds, clock
        )
        self._upkeep = Upkeep(RetentionPolicy.of(settings), _RETENTION_SECONDS)
        self._wake_ups = WakeUps(settings.broker_url)
        self._health = WorkerHealthFile(settings.data_dir, lane)
        self._swept = False
        self._store: Store | None = None

    def start(self, timer: Any) -> None:
        """Sweep immediately, then at intervals; called after each connection to the broker."""
        self.sweep()
        timer.call_repeatedly(self._settings.sweep_seconds, self.sweep)

    def sweep(self) -> None:
        """Sweep once; if it fails, log the error and leave the work to the next sweep."""
        try:
            woken = self._sweep()
        except Exception as error:  # noqa: BLE001 - the next sweep tries again
            _LOG.exception("sweep.failed")
            self._health.write(WorkerHealth(f"the last sweep failed: {error}"))
            return
        self._health.write(WorkerHealth(READY))
        for job in woken:
            if not self._wake_ups.send(job.id, job.kind):
                # The broker is unavailable; the next sweep sends the wake-ups of all waiting jobs.
                self._swept = False
                return

    def deregister(self) -> None:
        """Deregister this worker."""
        self._health.remove()
        if self._store is None:
            return
        try:
            with self._store.begin() as tx:
                tx.workers.remove(self._worker)
        except RankeryError:
            _LOG.warning("worker.deregistration_failed", exc_info=True)
        finally:
            self._store.close()

    def _sweep(self) -> list[Job]:
        now = utc_now()
        # A new worker sends a wake-up for every waiting job: earlier wake-ups may be lost with the broker.
        older_than_seconds = self._settings.wake_seconds if self._swept else 0.0
        # Reuse the store, which caches compiled statements.
        store = self._store = self._store or Store.open(self._settings)
        try:
            self._recover_jobs(store, now)
            self._report(store)
            experiments.advance_all(store)
            schedules.advance_all(store, self._settings.max_active_jobs)
            with store.begin() as tx:
                woken = tx.jobs.to_wake(now, older_than_seconds)
            self._remove_events(store, now)
            self._free(store)
        finally:
            store.disconnect()
        self._swept = True
        return woken

    def _remove_events(self, store: Store, now: datetime) -> None:
        """Remove old events, a batch at a time."""
        if time.monotonic() - self._removed_events_at < _EVENTS_SECONDS:
            return
        before = now - timedelta(days=self._settings.events_days)
        with store.begin() as tx:
            removed = tx.events.remove_before(before, _BATCH_EVENTS)
        if removed < _BATCH_EVENTS:
            self._removed_events_at = time.monotonic()

    def _free(self, store: Store) -> None:
        """Free the artifacts of deleted and expired objects; the next sweep retries after an error."""
        try:
            self._upkeep.run(store, _UPKEEP_SECONDS)
        except RankeryError:
            _LOG.warning("upkeep.failed", exc_info=True)

    def _report(self, store: Store) -> None:
        """Report this worker as live, once per lease duration."""
        lease_seconds = self._settings.lease_seconds
        if time.monotonic() - self._reported_at < lease_seconds:
            return
        processes = self._settings.concurrency_of(self._lane)
        with store.begin() as tx:
            tx.notifies_clients = tx.workers.report(
                self._worker, self._lane, processes, _WORKER_TIMEOUT_LEASES * lease_seconds
            )
        self._reported_at = time.monotonic()

    def _recover_jobs(self, store: Store, now: datetime) -> None:
        """Requeue or end the jobs of lost workers, each in its own transaction."""
        with store.read() as tx:
            lost = self._lost(tx, now)
        for job in lost:
            try:
                with store.begin() as tx:
                    recovered = tx.jobs.recover(job, self._settings.attempts)
                    if recovered is not None:
                        tx.events.process_lost(job.worker or "", job.id)
            except StoreUnavailable:
                raise
            except Exception:  # noqa: BLE001 - an error of one job must not stop the others and the sweep
                _LOG.exception("job.recovery_failed", job_id=job.id, kind=job.kind)
                continue
            if recovered is not None:
                outcome = "requeued" if recovered.status == QUEUED else recovered.status
                reason = "its worker stopped answering"
                _LOG.warning(f"job.{outcome}", job_id=job.id, kind=job.kind, reason=reason)

    def _lost(self, tx: Transaction, now: datetime) -> list[Job]:
        """List the running jobs of lost workers."""
        running = tx.jobs.running_on("")
        silent = self._leases.lost(running, now)
        return silent + [job for job in running if self._is_gone(job) and job not in silent]

    def _is_gone(self, job: Job) -> bool:
        """Return whether a pool process of this worker ran the job and has died."""
        worker, _, pid = (job.worker or "").rpartition("/")
        return worker == self._worker and not _is_alive(int(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):  # a process of another user has reused the id
        return False
    return True
