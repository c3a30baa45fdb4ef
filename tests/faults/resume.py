"""Kill trainings at random iterations, and compare the resumed ones with an undisturbed one."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.faults.campaign import Campaign
from tests.faults.client import Document
from tests.faults.job_batch import ENDED, JobBatch, pid_of
from tests.faults.outcomes import Outcome, outcome_of
from tests.faults.parts import kill_process
from tests.faults.work import Submission, stopping_early

# Checkpoints every few iterations, so that most kills find one; short leases, so that jobs resume soon.
SETTINGS = {
    "RANKERY_CHECKPOINT_SECONDS": "0.2",
    "RANKERY_REPORT_SECONDS": "0.1",
    "RANKERY_LEASE_SECONDS": "3",
    "RANKERY_HEARTBEAT_SECONDS": "0.5",
    "RANKERY_SWEEP_SECONDS": "0.5",
}
_PARALLEL = 2
_START_SECONDS = 120.0
_EACH_SECONDS = 30.0


@dataclass
class Killed:
    """A training that is killed once.

    Attributes:
        aim: First iteration at which to kill the training.
        job_id: The job.
        killed_at: Last reported iteration before the kill.
        resumed_from: Iteration of the checkpoint, None if the training began from the start.
        model_is_equal: Whether its model text is that of the undisturbed training.
        results_are_equal: Whether its history, metrics, evaluation and ranking are also equal.
        problems: Problems that were found.
    """

    aim: int
    job_id: str = ""
    killed_at: int | None = None
    resumed_from: int | None = None
    model_is_equal: bool = False
    results_are_equal: bool = False
    problems: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether the training was killed and its outcome equals that of the undisturbed training."""
        return self.killed_at is not None and self.model_is_equal and self.results_are_equal


def kill_and_resume(
    campaign: Campaign, kills: int, make: Callable[[Mapping[str, str]], Document] = stopping_early
) -> list[Killed]:
    """Run trainings of one request and kill each once at a random iteration.

    Args:
        campaign: Campaign on the installation that runs them.
        kills: Number of trainings.
        make: Returns the request for datasets that are given by name and id.
    """
    body = make(campaign.materials.datasets)
    with campaign.job_batch("resume") as batch:
        submission = Submission("undisturbed", "/v1/jobs", body)
        undisturbed = batch.run_soon(submission)
        assert undisturbed is not None
        assert undisturbed["status"] == "succeeded", undisturbed["problem"]
        reference = outcome_of(campaign.client, undisturbed)
        last = undisturbed["progress"]["iteration"]
        waiting = [Killed(batch.random.randint(1, last - 2)) for _ in range(kills)]
        done: list[Killed] = []
        running: list[Killed] = []
        deadline = time.monotonic() + _START_SECONDS + _EACH_SECONDS * kills
        while (waiting or running) and time.monotonic() < deadline:
            while waiting and len(running) < _PARALLEL:
                running.append(waiting.pop())
                running[-1].job_id = campaign.client.create("/v1/jobs", body)["id"]
            for training in list(running):
                if _follow(batch, training, reference):
                    running.remove(training)
                    done.append(training)
            batch.installation.supervise(0.05)
        return done + running + waiting


def _follow(batch: JobBatch, training: Killed, reference: Outcome) -> bool:
    """Kill the training when it reaches its iteration; return whether it has ended."""
    job = batch.job(training.job_id)
    if job["status"] == "running" and training.killed_at is None:
        iteration = (job["progress"] or {}).get("iteration") or 0
        if iteration >= training.aim and batch.installation.worker_of(pid_of(job)) is not None:
            training.killed_at = iteration
            kill_process(pid_of(job))
    if job["status"] not in ENDED:
        return False
    training.resumed_from = job["attempts"][-1]["resumed_from"]
    if job["status"] == "succeeded":
        outcome = outcome_of(batch.client, job)
        training.model_is_equal = outcome.model_file == reference.model_file
        training.results_are_equal = outcome.results == reference.results
        training.problems = outcome.problems
    else:
        training.problems = (f"{training.job_id} ended {job['status']}: {job['problem']}",)
    return True
