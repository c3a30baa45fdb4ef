"""A job while this process carries it out: its lease, its reports, and the ways it can end."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import structlog

from core.data.options import Limits
from core.errors import JobCancelled, LeaseLost, RankeryError, StoreUnavailable
from core.store import Job, Store, Transaction
from worker.caches import Caches
from worker.settings import WorkerSettings

_LOG = structlog.stdlib.get_logger(__name__)

Values = dict[str, Any]


class WorkerStopping(Exception):
    """The worker is shutting down and has handed the job back to the queue."""


class JobRun:
    """One claimed job. Everything that it writes is guarded by the claim's token.

    Attributes:
        id: The job.
        token: The fencing number of this claim; a later claim has a greater one.
        kind: What to do: `ingest`, `train`, `evaluate` or `rank`.
        spec: The job as it was submitted.
        store: Where everything is kept.
        threads: The threads that this job may use.
        limits: How large what it reads may become.
        caches: What this worker has at hand.
    """

    def __init__(self, job: Job, store: Store, settings: WorkerSettings) -> None:
        self.id = job.id
        self.token = job.token
        self.kind = job.kind
        self.spec: dict[str, Any] = job.spec
        self.store = store
        self.threads = settings.threads_per_job
        self.limits = Limits(settings.max_unpacked_bytes, settings.max_cells)
        self.caches = Caches.of(settings)
        self._lease_seconds = settings.lease_seconds
        self._report_seconds = settings.report_seconds
        self._reported_at = -math.inf
        self._progress: Values | None = None
        self._metrics: Values | None = None
        self._findings: list[Values] | None = None
        self._iterations: list[tuple[int, Values]] = []
        self._made: list[str] = []
        self._consumed: list[str] = []
        self._interruption: Exception | None = None

    @classmethod
    def claim(cls, store: Store, settings: WorkerSettings, job_id: str, worker: str) -> "JobRun | None":
        """Take a queued job, or return None where there is nothing to do: taken, ended or unknown."""
        with store.begin() as tx:
            job = tx.jobs.claim(job_id, worker, settings.lease_seconds)
        return None if job is None else cls(job, store, settings)

    def phase(self, name: str, *, afresh: bool = False) -> None:
        """Say what the job does next. Written at once, and a moment at which it can be stopped.

        Args:
            name: What it does.
            afresh: Whether the count of the phase before says nothing any more.

        Raises:
            JobCancelled: The user asked for it to stop.
            LeaseLost: It was given to another worker.
            WorkerStopping: The worker is shutting down.
        """
        if afresh:
            self._progress = None
        self._enter(name)
        self.flush()

    def report(
        self,
        *,
        progress: Values | None = None,
        metrics: Values | None = None,
        findings: list[Values] | None = None,
        iterations: Sequence[tuple[int, Values]] = (),
        at_once: bool = False,
    ) -> None:
        """Take in news, and write all that has come together when the last writing is long enough ago.

        Args:
            progress: Where the job is now.
            metrics: The latest means.
            findings: What is to be said about its datasets beside each other.
            iterations: Points of the learning curves.
            at_once: Whether this is worth writing whenever the last writing was.

        Raises:
            JobCancelled: The user asked for the job to stop.
            LeaseLost: It was given to another worker.
            WorkerStopping: The worker is shutting down.
        """
        self._progress = progress or self._progress
        self._metrics = metrics or self._metrics
        self._findings = self._findings if findings is None else findings
        self._iterations.extend(iterations)
        self.check()
        if at_once or time.monotonic() - self._reported_at >= self._report_seconds:
            try:
                self.flush()
            except StoreUnavailable:
                # Nothing is lost: it all goes out with the next report, or with the end of the job.
                self._reported_at = time.monotonic()
                _LOG.warning("job.report_delayed", exc_info=True)

    def flush(self) -> None:
        """Write all news now, renew the lease and see whether the job should stop."""
        self.check()
        with self.store.begin() as tx:
            self._record(tx)
            cancelled = tx.jobs.renew(self.id, self.token, self._lease_seconds)
        self._iterations.clear()
        self._reported_at = time.monotonic()
        if cancelled:
            self._interruption = JobCancelled(self.id)
        self.check()

    def check(self) -> None:
        """Raise what has come in the job's way, noticed here or by the heartbeat."""
        if self._interruption is not None:
            raise self._interruption

    def renew(self) -> None:
        """Keep the job with this worker for another lease; called by the heartbeat's thread."""
        try:
            with self.store.begin() as tx:
                cancelled = tx.jobs.renew(self.id, self.token, self._lease_seconds)
        except LeaseLost as error:
            self._interruption = error
        else:
            if cancelled:
                self._interruption = JobCancelled(self.id)

    def release(self) -> None:
        """Give the job back for another worker to take; called by the heartbeat's thread.

        The next sweep of any worker sends its wake-up.
        """
        self._interruption = WorkerStopping()
        with suppress(LeaseLost), self.store.begin() as tx:
            tx.jobs.release(self.id, self.token)

    def consumes(self, path: str) -> None:
        """Name artifacts that nobody needs once the job has ended, however it ends.

        They stay while the job may yet be carried out again.
        """
        self._consumed.append(path)

    @contextmanager
    def writing(self, path: str) -> Iterator[BinaryIO]:
        """Write an artifact into a folder of its own, which is kept only when the job succeeds."""
        self._made.append(path.rpartition("/")[0])
        with self.store.artifacts.writing(path) as file:
            yield file

    @contextmanager
    def succeeding(self, result: dict[str, Any]) -> Iterator[Transaction]:
        """Open the transaction that writes every row of the result and ends the job.

        A lost lease undoes all of it, so that a job run twice has one result.

        Raises:
            LeaseLost: The job was given to another worker.
        """
        self.check()
        self._enter("finished")
        with self.store.begin() as tx:
            self._record(tx)
            yield tx
            tx.jobs.succeed(self.id, self.token, result)
        self._made.clear()
        self._remove_consumed()

    def fail(self, problem: Values) -> None:
        """End the job with a problem."""
        with self.store.begin() as tx:
            self._record(tx)
            tx.jobs.fail(self.id, self.token, problem)
        self._remove_consumed()

    def cancel(self) -> None:
        """End the job as cancelled; its learning curves so far are kept."""
        with self.store.begin() as tx:
            self._record(tx)
            tx.jobs.cancelled(self.id, self.token)
        self._remove_consumed()

    def discard_artifacts(self) -> None:
        """Remove what was written for a result that will not be."""
        while self._made:
            self.remove(self._made.pop())

    def remove(self, path: str) -> None:
        """Remove artifacts that nobody needs; what cannot be removed is left to the log."""
        try:
            self.store.artifacts.delete(path)
        except RankeryError:
            _LOG.warning("job.artifact_left", job_id=self.id, path=path, exc_info=True)

    def _remove_consumed(self) -> None:
        while self._consumed:
            self.remove(self._consumed.pop())

    def _enter(self, phase: str) -> None:
        counts = self._progress or {"iteration": 0, "total": 0}
        self._progress = {**counts, "phase": phase, "eta_seconds": None}

    def _record(self, tx: Transaction) -> None:
        tx.jobs.record(
            self.id,
            self.token,
            progress=self._progress,
            metrics=self._metrics,
            findings=self._findings,
            iterations=list(self._iterations),
        )
