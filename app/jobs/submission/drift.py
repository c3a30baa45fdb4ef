"""Check requests for drift reports."""

from app.jobs.requests.inspecting import DriftRequest
from app.jobs.submission.checks import has_no_features, require_ready
from app.jobs.submission.measuring import model_named
from core.drift import smallest_p
from core.errors import InvalidInput
from core.jobs.drift import DriftJob
from core.store import Transaction


def drift(tx: Transaction, request: DriftRequest) -> DriftJob:
    """Check a request for a drift report, and return its job specification.

    Raises:
        InvalidInput: There is no dataset to compare with, it has no features, or a threshold cannot be
            reached.
        NotFound: The model or the dataset does not exist.
        WrongState: The dataset is not ready.
    """
    system = model_named(tx, request.model)
    model = tx.models.get(system["model_id"])
    datasets = DriftJob.reference_datasets(
        request.dataset_id, model.dataset_id, model.lineage, tx.datasets.exists
    )
    (dataset,) = require_ready(tx, [datasets["dataset_id"]])
    if has_no_features(dataset):
        raise InvalidInput.at(
            "/dataset_id", "has judgments without features, but drift is measured on features"
        )
    job = DriftJob.from_json({**request.model_dump(mode="json"), **system, **datasets})
    least = smallest_p(job.n_comparisons)
    if job.thresholds.p < least:
        raise InvalidInput.at(
            "/thresholds/p", f"must be at least {least:g}, the smallest probability that a report can show"
        )
    return job
