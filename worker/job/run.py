"""A running job: its lease, reports and endings."""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, BinaryIO, cast

import structlog

from core.data.folders import DataRoots
from core.data.options import Limits
from core.errors import JobCancelled, RankeryError, StoreUnavailable
from core.jobs import JobLimits
from core.store import Job, Store, Transaction
from core.store.artifacts.checksums import ChecksummedFile
from core.store.data_files import DataFiles
from worker.job.caches import Caches
from worker.job.counters import JobCounts
from worker.job.limits import Bounds
from worker.job.phases import Phases
from worker.settings import WorkerSettings

PUT_OFF = "put_off"
_LOG = structlog.stdlib.get_logger(__name__)

Values = dict[str, Any]


class WorkerStopping(Exception):
    """The worker is shutting down; the job goes back to the queue."""


class JobRun:
    """One claimed job. Everything that it writes is guarded by the claim's token.

    Attributes:
        id: The job.
        token: The fencing number of this claim; a later claim has a greater one.
        attempt: Number of this claim among those that count.
        worker: What this worker is called.
        kind: What to do, see `core.jobs.JobKind`.
        spec: The stored specification; runners get it parsed.
        key_id: The API key that submitted it, or None.
        trace_context: The span of the request that submitted it, as headers, or None.
        checkpoint: Where an earlier attempt was, as `core.store.Jobs.keep_checkpoint` took it, or None.
        store: Where everything is kept.
        threads: The threads that this job may use.
        limits: How large what it reads may become.
        data_roots: The folders below which it may read judged files.
        data_files: The same folders, and those of buckets, of which it may read several files as one dataset.
        caches: What this worker has at hand.
        counts: What it adds to the service's counters.
        bounds: How long it may run, and with how much memory.
        phases: What it has done so far, how long that took, and with how much memory.
        checkpoint_seconds: Time from one checkpoint to the next.
        settings: Those of the worker.
        progress_details: What else to show with the progress, of the ranks of a training.
        on_iterations: Called with the points of the learning curves as they are reported, or None.
        ending: How it ends where nothing goes wrong: `succeeded`, or `failed` for a job that found why.
    """

    def __init__(self, job: Job, store: Store, settings: WorkerSettings, spent_seconds: float = 0.0) -> None:
        self.id = job.id
        self.token = job.token
        self.attempt = job.attempt
        self.worker = job.worker
        self.kind = job.kind
        self.spec: dict[str, Any] = job.spec
        self.key_id = job.key_id
        self.trace_context = job.trace_context
        self.checkpoint = job.checkpoint
        self.store = store
        self.threads = settings.threads_per_job
        self.limits = Limits(
            unpacked_bytes=settings.max_unpacked_bytes,
            unpacked_ratio=settings.max_unpacked_ratio,
            documents=settings.max_documents,
            features=settings.max_features,
        )
        self.data_roots = DataRoots(settings.data_roots)
        self.data_files = DataFiles(settings.data_roots, settings.storage_patience_seconds)
        self.caches = Caches.of(settings)
        self.counts = JobCounts(self.caches)
        self.bounds = Bounds(job.kind, JobLimits.of(job.spec), settings, spent_seconds)
        self.phases = Phases(self.bounds.taken_bytes)
        self.checkpoint_seconds = settings.checkpoint_seconds
        self.progress_details: Values = {}
        self.on_iterations: Callable[[Sequence[tuple[int, Values]]], None] | None = None
        self.ending = "succeeded"
        self.settings = settings
        self._reported_at = -math.inf
        self._progress: Values | None = self._where_it_was()
        self._metrics: Values | None = None
        self._findings: list[Values] | None = None
        self._iterations: list[tuple[int, Values]] = []
        self._milliseconds: dict[int, Values] = {}
        self._made: list[str] = []
        self._checksums: dict[str, ChecksummedFile] = {}
        self._consumed: list[str] = []
        self._interruption: Exception | None = None
        self._interrupted_at = math.inf

    @classmethod
    def claim_next(
        cls, store: Store, settings: WorkerSettings, kinds: Collection[str], worker: str
    ) -> "JobRun | None":
        """Take the queued job of these kinds whose turn it is, or return None where none waits."""
        with store.begin() as tx:
            job = tx.jobs.claim_next(kinds, worker, settings.lease_seconds)
            spent_seconds = 0.0 if job is None else _spent_seconds(tx, job)
        return None if job is None else cls(job, store, settings, spent_seconds)

    def phase(self, name: str, *, afresh: bool = False) -> None:
        """Enter the next phase, write it at once, and check for interruptions.

        Args:
            name: What it does.
            afresh: Whether the count of the phase before says nothing any more. A resumed job then shows the
                count that it goes on from.

        Raises:
            JobCancelled: The user asked for it to stop.
            LeaseLost: It was given to another worker.
            WorkerStopping: The worker is shutting down.
        """
        if afresh:
            self._progress = self._where_it_was()
        self._enter(name)
        self.phases.enter(name)
        self.flush()

    def report(
        self,
        *,
        progress: Values | None = None,
        metrics: Values | None = None,
        findings: list[Values] | None = None,
        iterations: Sequence[tuple[int, Values]] = (),
        milliseconds: Mapping[int, Values] = MappingProxyType({}),
        at_once: bool = False,
    ) -> None:
        """Collect progress and metrics, and write them at most once per interval.

        Args:
            progress: Where the job is now.
            metrics: The latest means.
            findings: What is to be said about its datasets beside each other.
            iterations: Points of the learning curves.
            milliseconds: Mean times of an iteration since the point before, by the iterations among them.
            at_once: Whether this is worth writing whenever the last writing was.

        Raises:
            JobCancelled: The user asked for the job to stop.
            LeaseLost: It was given to another worker.
            WorkerStopping: The worker is shutting down.
        """
        if progress is not None:
            self._progress = progress
            self.phases.enter(progress.get("phase"))
        self._metrics = metrics or self._metrics
        self._findings = self._findings if findings is None else findings
        self._iterations.extend(iterations)
        self._milliseconds.update(milliseconds)
        self.check()
        if self.on_iterations is not None and iterations:
            self.on_iterations(iterations)
        if at_once or time.monotonic() - self._reported_at >= self.settings.report_seconds:
            try:
                self.flush()
            except StoreUnavailable:
                # Nothing is lost: it all goes out with the next report, or with the end of the job.
                self._reported_at = time.monotonic()
                _LOG.warning("job.report_delayed", exc_info=True)

    def flush(self) -> None:
        """Write the collected reports, renew the lease and check for a stop request."""
        self.check()
        with self.store.begin() as tx:
            self._record(tx)
            cancelled = tx.jobs.renew(self.id, self.token, self.settings.lease_seconds)
        self._recorded()
        self._reported_at = time.monotonic()
        if cancelled:
            self.interrupt(JobCancelled(self.id))
        self.check()

    def interrupt(self, error: Exception) -> None:
        """Request an interruption at the next `check`; the first reason wins."""
        if self._interruption is None:
            self._interrupted_at = time.monotonic()
            self._interruption = error  # last: whoever sees it has heard it

    def check(self) -> None:
        """Raise the pending interruption, if any."""
        if self._interruption is not None:
            self._interrupted_at = math.inf  # it is heard
            raise self._interruption

    def ignored_interruption(self) -> Exception | None:
        """Return an interruption that the job has ignored for too long, or None."""
        stopping = isinstance(self._interruption, WorkerStopping)
        grace = self.settings.stop_grace_seconds if stopping else self.settings.cancel_grace_seconds
        return self._interruption if time.monotonic() - self._interrupted_at > grace else None

    def renew(self) -> None:
        """Renew the lease; called by the heartbeat thread.

        Raises:
            LeaseLost: It was given to another worker.
        """
        with self.store.begin() as tx:
            tx.announced = False
            if tx.jobs.renew(self.id, self.token, self.settings.lease_seconds):
                self.interrupt(JobCancelled(self.id))

    def look(self) -> None:
        """Check for a cancellation request; called by the heartbeat thread.

        Raises:
            LeaseLost: It was given to another worker.
        """
        with self.store.read() as tx:
            if tx.jobs.stop_requested(self.id, self.token):
                self.interrupt(JobCancelled(self.id))

    def keep_checkpoint(self, checkpoint: Values) -> None:
        """Record a checkpoint together with all reports so far."""
        with self.store.begin() as tx:
            self._record(tx)
            tx.jobs.keep_checkpoint(self.id, self.token, checkpoint)
        self._recorded()

    def begin_anew(self) -> None:
        """Drop an unusable checkpoint."""
        self._progress = self.checkpoint = None
        with self.store.begin() as tx:
            tx.jobs.drop_checkpoint(self.id, self.token)

    def release(self) -> None:
        """Hand the job back to the queue; the attempt does not count.

        The next sweep of any worker sends its wake-up.
        """
        with self.store.begin() as tx:
            self._record(tx)
            tx.jobs.release(self.id, self.token)

    def put_off(self, problem: Values) -> str:
        """Requeue the job after a transient error, or fail it after its last attempt."""
        if self.attempt >= self.settings.attempts:
            self.fail(problem)
            return "failed"
        with self.store.begin() as tx:
            tx.jobs.put_off(self.id, self.token, problem["detail"])
        return PUT_OFF

    def consumes(self, path: str) -> None:
        """Register artifacts to remove when the job ends.

        They stay while the job may yet be carried out again.
        """
        self._consumed.append(path)

    def keeps(self, path: str) -> None:
        """Do not remove artifacts when the job ends, though it consumes them."""
        self._consumed.remove(path)

    @contextmanager
    def writing(self, path: str) -> Iterator[BinaryIO]:
        """Write an artifact that is kept, with its checksum, only if the job succeeds."""
        self._made.append(path.rpartition("/")[0])
        with self.store.artifacts.writing(path) as file:
            checksummed = ChecksummedFile(file)
            yield cast("BinaryIO", checksummed)
        self._checksums[path] = checksummed

    @contextmanager
    def succeeding(self, result: dict[str, Any]) -> Iterator[Transaction]:
        """Open the transaction that writes every row of the result and ends the job.

        A lost lease undoes all of it, so that a job run twice has one result.

        Raises:
            LeaseLost: The job was given to another worker.
        """
        self.check()
        self._enter("finished")
        self.phases.enter(None)
        with self.store.begin() as tx:
            self._record(tx)
            for key, written in self._checksums.items():
                tx.digests.keep(key, written.sha256, written.size_bytes)
            yield tx
            tx.jobs.succeed(self.id, self.token, result)
        self._made.clear()
        self._remove_consumed()

    @contextmanager
    def refusing(self, problem: Values) -> Iterator[Transaction]:
        """Open the transaction that stores a decision against what the job was asked for, and ends it.

        Raises:
            LeaseLost: The job was given to another worker.
        """
        self.check()
        with self._ending_badly() as tx:
            yield tx
            tx.jobs.refuse(self.id, self.token, problem)
        self.ending = "refused"

    def fail(self, problem: Values) -> None:
        """End the job with a problem."""
        with self._ending_badly() as tx:
            tx.jobs.fail(self.id, self.token, problem)

    def cancel(self) -> None:
        """End the job as cancelled; its learning curves so far are kept."""
        with self._ending_badly() as tx:
            tx.jobs.cancelled(self.id, self.token)

    def discard_artifacts(self) -> None:
        """Remove the artifacts of an unfinished result."""
        while self._made:
            self.remove(self._made.pop())

    def remove(self, path: str) -> None:
        """Remove artifacts; log those that cannot be removed."""
        try:
            self.store.artifacts.delete(path)
        except RankeryError:
            _LOG.warning("job.artifact_left", job_id=self.id, path=path, exc_info=True)

    @contextmanager
    def _ending_badly(self) -> Iterator[Transaction]:
        with self.store.begin() as tx:
            self._record(tx)
            yield tx
        self._remove_consumed()

    def _remove_consumed(self) -> None:
        while self._consumed:
            self.remove(self._consumed.pop())

    def _where_it_was(self) -> Values | None:
        if self.checkpoint is None:
            return None
        return {name: self.checkpoint[name] for name in ("iteration", "total")} | {"phase": "resuming"}

    def _enter(self, phase: str) -> None:
        counts = self._progress or {"iteration": 0, "total": 0}
        self._progress = {**counts, "phase": phase, "eta_seconds": None}

    def _record(self, tx: Transaction) -> None:
        tx.jobs.record(
            self.id,
            self.token,
            progress=self._progress and {**self._progress, **self.progress_details},
            metrics=self._metrics,
            findings=self._findings,
            iterations=list(self._iterations),
            milliseconds=dict(self._milliseconds),
            phases=self.phases.as_json() or None,
        )
        self.counts.add_to(tx.tallies)

    def _recorded(self) -> None:
        """Clear the reports that were committed."""
        self._iterations.clear()
        self._milliseconds.clear()
        self.counts.committed()


def _spent_seconds(tx: Transaction, job: Job) -> float:
    earlier = tx.attempts.of(job.id)
    return sum(
        max(0.0, (past.ended_at - past.started_at).total_seconds()) for past in earlier if past.ended_at
    )
