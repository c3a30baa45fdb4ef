"""Measure how long a training is interrupted after its worker is killed."""

from dataclasses import dataclass, field

from tests.faults.campaign import Campaign
from tests.faults.client import Document
from tests.faults.faults import running_again
from tests.faults.scene import ENDED, Running, Scene, now
from tests.faults.work import Submission, training

LIMIT_SECONDS = 15.0
_LONG = 20_000  # iterations: it outlasts the measurement and is cancelled


@dataclass
class Recovery:
    """Recovery times in one situation.

    Attributes:
        situation: Workers that could take the job over.
        seconds: Times from the kill until the job ran again.
        complaints: Problems that were found.
    """

    situation: str
    seconds: list[float] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether each recovery was within the limit, without complaints."""
        return bool(self.seconds) and max(self.seconds) < LIMIT_SECONDS and not self.complaints


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
    with campaign.scene(f"recovery {recovery.situation} {len(recovery.seconds)}") as scene:
        try:
            campaign.installation.until_ready()
            scene.submit([submission])
            victim = _running(scene)
            victim.worker.is_supervised = is_restarted
            struck_at = now()
            victim.worker.kill()
            recovery.seconds += running_again(scene, victim, struck_at)
            victim.worker.is_supervised = True
            _end(scene, victim.job)
        except TimeoutError as error:
            recovery.complaints.append(str(error))


def _running(scene: Scene) -> Running:
    """Return a training at a random time after its first iterations."""
    scene.installation.until(lambda: bool(_iterating(scene)), LIMIT_SECONDS * 4, "a training runs")
    scene.installation.attend(scene.random.uniform(0, 2.5))
    return _iterating(scene)[0]


def _iterating(scene: Scene) -> list[Running]:
    return [one for one in scene.running("train") if (one.job["progress"] or {}).get("iteration")]


def _end(scene: Scene, job: Document) -> None:
    scene.client.create(f"/v1/jobs/{job['id']}/cancel")
    scene.installation.until(
        lambda: scene.job(job["id"])["status"] in ENDED, LIMIT_SECONDS * 2, "it is cancelled"
    )
