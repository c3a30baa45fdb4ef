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
    report = counting(run.reporter, "estimating")

    def on_resample(done: int, total: int) -> None:
        run.lease.check()
        report(done, total)

    found = estimate_propensities(log, spec.plan, features, on_resample, run.threads)
    if found.intercepts is not None:
        run.reporter.report(findings=[asdict(_irrelevant_finding(spec.plan.irrelevant_share, found))])
    with run.succeeding(propensities_json(spec, found)):
        pass


def propensities_json(spec: PropensityJob, found: Propensities) -> dict[str, Any]:
    """Return estimated propensities as the JSON of a job's result."""
    return {
        "click_log_id": spec.click_log_id,
        "method": found.method,
        "propensities": found.values.tolist(),
        "lower": _bounds(found.lower),
        "upper": _bounds(found.upper),
        "intercepts": None if found.intercepts is None else found.intercepts.tolist(),
        "intercepts_lower": _bounds(found.intercepts_lower),
        "intercepts_upper": _bounds(found.intercepts_upper),
        "impressions": [int(count) for count in found.impressions],
        "pairs": found.n_pairs,
        "units": found.units,
        "failed_resamples": found.failed_resamples,
        "sentence": found.summary,
    }


def _bounds(ends: Float64Array | None) -> list[float] | None:
    """Return the interval bounds as a list, None without resamples."""
    return None if ends is None or np.isnan(ends).all() else ends.tolist()


def _irrelevant_finding(share: float, found: Propensities) -> Finding:
    total = int(found.impressions.sum())
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
    known = np.flatnonzero(rows >= 0)
    features[known] = dataset.features[rows[known]]
    return features
