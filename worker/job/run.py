"""Run and end a claimed job."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import structlog

from core.errors import StoreUnavailable
from core.jobs import JobLimits
from core.store import Job, Store, Transaction
from core.store.clock import utc_now
from worker.job.artifact_writer import ArtifactWriter
from worker.job.caches import Caches, JobCounters
from worker.job.lease import Lease
from worker.job.limits import Bounds
from worker.job.phases import Phases
from worker.job.reporter import Reporter, Values
from worker.settings import WorkerSettings

_LOG = structlog.stdlib.get_logger(__name__)

RETRY_LATER = "retry_later"  # outcome of an attempt, as logged; the stored ending is `handed_back`


class JobRun:
    """One attempt at a claimed job, whose writes are guarded by the fencing token of its lease.

    Attributes:
        kind: Kind of the job, see `core.jobs.JobKind`.
        spec: Stored specification as JSON; runners get the parsed one.
        attempt: Number of this attempt; attempts that ended by `release` do not count.
        trace_context: Span of the request that submitted the job, as headers, or None.
        threads: Threads that the job may use.
        reporter: Progress, metrics, learning curves and checkpoints.
        artifacts: Artifacts that the job writes, and those to delete when it ends.
        other_processors: Types of the processors of other processes that compute parts of the result.
        outcome: Outcome of a job whose runner returns: `succeeded`, or `refused`.
    """

    def __init__(self, job: Job, store: Store, settings: WorkerSettings, spent_seconds: float = 0.0) -> None:
        self.id = job.id
        self.kind = job.kind
        self.spec: dict[str, Any] = job.spec
        self.key_id = job.key_id
        self.attempt = job.attempt
        self.worker = job.worker
        self.trace_context = job.trace_context
        self.settings = settings
        self.store = store
        self.threads = settings.threads_per_job
        self.caches = Caches.of(settings)
        self.bounds = Bounds(job.kind, JobLimits.of(job.spec), settings, spent_seconds)
        self.lease = Lease(store, job.id, job.token, settings)
        self.reporter = Reporter(
            self.lease,
            job.checkpoint,
            Phases(self.bounds.used_bytes),
            JobCounters(self.caches),
            settings.report_seconds,
        )
        self.artifacts = ArtifactWriter(store.artifacts, job.id)
        self.other_processors: set[str] = set()
        self.outcome = "succeeded"

    @classmethod
    def claim_next(
        cls, store: Store, settings: WorkerSettings, kinds: Collection[str], worker: str
    ) -> "JobRun | None":
        """Claim the next queued job of these kinds, or return None if the queue has none."""
        with store.begin() as tx:
            job = tx.jobs.claim_next(kinds, worker, settings.lease_seconds)
            spent_seconds = 0.0 if job is None else spent_seconds_of(tx, job.id)
        return None if job is None else cls(job, store, settings, spent_seconds)

    @contextmanager
    def succeeding(self, result: dict[str, Any]) -> Iterator[Transaction]:
        """Open the transaction that writes all rows of the result and ends the job.

        A lost lease rolls the transaction back, so that a job that ran twice has one result.

        Raises:
            JobCancelled, LeaseLost, LimitReached, WorkerStopping: See `Lease.check`.
        """
        self.lease.check()
        self.reporter.finish()
        with self.store.begin() as tx:
            self.reporter.record(tx)
            self.artifacts.record_checksums(tx)
            yield tx
            tx.jobs.succeed(self.id, self.lease.token, result)
        self.artifacts.commit()

    @contextmanager
    def refusing(self, problem: Values) -> Iterator[Transaction]:
        """Open the transaction that stores a refusal and ends the job as refused.

        Raises:
            JobCancelled, LeaseLost, LimitReached, WorkerStopping: See `Lease.check`.
        """
        self.lease.check()
        with self._ending_unsuccessfully() as tx:
            yield tx
            tx.jobs.refuse(self.id, self.lease.token, problem)
        self.outcome = "refused"

    def fail(self, problem: Values) -> None:
        """End the job with a problem."""
        with self._ending_unsuccessfully() as tx:
            tx.jobs.fail(self.id, self.lease.token, problem)

    def cancel(self) -> None:
        """End the job as cancelled; its reported learning curves are kept."""
        with self._ending_unsuccessfully() as tx:
            tx.jobs.end_cancelled(self.id, self.lease.token)

    def release(self) -> None:
        """Return the job to the queue; the attempt does not count.

        The next sweep of any worker wakes a worker for the job.
        """
        with self.store.begin() as tx:
            self.reporter.record(tx)
            tx.jobs.release(self.id, self.lease.token)

    def retry_later(self, problem: Values) -> str:
        """Requeue the job after a transient error, or fail it after its last attempt; return the outcome."""
        if self.attempt >= self.settings.attempts:
            self.fail(problem)
            return "failed"
        with self.store.begin() as tx:
            tx.jobs.retry_later(self.id, self.lease.token, problem["detail"])
        return RETRY_LATER

    def discard_artifacts(self) -> None:
        """Remove the written artifacts, except those of a committed result.

        The result of this claim may be committed although the job raised an error: the answer to the commit
        was lost, or an interruption came too late. A later claim may have committed the same keys.
        """
        written = self.artifacts.uncommitted
        if not written:
            return
        try:
            with self.store.read() as tx:
                recorded = tx.artifacts.recorded(written)
        except StoreUnavailable:
            _LOG.warning("job.artifacts_orphaned", job_id=self.id, paths=written, exc_info=True)
            return
        self.artifacts.discard(recorded)

    @contextmanager
    def _ending_unsuccessfully(self) -> Iterator[Transaction]:
        with self.store.begin() as tx:
            self.reporter.record(tx)
            yield tx
        self.artifacts.delete_registered()


def spent_seconds_of(tx: Transaction, job_id: str) -> float:
    """Return the running time of a job over all attempts."""
    now = utc_now()
    return sum(
        max(0.0, ((attempt.ended_at or now) - attempt.started_at).total_seconds())
        for attempt in tx.jobs.attempts(job_id)
    )
