"""A batch of jobs in an installation while faults are injected."""

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType

from tests.faults.client import Document, RetryingClient
from tests.faults.installation import Installation
from tests.faults.parts import Part
from tests.faults.work import Materials, Submission

ENDED = frozenset({"succeeded", "failed", "cancelled"})
_SUBMITTERS = 3
_END_SECONDS = 180.0


@dataclass(frozen=True)
class Running:
    """A running job, with its worker and the pool process that ran it when the job was read."""

    job: Document
    worker: Part
    pid: int


@dataclass
class JobBatch:
    """A batch of jobs that are submitted while a fault is injected into the service.

    Attributes:
        installation: The service.
        client: Client of the service.
        materials: Datasets, models and files for further jobs.
        random: Source of random moments and victims.
        sent: The accepted jobs by id, with their requests.
        refusals: Requests that were not accepted, with the reasons.
        problems: Problems that were found.
    """

    installation: Installation
    client: RetryingClient
    materials: Materials
    random: random.Random
    sent: dict[str, Submission] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_SUBMITTERS))
    _waiting: "list[Future[None]]" = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: dict[str, Document] = field(default_factory=dict)

    def __enter__(self) -> "JobBatch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=error is None, cancel_futures=True)

    @property
    def is_submitting(self) -> bool:
        """Whether some requests are not yet accepted."""
        return any(not future.done() for future in self._waiting)

    def submit(self, submissions: Sequence[Submission], pause_seconds: float = 0.0) -> None:
        """Send requests in other threads, each after a random delay of up to twice the pause."""
        self._waiting += [
            self._pool.submit(self._send, submission, self.random.uniform(0, 2 * pause_seconds))
            for submission in submissions
        ]

    def job(self, job_id: str) -> Document:
        """Return the current state of a job; a job that has ended is not requested again."""
        if job_id not in self._ended:
            job = self.client.get(f"/v1/jobs/{job_id}")
            if job["status"] not in ENDED:
                return job
            self._ended[job_id] = job
        return self._ended[job_id]

    def jobs(self) -> list[Document]:
        """Return all accepted jobs."""
        with self._lock:
            ids = list(self.sent)
        return [self.job(job_id) for job_id in ids]

    def running(self, kind: str | None = None) -> list[Running]:
        """Return the jobs that workers run, of one kind if given."""
        jobs = []
        for job in self.jobs():
            if job["status"] != "running" or kind not in (None, job["kind"]):
                continue
            pid = pid_of(job)
            worker = self.installation.worker_of(pid)
            if worker is not None:
                jobs.append(Running(job, worker, pid))
        return jobs

    def id_of(self, submission: Submission) -> str | None:
        """Return the job of a request, None if the request is not accepted yet."""
        with self._lock:
            return next((job_id for job_id, own in self.sent.items() if own is submission), None)

    def finish(self) -> None:
        """Wait until every request is accepted and every job has ended, up to a time limit."""
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            if not self.is_submitting and all(job["status"] in ENDED for job in self.jobs()):
                return
            self.installation.supervise(0.2)

    def run_soon(self, submission: Submission) -> Document | None:
        """Submit one job and return it after its end, None if the request was not accepted."""
        self.submit([submission])
        sent = self._waiting[-1]
        self.installation.wait_until(sent.done, _END_SECONDS, "a request is accepted")
        job_id = self.id_of(submission)
        if job_id is None:
            return None
        self.installation.wait_until(
            lambda: self.job(job_id)["status"] in ENDED, _END_SECONDS, f"{job_id} has ended"
        )
        return self.job(job_id)

    def _send(self, submission: Submission, pause_seconds: float) -> None:
        time.sleep(pause_seconds)
        try:
            answer = self.client.create(submission.path, submission.body, submission.file)
        except Exception as error:  # noqa: BLE001 - whatever it was, the request was not accepted
            self.refusals.append(f"{submission.name}: {error}")
            return
        job_id = answer["job_id"] if submission.kind == "ingest" else answer["id"]
        with self._lock:
            self.sent[job_id] = submission


def pid_of(job: Document) -> int:
    """Return the id of the pool process that runs a job."""
    return int(job["attempts"][-1]["worker"].rpartition("/")[2])


def moment(text: str) -> datetime:
    """Parse a time of an API response."""
    return datetime.fromisoformat(text)


def now() -> datetime:
    """Return the present in the time zone of the API."""
    return datetime.now(UTC)
