"""Jobs with earlier attempts, recorded in one transaction each, so that no worker claims them."""

from typing import Any

from core.store import Job, Store, Transaction

ATTEMPTS = 3
CHECKPOINT = 120
_LEASE_SECONDS = 3600.0


def lost_for_good(store: Store) -> str:
    """Record a job that failed because each of its attempts lost its worker."""
    with store.begin() as tx:
        job_id = _training(tx, "poison")
        for number in range(1, ATTEMPTS + 1):
            tx.jobs.claim(job_id, f"trainer-{number}:41/57", _LEASE_SECONDS)
            for lost in tx.jobs.running_on(""):
                tx.jobs.recover(lost, ATTEMPTS)
    return job_id


def resumed(store: Store, spec: dict[str, Any] | None = None) -> str:
    """Record a training that was returned to the queue, lost its worker, and resumed from a checkpoint."""
    with store.begin() as tx:
        job_id = _training(tx, "nightly", spec)
        first = tx.jobs.claim(job_id, "trainer-1:41/57", _LEASE_SECONDS)
        assert first is not None
        tx.jobs.release(job_id, first.token)
        second = tx.jobs.claim(job_id, "trainer-1:88/91", _LEASE_SECONDS)
        assert second is not None
        checkpoint = {"key": "checkpoints/x", "sha256": "0" * 64, "iteration": CHECKPOINT, "total": 500}
        tx.jobs.keep_checkpoint(job_id, second.token, checkpoint)
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, ATTEMPTS)
        third = tx.jobs.claim(job_id, "trainer-2:41/60", _LEASE_SECONDS)
        assert third is not None
        progress = {"phase": "training", "iteration": 180, "total": 500, "eta_seconds": 75.0}
        tx.jobs.record(job_id, third.token, progress=progress)
    return job_id


def failed(store: Store, title: str, detail: str, limits: dict[str, Any]) -> str:
    """Record a job that ended with a problem in its first attempt."""
    with store.begin() as tx:
        job_id = _training(tx, "greedy", {"limits": limits})
        claimed = tx.jobs.claim(job_id, "trainer-1:41/57", _LEASE_SECONDS)
        assert claimed is not None
        tx.jobs.fail(job_id, claimed.token, {"title": title, "detail": detail})
    return job_id


def timed(store: Store) -> str:
    """Record a finished training, with the times of its iterations and phases."""
    with store.begin() as tx:
        job_id = _training(tx, "timed", {"hyperparameters": {"num_iterations": 9}})
        claimed = tx.jobs.claim(job_id, "trainer-1:41/57", _LEASE_SECONDS)
        assert claimed is not None
        times = {
            k: {"objective": 7.1 + k / 5, "tree": 89.0 + k if k > 1 else 900.0, "metrics": 3.5 + k / 10}
            for k in range(1, 10)
        }
        curve = [(k, {part: {"ndcg@10": 0.3 + k / 50} for part in ("train", "validation")}) for k in times]
        phases = [
            {"phase": "loading", "seconds": 3.21, "peak_memory_bytes": 412_000_000},
            {"phase": "binning", "seconds": 14.02, "peak_memory_bytes": 2_310_000_000},
            {"phase": "training", "seconds": 418.4, "peak_memory_bytes": 1_240_000_000},
            {"phase": "storing", "seconds": 0.04, "peak_memory_bytes": 1_190_000_000},
            {"phase": f"scoring by {'m' * 100}:1", "seconds": 2.5, "peak_memory_bytes": 1_195_000_000},
        ]
        progress = {"phase": "finished", "iteration": 9, "total": 9, "eta_seconds": None}
        tx.jobs.record(
            job_id,
            claimed.token,
            progress=progress,
            iterations=curve,
            milliseconds=times,
            phases=phases,
        )
        tx.jobs.succeed(job_id, claimed.token, {})
    return job_id


def binning(store: Store) -> str:
    """Record a training in the phase that bins the features."""
    with store.begin() as tx:
        claimed = tx.jobs.claim(_training(tx, "large"), "trainer-1:41/57", _LEASE_SECONDS)
        assert claimed is not None
        progress = {"phase": "binning", "iteration": 37, "total": 100, "eta_seconds": 24.0}
        tx.jobs.record(claimed.id, claimed.token, progress=progress)
    return claimed.id


def distributed(store: Store, ranks: list[dict[str, Any]], *, restarts: int) -> Job:
    """Record a training that runs on several ranks."""
    distribution = {"ranks": {"at_least": 2, "at_most": 4}, "threads_per_rank": 4}
    with store.begin() as tx:
        job_id = _training(tx, "over-ranks", {"distribution": distribution})
        claimed = tx.jobs.claim(job_id, "trainer-1:41/57", _LEASE_SECONDS)
        assert claimed is not None
        progress = {"phase": "training", "iteration": 180, "total": 500, "eta_seconds": 75.0}
        details = {"ranks": ranks, "restarts": restarts}
        tx.jobs.record(job_id, claimed.token, progress=progress | details)
    return claimed


def _training(tx: Transaction, name: str, spec: dict[str, Any] | None = None) -> str:
    return tx.jobs.add("train", {"model_name": name, "loss": {"name": "lambdarank"}, **(spec or {})}).id
