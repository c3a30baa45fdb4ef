"""Run jobs that estimate propensities."""

from dataclasses import asdict
from typing import Any

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.propensities import Propensities, estimate_propensities
from core.clicks.training_data import rows_of_pairs
from core.doctor.report import Finding
from core.jobs.propensity import PropensityJob
from core.types import Float32Array, Float64Array
from worker.job.click_logs import load_click_log
from worker.job.datasets import load_dataset
from worker.job.progress import counting
from worker.job.run import JobRun


def run_propensity(run: JobRun, spec: PropensityJob) -> None:
    """Estimate the propensities of a click log, and store them with intervals as the job's result.

    Raises:
        InvalidInput: The propensities are not identifiable from the log, or the method needs features.
    """
    run.reporter.phase("loading")
    log = load_click_log(run, spec.click_log_id)
    features = None if spec.dataset_id is None else _features(run, log, spec.dataset_id)
    run.reporter.phase("estimating")
    on_resample = counting(run.reporter, "estimating")
    estimate = estimate_propensities(log, spec.plan, features, on_resample, run.threads)
    if estimate.intercepts is not None:
        run.reporter.report(findings=[asdict(_irrelevant_finding(spec.plan.irrelevant_share, estimate))])
    with run.succeeding(propensities_json(spec, estimate)):
        pass


def propensities_json(spec: PropensityJob, estimate: Propensities) -> dict[str, Any]:
    """Return estimated propensities as the JSON of a job's result."""
    return {
        "click_log_id": spec.click_log_id,
        "method": estimate.method,
        "propensities": estimate.values.tolist(),
        "lower": _bounds(estimate.lower),
        "upper": _bounds(estimate.upper),
        "intercepts": None if estimate.intercepts is None else estimate.intercepts.tolist(),
        "intercepts_lower": _bounds(estimate.intercepts_lower),
        "intercepts_upper": _bounds(estimate.intercepts_upper),
        "impressions": [int(count) for count in estimate.impressions],
        "pairs": estimate.n_pairs,
        "units": estimate.units,
        "failed_resamples": estimate.failed_resamples,
        "sentence": estimate.summary,
    }


def _bounds(bounds: Float64Array | None) -> list[float] | None:
    """Return the interval bounds as a list, None without resamples."""
    return None if bounds is None or np.isnan(bounds).all() else bounds.tolist()


def _irrelevant_finding(share: float, estimate: Propensities) -> Finding:
    total = int(estimate.impressions.sum())
    return Finding(
        code="assumed-irrelevant",
        severity="info",
        title=f"The {share:.1%} of impressions with the lowest predicted relevance count as irrelevant.",
        advice="Clicks determine relevance only up to a factor and a shift. The affine correction does not"
        " depend on the factor, and this assumption sets the shift. If these documents are often"
        " relevant, the intercepts are too high: decrease irrelevant_share.",
        count=round(share * total),
        total=total,
        unit="impressions",
    )


def _features(run: JobRun, log: ClickLog, dataset_id: str) -> Float32Array:
    """Return the features of a log's query-document pairs, NaN for pairs that the dataset lacks."""
    dataset = load_dataset(run.store, run.caches, dataset_id).dataset
    rows = rows_of_pairs(log, dataset)
    features = np.full((log.n_pairs, dataset.n_features), np.nan, np.float32)
    present = np.flatnonzero(rows >= 0)
    features[present] = dataset.features[rows[present]]
    return features
