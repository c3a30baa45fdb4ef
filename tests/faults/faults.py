"""Faults that are injected while jobs run, with the time until the service recovers."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from tests.faults.job_batch import ENDED, JobBatch, Running, moment, now, pid_of
from tests.faults.parts import kill_process

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
        inject: Injects the fault once, waits for recovery, and returns the recovery times in seconds.
        injections: Number of injections during one batch of jobs.
        reasons: Titles of problems with which a job may correctly end.
        pause_seconds: Mean time between two requests, 0 to send all requests immediately.
        check: Returns problems after the last job has ended.
    """

    name: str
    inject: Callable[[JobBatch], list[float]]
    injections: int = 1
    reasons: frozenset[str] = frozenset()
    pause_seconds: float = 0.0
    check: Callable[[JobBatch], list[str]] = lambda _: []


def kill_worker(batch: JobBatch) -> list[float]:
    """Kill a whole worker that runs a training; its supervisor restarts it, and another worker runs."""
    victim = _victim(batch)
    if victim is None:
        return []
    interrupted = [job for job in batch.running() if job.worker is victim.worker]
    injected_at = now()
    victim.worker.kill()
    return [seconds for job in interrupted for seconds in running_again(batch, job, injected_at)]


def kill_child(batch: JobBatch) -> list[float]:
    """Kill the worker process that runs a training, as the kernel does when memory runs out."""
    victim = _victim(batch)
    if victim is None:
        return []
    injected_at = now()
    kill_process(victim.pid)
    return running_again(batch, victim, injected_at)


def stop_worker(batch: JobBatch) -> list[float]:
    """Stop a worker that runs a training: it keeps its checkpoint and hands its jobs back immediately."""
    victim = _victim(batch)
    if victim is None:
        return []
    interrupted = [job for job in batch.running() if job.worker is victim.worker]
    injected_at = now()
    code, seconds = victim.worker.terminate()
    if code != 0 or seconds > _STOP_LIMIT_SECONDS:
        batch.problems.append(f"a worker asked to stop took {seconds:.1f} s and exited with {code}")
    recoveries = [seconds for job in interrupted for seconds in running_again(batch, job, injected_at)]
    for job in interrupted:
        batch.problems += _not_handed_back(batch, job)
    return recoveries


def _not_handed_back(batch: JobBatch, stopped: Running) -> list[str]:
    place = len(stopped.job["attempts"]) - 1
    attempts = batch.job(stopped.job["id"])["attempts"]
    ended, following = attempts[place]["ending"], attempts[place + 1 :]
    if ended not in ("handed_back", "succeeded"):
        return [f"an attempt of a worker asked to stop ended {ended}"]
    iteration = (stopped.job["progress"] or {}).get("iteration") or 0
    if stopped.job["kind"] == "train" and following and iteration and not following[0]["resumed_from"]:
        return [f"a training stopped at iteration {iteration} began from the start"]
    return []


def kill_api(batch: JobBatch) -> list[float]:
    """Kill the API while it handles requests."""
    if not _wait_for(batch, lambda: batch.client.is_submitting):
        return []
    # A request takes a few milliseconds.
    batch.installation.supervise(batch.random.uniform(0, 0.03))
    injected_at = now()
    batch.installation.api.kill()
    return _until_all_works(batch, injected_at)


def kill_broker(batch: JobBatch) -> list[float]:
    """Kill the broker, which loses all messages, and start it again after a moment."""
    _wait_for(batch, lambda: bool(batch.running()))
    injected_at = now()
    batch.installation.broker.process.kill()
    batch.installation.supervise(batch.random.uniform(0.2, 3))
    batch.installation.broker.process.start()
    return _until_all_works(batch, injected_at)


def flush_broker(batch: JobBatch) -> list[float]:
    """Delete all messages of the broker while jobs wait."""
    _wait_for(batch, lambda: any(job["status"] == "queued" for job in batch.jobs()))
    injected_at = now()
    batch.installation.broker.flush()
    return _until_all_works(batch, injected_at)


def restart_database(batch: JobBatch) -> list[float]:
    """Shut PostgreSQL down immediately, without notice to its clients, and start it again after a moment."""
    postgres = batch.installation.postgres
    assert postgres is not None
    assert postgres.process.pid is not None
    _wait_for(batch, lambda: bool(batch.running("train")))
    injected_at = now()
    os.kill(postgres.process.pid, signal.SIGQUIT)
    batch.installation.supervise(batch.random.uniform(0.2, 3))
    postgres.process.start()
    return _until_all_works(batch, injected_at)


def close_store(batch: JobBatch) -> list[float]:
    """Make the object store answer 503 for ten seconds."""
    store_proxy = batch.installation.store_proxy
    assert store_proxy is not None
    _wait_for(batch, lambda: bool(batch.running("train")))
    injected_at, refused = now(), store_proxy.refused
    store_proxy.close()
    batch.installation.supervise(OUTAGE_SECONDS)
    store_proxy.open()
    if store_proxy.refused == refused:
        batch.problems.append("the object store received no request during the outage: nothing was tested")
    return _until_all_works(batch, injected_at)


def fill_disk(batch: JobBatch) -> list[float]:
    """Fill the disk of the database and the artifacts for ten seconds."""
    disk = batch.installation.disk
    assert disk is not None
    _wait_for(batch, lambda: bool(batch.running("train")))
    injected_at = now()
    disk.fill()
    try:
        batch.installation.supervise(OUTAGE_SECONDS)
    finally:
        disk.free()
    return _until_all_works(batch, injected_at)


def poison(batch: JobBatch) -> list[float]:
    """Submit a training, the poison job, whose process is killed at each attempt; other jobs continue."""
    submission = batch.materials.submissions(1)[0]
    batch.submit([submission])
    batch.installation.wait_until(
        lambda: batch.id_of(submission) is not None, _MOMENT_LIMIT_SECONDS, "the poison job is accepted"
    )
    job_id = str(batch.id_of(submission))
    killed: set[int] = set()
    first_at = now()

    def ended() -> bool:
        for running in batch.running("train"):
            if running.job["id"] == job_id and running.pid not in killed:
                killed.add(running.pid)
                kill_process(running.pid)
        return batch.job(job_id)["status"] in ENDED

    batch.installation.wait_until(ended, RECOVERY_LIMIT_SECONDS, "the poison job has ended")
    _complain_of_poison(batch, job_id, first_at)
    return []


def running_again(batch: JobBatch, victim: Running, injected_at: datetime) -> list[float]:
    """Wait until an interrupted job runs again; return the seconds, or nothing if it had already ended."""
    job_id = victim.job["id"]
    recoveries: list[float] = []

    def runs_again() -> bool:
        job = batch.job(job_id)
        later = [at for attempt in job["attempts"] if (at := moment(attempt["started_at"])) > injected_at]
        recoveries.extend((at - injected_at).total_seconds() for at in later[:1])
        return bool(later) or job["status"] in ENDED

    batch.installation.wait_until(runs_again, RECOVERY_LIMIT_SECONDS, f"{job_id} runs again")
    return recoveries[:1]


def _until_all_works(batch: JobBatch, injected_at: datetime) -> list[float]:
    """Submit small jobs until one has succeeded."""
    while (now() - injected_at).total_seconds() < RECOVERY_LIMIT_SECONDS:
        job = batch.run_soon(batch.materials.probe())
        if job is not None and job["status"] == "succeeded":
            return [(moment(job["finished_at"]) - injected_at).total_seconds()]
    batch.problems.append("the service did not recover")
    return []


def _victim(batch: JobBatch) -> Running | None:
    """Wait for a random time and return an interruptible training, None without any."""
    if not _wait_for(batch, lambda: bool(_interruptible(batch))):
        return None
    batch.installation.supervise(batch.random.uniform(0, _MAX_DELAY_SECONDS))
    trainings = _interruptible(batch)
    return batch.random.choice(trainings) if trainings else None


def _interruptible(batch: JobBatch) -> list[Running]:
    """Return the trainings on workers whose jobs all have an attempt left after another loss."""
    running = batch.running()
    excluded = {id(each.worker) for each in running if each.job["attempt"] >= _ATTEMPTS}
    return [each for each in running if each.job["kind"] == "train" and id(each.worker) not in excluded]


def _wait_for(batch: JobBatch, condition: Callable[[], bool]) -> bool:
    """Wait until a condition is true; return False if all jobs end before."""
    was_true = False

    def is_over() -> bool:
        nonlocal was_true
        was_true = was_true or condition()
        return was_true or (not batch.is_submitting and all(job["status"] in ENDED for job in batch.jobs()))

    batch.installation.wait_until(is_over, _MOMENT_LIMIT_SECONDS, "the moment to inject the fault")
    return was_true


def _complain_of_poison(batch: JobBatch, job_id: str, first_at: datetime) -> None:
    job = batch.job(job_id)
    endings = [attempt["ending"] for attempt in job["attempts"]]
    if job["status"] != "failed" or job["problem"]["title"] != _WORKER_LOST:
        batch.problems.append(f"the poison job ended {job['status']}: {job['problem']}")
    if endings != ["lost"] * _ATTEMPTS:
        batch.problems.append(f"the attempts of the poison job ended {endings}")
    meanwhile = [
        other["id"]
        for other in batch.jobs()
        if other["status"] == "succeeded"
        and first_at < moment(other["finished_at"]) < moment(job["finished_at"])
    ]
    if not meanwhile:
        batch.problems.append("no other job was finished while the poison job was tried")


def _each_once_on_all_workers(batch: JobBatch) -> list[str]:
    """Return problems about jobs with more than one attempt, and about workers without a job."""
    problems = []
    workers: Counter[str] = Counter()
    for job in batch.jobs():
        if [attempt["ending"] for attempt in job["attempts"]] != ["succeeded"]:
            problems.append(f"{job['id']} was not run once: {job['attempts']}")
        worker = batch.installation.worker_of(pid_of(job))
        workers[worker.name if worker else "none of the workers"] += 1
    if set(workers) != {part.name for part in batch.installation.workers}:
        problems.append(f"jobs by worker: {dict(workers)}")
    return problems


NOTHING = Fault("nothing (undisturbed)", lambda _: [], injections=0)
TWO_WORKERS = Fault("nothing; two workers", lambda _: [], injections=0, check=_each_once_on_all_workers)

# Faults for batches of jobs on PostgreSQL, Valkey and an object store.
ON_SERVERS: Mapping[str, Fault] = MappingProxyType(
    {
        "worker": Fault("SIGKILL of a worker", kill_worker, injections=3),
        "child": Fault("SIGKILL of a worker's child", kill_child, injections=3),
        "stop": Fault("SIGTERM of a worker", stop_worker, injections=3),
        "api": Fault("SIGKILL of the API", kill_api, injections=4, pause_seconds=1.0),
        "broker": Fault("SIGKILL of the broker", kill_broker, injections=2),
        "flush": Fault("the broker forgets everything", flush_broker, injections=2),
        "postgres": Fault("restart of PostgreSQL", restart_database, injections=2),
        "store": Fault("object store answers 503", close_store, reasons=frozenset({_STORAGE})),
        "poison": Fault("poison job", poison, reasons=frozenset({_WORKER_LOST})),
    }
)
# Faults for batches of jobs on one small disk.
ON_ONE_DISK: Mapping[str, Fault] = MappingProxyType(
    {"disk": Fault("full disk", fill_disk, reasons=frozenset({_STORAGE, _FULL}))}
)
