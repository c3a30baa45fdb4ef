"""Lease of a claimed job, and the interruptions that end it."""

import math
import time

from core.errors import JobCancelled
from core.store import Store, Transaction
from worker.settings import WorkerSettings


class WorkerStopping(Exception):
    """The worker is shutting down; the job goes back to the queue."""


class Lease:
    """Claim of this worker on one job, guarded by a fencing token.

    The heartbeat thread renews the lease and requests interruptions; the job's thread raises them in `check`.
    Methods raise `LeaseLost` if the job was given to another worker.

    Args:
        token: Fencing token of the claim; a later claim has a greater one.
    """

    def __init__(self, store: Store, job_id: str, token: int, settings: WorkerSettings) -> None:
        self.store = store
        self.job_id = job_id
        self.token = token
        self._settings = settings
        self._interruption: Exception | None = None
        self._interrupted_at = math.inf

    def renew(self) -> None:
        """Renew the lease in a separate transaction; called by the heartbeat thread."""
        with self.store.begin() as tx:
            tx.notifies_clients = False
            self.renew_within(tx)

    def renew_within(self, tx: Transaction) -> None:
        """Renew the lease in a transaction, and request the interruption of a cancelled job."""
        if tx.jobs.renew(self.job_id, self.token, self._settings.lease_seconds):
            self.interrupt(JobCancelled(self.job_id))

    def poll_cancellation(self) -> None:
        """Request the interruption of a cancelled job; called by the heartbeat thread."""
        with self.store.read() as tx:
            if tx.jobs.cancellation_requested(self.job_id, self.token):
                self.interrupt(JobCancelled(self.job_id))

    def interrupt(self, error: Exception) -> None:
        """Request an interruption at the next `check`; the first reason wins."""
        if self._interruption is None:
            self._interrupted_at = time.monotonic()
            self._interruption = error  # assigned last, since `check` reads it in another thread

    def check(self) -> None:
        """Raise the pending interruption, if any.

        Raises:
            JobCancelled: The user cancelled the job.
            LimitReached: The job exceeds its time or memory limit.
            WorkerStopping: The worker is shutting down.
        """
        if self._interruption is not None:
            self._interrupted_at = math.inf  # the job no longer ignores it
            raise self._interruption

    def ignored_interruption(self) -> Exception | None:
        """Return an interruption that the job has ignored for longer than its grace period, or None."""
        stopping = isinstance(self._interruption, WorkerStopping)
        grace = self._settings.stop_grace_seconds if stopping else self._settings.cancel_grace_seconds
        return self._interruption if time.monotonic() - self._interrupted_at > grace else None
