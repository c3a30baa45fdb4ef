"""Measure how long a training is interrupted after its worker is killed."""

from dataclasses import dataclass, field

from tests.faults.campaign import Campaign
from tests.faults.client import Document
from tests.faults.faults import running_again
from tests.faults.job_batch import ENDED, JobBatch, Running, now
from tests.faults.work import Submission, training

LIMIT_SECONDS = 15.0
_LONG = 20_000  # iterations; the training outlasts the measurement and is cancelled


@dataclass
class Recovery:
    """Recovery times in one situation.

    Attributes:
        situation: The worker that can claim the interrupted job.
        seconds: Times from the kill until the job ran again.
        problems: Problems that were found.
    """

    situation: str
    seconds: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether each recovery was within the limit, without problems."""
        return bool(self.seconds) and max(self.seconds) < LIMIT_SECONDS and not self.problems


def measure_recovery(campaign: Campaign, kills: int) -> list[Recovery]:
    """Kill workers at random moments of a training, first with a second, idle worker, then without it."""
    standby = Recovery("another worker waits")
    for _ in range(kills):
        _measure(campaign, standby, is_restarted=False)
    others = campaign.installation.workers[1:]
    for other in others:
        other.is_supervised = False
        other.terminate()
    alone = Recovery("the worker itself, started again")
    for _ in range(kills):
        _measure(campaign, alone, is_restarted=True)
    for other in others:
        other.is_supervised = True
    return [standby, alone]


def _measure(campaign: Campaign, recovery: Recovery, *, is_restarted: bool) -> None:
    body = training(campaign.materials.datasets, "lambdarank", iterations=_LONG)
    submission = Submission("long", "/v1/jobs", body)
    with campaign.job_batch(f"recovery {recovery.situation} {len(recovery.seconds)}") as batch:
        try:
            campaign.installation.wait_until_ready()
            batch.submit([submission])
            victim = _running(batch)
            victim.worker.is_supervised = is_restarted
            injected_at = now()
            victim.worker.kill()
            recovery.seconds += running_again(batch, victim, injected_at)
            victim.worker.is_supervised = True
            _end(batch, victim.job)
        except TimeoutError as error:
            recovery.problems.append(str(error))


def _running(batch: JobBatch) -> Running:
    """Return a training at a random time after its first iterations."""
    batch.installation.wait_until(lambda: bool(_iterating(batch)), LIMIT_SECONDS * 4, "a training runs")
    batch.installation.supervise(batch.random.uniform(0, 2.5))
    return _iterating(batch)[0]


def _iterating(batch: JobBatch) -> list[Running]:
    return [one for one in batch.running("train") if (one.job["progress"] or {}).get("iteration")]


def _end(batch: JobBatch, job: Document) -> None:
    batch.client.create(f"/v1/jobs/{job['id']}/cancel")
    batch.installation.wait_until(
        lambda: batch.job(job["id"])["status"] in ENDED, LIMIT_SECONDS * 2, "the training is cancelled"
    )
