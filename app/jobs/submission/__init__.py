"""Validate job requests before they are queued, so that workers start no job that must fail."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from app.jobs.requests import AnyRequest, JobBatchRequest
from app.jobs.requests.clicks import (
    ClickModelRequest,
    CounterfactualRequest,
    JudgeRequest,
    PropensityRequest,
    SimulateClicksRequest,
)
from app.jobs.requests.measuring import (
    CompareRequest,
    DriftRequest,
    EvaluateRequest,
    InspectRequest,
    RankDatasetRequest,
)
from app.jobs.requests.training import AutoTrainRequest, TrainRequest
from app.jobs.submission.automatic import resolve_automatic_training
from app.jobs.submission.clicks import (
    resolve_click_model,
    resolve_counterfactual,
    resolve_judging,
    resolve_propensity,
    resolve_simulation,
)
from app.jobs.submission.measuring import (
    resolve_comparison,
    resolve_drift,
    resolve_evaluation,
    resolve_inspection,
    resolve_ranking,
)
from app.jobs.submission.repeats import check_repeats, check_seed_has_effect, repeated_requests
from app.jobs.submission.training import resolve_training
from core.errors import InputProblem, InvalidInput
from core.jobs import JobSpec
from core.store import Job, Transaction
from core.store.clock import utc_now
from core.store.repositories.projects import Labels

# For each kind of request, the function that validates it and returns the resolved specification of its job.
_RESOLVERS: Mapping[type[AnyRequest], Callable[[Transaction, Any], JobSpec]] = MappingProxyType(
    {
        TrainRequest: resolve_training,
        AutoTrainRequest: resolve_automatic_training,
        EvaluateRequest: resolve_evaluation,
        RankDatasetRequest: resolve_ranking,
        CompareRequest: resolve_comparison,
        InspectRequest: resolve_inspection,
        DriftRequest: resolve_drift,
        ClickModelRequest: resolve_click_model,
        JudgeRequest: resolve_judging,
        CounterfactualRequest: resolve_counterfactual,
        PropensityRequest: resolve_propensity,
        SimulateClicksRequest: resolve_simulation,
    }
)


def submit(tx: Transaction, request: AnyRequest, key_id: str | None = None) -> Job:
    """Validate a job request and queue it with its resolved specification.

    Raises:
        InvalidInput: A field is invalid, or fields contradict each other.
        NotFound: A dataset, click log, model or ranking of the request does not exist.
        WrongState: A dataset or click log is not ready.
    """
    return _queue(tx, _resolve(tx, request), key_id, request.labels())


def submit_all(tx: Transaction, batch: JobBatchRequest, key_id: str | None = None) -> list[Job]:
    """Validate several job requests, and queue their jobs and repeats together or none of them.

    Raises:
        InvalidInput: A request is invalid; pointers begin with its position, such as `/jobs/0`.
        NotFound: See `submit`.
        WrongState: See `submit`.
    """
    check_repeats(batch)
    now = utc_now()
    resolved: list[tuple[JobSpec, Labels]] = []
    problems: list[InputProblem] = []
    for index, request in enumerate(batch.jobs):
        try:
            if batch.repeats is None or not isinstance(request, TrainRequest):
                resolved.append((_resolve(tx, request), request.labels()))
                continue
            copies = repeated_requests(request, batch.repeats, now)
            repeats = [resolve_training(tx, each) for each in copies]
            check_seed_has_effect(repeats[0])  # repeats differ only in their seed
            resolved += [(spec, each.labels()) for spec, each in zip(repeats, copies, strict=True)]
        except InvalidInput as invalid:
            problems += invalid.below(f"/jobs/{index}").problems
    if problems:
        raise InvalidInput(*problems)
    # All locks of model names in one order, so that two batches do not deadlock.
    tx.projects.lock_names(spec.made_model_name for spec, _ in resolved if spec.made_model_name is not None)
    return [_queue(tx, spec, key_id, labels) for spec, labels in resolved]


def _queue(tx: Transaction, spec: JobSpec, key_id: str | None, labels: Labels) -> Job:
    """Queue a job, and attach it to the dataset or the click log that it makes."""
    job = tx.enqueue(spec, key_id, labels)
    if spec.makes_dataset:
        tx.datasets.attach_job(spec.dataset_ids["data"], job.id)
    if spec.makes_click_log:
        for log_id in spec.click_log_ids.values():
            tx.click_logs.attach_job(log_id, job.id)
    return job


def _resolve(tx: Transaction, request: AnyRequest) -> JobSpec:
    return _RESOLVERS[type(request)](tx, request)
