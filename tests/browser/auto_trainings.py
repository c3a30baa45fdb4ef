"""Automatic trainings in different states, each recorded in one transaction so that no worker claims it."""

from typing import Any

from core.store import Job, Store, Transaction

AUTO_TRAIN = {
    "model_name": "best",
    "dataset_id": "ds_1",
    "metric": "ndcg@10",
    "contract": {"preset": "default"},
    "budget_seconds": 600.0,
}
_FOLDS = 10


def running(store: Store) -> str:
    """Record an automatic training that measures its candidates."""
    with store.begin() as tx:
        claimed = _claimed(tx, _candidates())
        progress = {"phase": "trying linear by ranknet", "iteration": 34, "total": 60, "eta_seconds": 140.0}
        tx.jobs.record(claimed.id, claimed.token, progress=progress)
    return claimed.id


def failed(store: Store) -> str:
    """Record an automatic training that failed while it measured its candidates."""
    with store.begin() as tx:
        claimed = _claimed(tx, _candidates())
        tx.jobs.fail(claimed.id, claimed.token, {"title": "Memory limit", "detail": "It took over 2.0 GB."})
    return claimed.id


def cancelled(store: Store) -> str:
    """Record an automatic training that was cancelled before it started."""
    with store.begin() as tx:
        job_id = tx.jobs.add("auto-train", AUTO_TRAIN).id
        tx.jobs.request_cancel(job_id)
    return job_id


def succeeded(store: Store) -> str:
    """Record an automatic training that chose the sum of two candidates, and the model of the sum."""
    members = {"trees by lambdarank": 0.6, "linear by lambdarank": 0.4}
    with store.begin() as tx:
        claimed = _claimed(tx, _candidates(ended=True))
        model = tx.models.add(
            name="best",
            job_id=claimed.id,
            feature_names=["bm25", "age"],
            best_iteration=240,
            sha256="0" * 64,
            size_bytes=83_068,
            scorer={"kind": "sum", "models": list(members), "weights": [0.731, 12.34]},
            lineage={
                "job_id": claimed.id,
                "datasets": {},
                "init_model": None,
                "spec": {"kind": "auto-train", **AUTO_TRAIN},
                "seed": 42,
                "rankery": "0.1.0",
                "libraries": {},
                "machine": "x86_64",
            },
        )
        for number, weight in enumerate(members.values()):
            tx.candidates.change(claimed.id, number, weight=weight, size_bytes=81_234 - 79_400 * number)
        conclusion = {
            "sentence": _SENTENCE,
            "value": 0.4687,
            "interval": [0.4471, 0.4893],
            "data": "held-out",
            "members": [{"name": name, "weight": weight} for name, weight in members.items()],
            "baselines": [
                _baseline("LightGBM's default trees", 0.4310, 0.002),
                _baseline("best single feature (bm25)", 0.4702, 0.74),
                _baseline("random order", 0.2504, 0.00004),
            ],
            "seconds": {"trials": 240.1, "selection": 1.2, "final trainings": 20.0},
        }
        tx.jobs.succeed(claimed.id, claimed.token, {"model_id": model.id, "conclusion": conclusion})
    return claimed.id


_SENTENCE = (
    "the weighted sum of 2 models (trees by lambdarank, linear by lambdarank) has ndcg@10 0.4687"
    " [0.4471, 0.4893] on 300 held-out queries: better than LightGBM's default trees (0.4310, p = 0.002)."
)


def _baseline(name: str, value: float, p: float) -> dict[str, Any]:
    verdict = "better" if p < 0.05 else "no evidence"
    return {"name": name, "value": value, "difference": 0.4687 - value, "p_value": p, "verdict": verdict}


def _claimed(tx: Transaction, candidates: list[dict[str, Any]]) -> Job:
    claimed = tx.jobs.claim(tx.jobs.add("auto-train", AUTO_TRAIN).id, "trainer-1:41/57", 3600.0)
    assert claimed is not None
    tx.candidates.add(claimed.id, candidates)
    return claimed


def _candidates(*, ended: bool = False) -> list[dict[str, Any]]:
    """Return candidates of every status; an ended training has no pending ones."""
    measured = [
        _candidate("trees", "lambdarank", 0.4512, tied_with_best=True),
        _candidate("linear", "lambdarank", 0.4602, tied_with_best=True),
        _candidate("trees", "arp-loss2", 0.4391, tied_with_best=False),
    ]
    stopped = _candidate("mlp", "listnet", 0.4101, status="stopped", folds=4, reason="shown to be worse")
    out_of_time = _candidate(
        "mlp", "ranknet", None, status="out-of-time", folds=0, reason="the budget was used up"
    )
    if ended:
        return [*measured, stopped, out_of_time]
    running = _candidate("linear", "ranknet", None, status="running", folds=0)
    waiting = _candidate("trees", "xe-ndcg", None, status="queued", folds=0)
    return [*measured, stopped, running, waiting]


def _candidate(kind: str, loss: str, value: float | None, **columns: Any) -> dict[str, Any]:
    hyperparameters = {"num_leaves": 31} if kind == "trees" else None
    return {
        "name": f"{'network' if kind == 'mlp' else kind} by {loss}",
        "training": {"loss": {"name": loss}, "scorer": {"kind": kind}, "hyperparameters": hyperparameters},
        "status": "complete",
        "folds": _FOLDS,
        "value": value,
        "interval": None if value is None else [value - 0.021, value + 0.021],
        "iterations": None if value is None else 240,
        "seconds": 0.0 if value is None else 12.3,
    } | columns
