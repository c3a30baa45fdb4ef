"""Faults that are injected while jobs run, with the time until the service recovers."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from tests.faults.parts import kill_process
from tests.faults.scene import ENDED, Running, Scene, moment, now, pid_of

OUTAGE_SECONDS = 10.0
RECOVERY_LIMIT_SECONDS = 120.0
_MOMENT_LIMIT_SECONDS = 60.0
_ATTEMPTS = 3
_STOP_LIMIT_SECONDS = 15.0
_MAX_DELAY_SECONDS = 1.5
_WORKER_LOST = "Worker lost"
_STORAGE = "Storage unavailable"
_FULL = "Storage full"


@dataclass(frozen=True)
class Fault:
    """A fault to inject.

    Attributes:
        name: Name in the table.
        strike: Injects the fault once, waits for recovery, and returns the recovery times in seconds.
        strikes: Number of injections during one batch of jobs.
        reasons: Titles of problems with which a job may correctly end.
        pause_seconds: Mean time between two requests, 0 to send all requests immediately.
        check: Returns complaints after the last job has ended.
    """

    name: str
    strike: Callable[[Scene], list[float]]
    strikes: int = 1
    reasons: frozenset[str] = frozenset()
    pause_seconds: float = 0.0
    check: Callable[[Scene], list[str]] = lambda _: []


def kill_worker(scene: Scene) -> list[float]:
    """Kill a whole worker that runs a training; its supervisor restarts it, and another worker runs."""
    victim = _victim(scene)
    if victim is None:
        return []
    beside = [other for other in scene.running() if other.worker is victim.worker]
    struck_at = now()
    victim.worker.kill()
    return [seconds for other in beside for seconds in running_again(scene, other, struck_at)]


def kill_child(scene: Scene) -> list[float]:
    """Kill the worker process that runs a training, as the kernel does when memory runs out."""
    victim = _victim(scene)
    if victim is None:
        return []
    struck_at = now()
    kill_process(victim.pid)
    return running_again(scene, victim, struck_at)


def stop_worker(scene: Scene) -> list[float]:
    """Stop a worker that runs a training: it keeps its checkpoint and hands its jobs back immediately."""
    victim = _victim(scene)
    if victim is None:
        return []
    beside = [other for other in scene.running() if other.worker is victim.worker]
    struck_at = now()
    code, seconds = victim.worker.terminate()
    if code != 0 or seconds > _STOP_LIMIT_SECONDS:
        scene.complaints.append(f"a worker asked to stop took {seconds:.1f} s and exited with {code}")
    taken = [seconds for other in beside for seconds in running_again(scene, other, struck_at)]
    for other in beside:
        scene.complaints += _not_handed_back(scene, other)
    return taken


def _not_handed_back(scene: Scene, stopped: Running) -> list[str]:
    place = len(stopped.job["attempts"]) - 1
    attempts = scene.job(stopped.job["id"])["attempts"]
    ended, following = attempts[place]["ending"], attempts[place + 1 :]
    if ended not in ("handed_back", "succeeded"):
        return [f"an attempt of a worker asked to stop ended {ended}"]
    iteration = (stopped.job["progress"] or {}).get("iteration") or 0
    if stopped.job["kind"] == "train" and following and iteration and not following[0]["resumed_from"]:
        return [f"a training stopped at iteration {iteration} began from the start"]
    return []


def kill_api(scene: Scene) -> list[float]:
    """Kill the API while it handles requests."""
    if not _wait_for(scene, lambda: scene.client.is_submitting):
        return []
    # A request takes a few milliseconds.
    scene.installation.attend(scene.random.uniform(0, 0.03))
    struck_at = now()
    scene.installation.api.kill()
    return _until_all_works(scene, struck_at)


def kill_broker(scene: Scene) -> list[float]:
    """Kill the broker, which loses all messages, and start it again after a moment."""
    _wait_for(scene, lambda: bool(scene.running()))
    struck_at = now()
    scene.installation.broker.process.kill()
    scene.installation.attend(scene.random.uniform(0.2, 3))
    scene.installation.broker.process.start()
    return _until_all_works(scene, struck_at)


def flush_broker(scene: Scene) -> list[float]:
    """Delete all messages of the broker while jobs wait."""
    _wait_for(scene, lambda: any(job["status"] == "queued" for job in scene.jobs()))
    struck_at = now()
    scene.installation.broker.flush()
    return _until_all_works(scene, struck_at)


def restart_database(scene: Scene) -> list[float]:
    """Shut PostgreSQL down immediately, without notice to its clients, and start it again after a moment."""
    postgres = scene.installation.postgres
    assert postgres is not None
    assert postgres.process.pid is not None
    _wait_for(scene, lambda: bool(scene.running("train")))
    struck_at = now()
    os.kill(postgres.process.pid, signal.SIGQUIT)
    scene.installation.attend(scene.random.uniform(0.2, 3))
    postgres.process.start()
    return _until_all_works(scene, struck_at)


def close_store(scene: Scene) -> list[float]:
    """Make the object store answer 503 for ten seconds."""
    front = scene.installation.front
    assert front is not None
    _wait_for(scene, lambda: bool(scene.running("train")))
    struck_at, refused = now(), front.refused
    front.close()
    scene.installation.attend(OUTAGE_SECONDS)
    front.open()
    if front.refused == refused:
        scene.complaints.append("the object store received no request during the outage: nothing was tested")
    return _until_all_works(scene, struck_at)


def fill_disk(scene: Scene) -> list[float]:
    """Fill the disk of the database and the artifacts for ten seconds."""
    disk = scene.installation.disk
    assert disk is not None
    _wait_for(scene, lambda: bool(scene.running("train")))
    struck_at = now()
    disk.fill()
    try:
        scene.installation.attend(OUTAGE_SECONDS)
    finally:
        disk.free()
    return _until_all_works(scene, struck_at)


def poison(scene: Scene) -> list[float]:
    """Submit a training whose process is killed at each attempt; other jobs continue meanwhile."""
    submission = scene.materials.submissions(1)[0]
    scene.submit([submission])
    scene.installation.until(
        lambda: scene.id_of(submission) is not None, _MOMENT_LIMIT_SECONDS, "the poison job is accepted"
    )
    job_id = str(scene.id_of(submission))
    killed: set[int] = set()
    first_at = now()

    def ended() -> bool:
        for running in scene.running("train"):
            if running.job["id"] == job_id and running.pid not in killed:
                killed.add(running.pid)
                kill_process(running.pid)
        return scene.job(job_id)["status"] in ENDED

    scene.installation.until(ended, RECOVERY_LIMIT_SECONDS, "the poison job has ended")
    _complain_of_poison(scene, job_id, first_at)
    return []


def running_again(scene: Scene, victim: Running, struck_at: datetime) -> list[float]:
    """Wait until an interrupted job runs again; return the seconds, or nothing if it had already ended."""
    job_id = victim.job["id"]
    begun: list[float] = []

    def again() -> bool:
        job = scene.job(job_id)
        later = [at for attempt in job["attempts"] if (at := moment(attempt["started_at"])) > struck_at]
        begun.extend((at - struck_at).total_seconds() for at in later[:1])
        return bool(later) or job["status"] in ENDED

    scene.installation.until(again, RECOVERY_LIMIT_SECONDS, f"{job_id} runs again")
    return begun[:1]


def _until_all_works(scene: Scene, struck_at: datetime) -> list[float]:
    """Submit small jobs until one has succeeded."""
    while (now() - struck_at).total_seconds() < RECOVERY_LIMIT_SECONDS:
        job = scene.run_soon(scene.materials.probe())
        if job is not None and job["status"] == "succeeded":
            return [(moment(job["finished_at"]) - struck_at).total_seconds()]
    scene.complaints.append("the service did not recover")
    return []


def _victim(scene: Scene) -> Running | None:
    """Wait for a random time and return an interruptible training, None without any."""
    if not _wait_for(scene, lambda: bool(_interruptible(scene))):
        return None
    scene.installation.attend(scene.random.uniform(0, _MAX_DELAY_SECONDS))
    trainings = _interruptible(scene)
    return scene.random.choice(trainings) if trainings else None


def _interruptible(scene: Scene) -> list[Running]:
    """Return the trainings on workers whose jobs all have an attempt left after another loss."""
    running = scene.running()
    tired = {id(each.worker) for each in running if each.job["attempt"] >= _ATTEMPTS}
    return [each for each in running if each.job["kind"] == "train" and id(each.worker) not in tired]


def _wait_for(scene: Scene, condition: Callable[[], bool]) -> bool:
    """Wait until a condition is true; return False if all jobs end before."""
    found: list[bool] = []

    def over() -> bool:
        if condition():
            found.append(True)
        return bool(found) or (
            not scene.is_submitting and all(job["status"] in ENDED for job in scene.jobs())
        )

    scene.installation.until(over, _MOMENT_LIMIT_SECONDS, "a moment to strike")
    return bool(found)


def _complain_of_poison(scene: Scene, job_id: str, first_at: datetime) -> None:
    job = scene.job(job_id)
    endings = [attempt["ending"] for attempt in job["attempts"]]
    if job["status"] != "failed" or job["problem"]["title"] != _WORKER_LOST:
        scene.complaints.append(f"the poison job ended {job['status']}: {job['problem']}")
    if endings != ["lost"] * _ATTEMPTS:
        scene.complaints.append(f"the attempts of the poison job ended {endings}")
    meanwhile = [
        other["id"]
        for other in scene.jobs()
        if other["status"] == "succeeded"
        and first_at < moment(other["finished_at"]) < moment(job["finished_at"])
    ]
    if not meanwhile:
        scene.complaints.append("nothing else was finished while the poison job went round")


def _each_once_on_all_workers(scene: Scene) -> list[str]:
    """Return complaints about jobs with more than one attempt, and about workers without a job."""
    problems = []
    workers: Counter[str] = Counter()
    for job in scene.jobs():
        if [attempt["ending"] for attempt in job["attempts"]] != ["succeeded"]:
            problems.append(f"{job['id']} was not run once: {job['attempts']}")
        worker = scene.installation.worker_of(pid_of(job))
        workers[worker.name if worker else "none of the workers"] += 1
    if set(workers) != {part.name for part in scene.installation.workers}:
        problems.append(f"jobs by worker: {dict(workers)}")
    return problems


NOTHING = Fault("nothing (undisturbed)", lambda _: [], strikes=0)
TWO_WORKERS = Fault("nothing; two workers", lambda _: [], strikes=0, check=_each_once_on_all_workers)

# Faults for batches of jobs on PostgreSQL, Valkey and an object store.
ON_SERVERS: Mapping[str, Fault] = MappingProxyType(
    {
        "worker": Fault("SIGKILL of a worker", kill_worker, strikes=3),
        "child": Fault("SIGKILL of a worker's child", kill_child, strikes=3),
        "stop": Fault("SIGTERM of a worker", stop_worker, strikes=3),
        "api": Fault("SIGKILL of the API", kill_api, strikes=4, pause_seconds=1.0),
        "broker": Fault("SIGKILL of the broker", kill_broker, strikes=2),
        "flush": Fault("the broker forgets everything", flush_broker, strikes=2),
        "postgres": Fault("restart of PostgreSQL", restart_database, strikes=2),
        "store": Fault("object store answers 503", close_store, reasons=frozenset({_STORAGE})),
        "poison": Fault("poison job", poison, reasons=frozenset({_WORKER_LOST})),
    }
)
# Faults for batches of jobs on one small disk.
ON_ONE_DISK: Mapping[str, Fault] = MappingProxyType(
    {"disk": Fault("full disk", fill_disk, reasons=frozenset({_STORAGE, _FULL}))}
)
