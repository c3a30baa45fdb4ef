"""Jobs on click logs that are interrupted in each phase, and that end with the same content."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from app.jobs.requests.clicks import CounterfactualRequest
from app.jobs.submission.clicks import resolve_counterfactual
from core.data import synthetic_dataset
from core.jobs.ingest import IngestClicksJob
from core.store import Store
from core.store.artifacts.keys import click_log_upload_key
from tests.checksums import checksums_under
from tests.worker.inline_worker import InlineWorker
from tests.worker.interruption import hold, on_phases
from tests.worker.test_click_logs import ingested
from tests.worker.test_click_models import QUICK
from tests.worker.test_counterfactual import clicks_on
from worker.job.lease import Lease
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_jobs

DOCUMENTS = synthetic_dataset(12, seed=1, documents_per_query=3, n_features=4)
CLICKS = clicks_on(DOCUMENTS)
# Ids in results, which differ between jobs.
IDS = ("click_log_id", "dataset_id")

Queued = Callable[[InlineWorker], str]


def queue_ingestion(inline_worker: InlineWorker) -> str:
    """Queue the ingestion of a log."""
    store = inline_worker.store
    with store.begin() as tx:
        log = tx.click_logs.add("clicks", {"kind": "upload", "filename": "clicks.csv", "format": "auto"})
        job = tx.enqueue(IngestClicksJob(click_log_id=log.id, name="clicks"))
        tx.click_logs.attach_job(log.id, job.id)
    store.artifacts.write_bytes(click_log_upload_key(log.id, "file"), CLICKS.encode())
    return job.id


def queue_simulation(inline_worker: InlineWorker) -> str:
    """Queue a simulation."""
    dataset_id = inline_worker.add(DOCUMENTS, "judged")
    with inline_worker.store.begin() as tx:
        log = tx.click_logs.add("simulated", {"kind": "simulation"})
        spec = {
            "click_log_id": log.id,
            "log_name": "simulated",
            "dataset_id": dataset_id,
            "rankers": [{"system": "f1", "model_id": None}],
            "user_model": {"kind": "dbn"},
            "lists": 200,
        }
        job = tx.jobs.add("simulate-clicks", {"kind": "simulate-clicks", **spec})
        tx.click_logs.attach_job(log.id, job.id)
    return job.id


def queued_on_log(kind: str, **spec: Any) -> Queued:
    """Return a function that queues a job on a log that is ready."""

    def queue(inline_worker: InlineWorker) -> str:
        log_id = ingested(inline_worker, CLICKS).id
        with inline_worker.store.begin() as tx:
            return tx.jobs.add(kind, {"kind": kind, "click_log_id": log_id, **spec}).id

    return queue


def queue_judgments(inline_worker: InlineWorker) -> str:
    """Queue judgments."""
    log_id = ingested(inline_worker, CLICKS).id
    features_id = inline_worker.add(DOCUMENTS, "features")
    with inline_worker.store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "clicks"})
        given = {"click_log_id": log_id, "dataset_id": dataset.id, "features_dataset_id": features_id}
        spec = {"kind": "judge", "name": "judged", **given, "options": QUICK, "judgments": {}}
        job = tx.jobs.add("judge", spec, dataset_ids=[dataset.id, features_id])
        tx.datasets.attach_job(dataset.id, job.id)
    return job.id


def queue_evaluation(inline_worker: InlineWorker) -> str:
    """Queue a counterfactual evaluation."""
    dataset_id = inline_worker.add(DOCUMENTS, "documents")
    inline_worker.training_result(dataset_id, hyperparameters={"num_iterations": 2, "min_data_in_leaf": 1})
    request = {
        "kind": "counterfactual",
        "click_log_id": ingested(inline_worker, CLICKS).id,
        "dataset_id": dataset_id,
        "systems": [{"model": "web:1"}],
        "metric": "dcg@3",
        "estimator": "item_position",
    }
    with inline_worker.store.begin() as tx:
        return tx.enqueue(resolve_counterfactual(tx, CounterfactualRequest.model_validate(request))).id


def content(store: Store, job_id: str) -> dict[str, Any]:
    """Return a job's result without ids, and the checksums of its log or dataset."""
    with store.read() as tx:
        job = tx.jobs.get(job_id)
        assert job.status == "succeeded", job.problem
        results: dict[str, Any] = {
            name: value for name, value in (job.result or {}).items() if name not in IDS
        }
        keys: list[str] = []
        if job.kind in ("ingest-clicks", "simulate-clicks"):
            log = tx.click_logs.get(job.spec["click_log_id"])
            results |= {"statistics": log.statistics, "findings": log.findings}
            keys = [row.key for row in checksums_under(tx, f"{log.folder}/")]
            assert keys
        if job.kind == "judge":
            dataset = tx.datasets.get(job.spec["dataset_id"])
            assert dataset.data_key is not None
            keys = [dataset.data_key]
    files = {key.rsplit("/", 1)[-1]: store.artifacts.read_bytes(key) for key in keys}
    return {**results, "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}}


@pytest.mark.parametrize(
    ("queue", "phases"),
    [
        (queue_ingestion, 3),
        (queue_simulation, 3),
        (
            queued_on_log(
                "click-model", log_name="clicks", models=["pbm", "sdbn"], options=QUICK, held_out=0.3
            ),
            4,
        ),
        (queued_on_log("propensity", method="all-pairs", positions=3, resamples=3), 2),
        (queue_judgments, 3),
        (queue_evaluation, 3),
    ],
    ids=["ingest-clicks", "simulate-clicks", "click-model", "propensity", "judge", "counterfactual"],
)
def test_a_job_interrupted_in_each_phase_yields_the_same_content(
    inline_worker: InlineWorker, monkeypatch: pytest.MonkeyPatch, queue: Queued, phases: int
) -> None:
    """The content equals that of an undisturbed job."""
    undisturbed_id = queue(inline_worker)
    seen: dict[str, None] = {}
    with monkeypatch.context() as patch:
        on_phases(patch, lambda _, phase: seen.setdefault(phase))
        inline_worker.run_queued(undisturbed_id)
    assert len(seen) >= phases, seen
    job_id = queue(inline_worker)
    with inline_worker.store.read() as tx:
        kind = tx.jobs.get(job_id).kind
    for each in seen:
        stop = StopFlag()

        def stop_at_phase(lease: Lease, phase: str, at: str = each, stop: StopFlag = stop) -> None:
            if phase == at:
                stop.set()
                hold(lease)

        with monkeypatch.context() as patch:
            on_phases(patch, stop_at_phase)
            run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", [kind])
        with inline_worker.store.read() as tx:
            assert tx.jobs.get(job_id).status == "queued", each
    inline_worker.run_queued(job_id)
    assert content(inline_worker.store, job_id) == content(inline_worker.store, undisturbed_id)
