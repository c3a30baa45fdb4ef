"""Run estimates of propensities."""

from typing import Any

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.propensities import Propensities, estimate_propensities
from core.clicks.training_data import rows_of_pairs
from core.jobs.propensity import PropensityJob
from core.types import Float32Array
from worker.job.click_logs import load_click_log
from worker.job.datasets import load_dataset
from worker.job.progress import counting
from worker.job.run import JobRun


def run_propensity(run: JobRun, spec: PropensityJob) -> None:
    """Estimate the propensities of a click log; the result of the job has them with intervals.

    Raises:
        InvalidInput: The log cannot identify them, or has no features for `regression-em`.
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
    with run.succeeding(propensities_json(spec, found)):
        pass


def propensities_json(spec: PropensityJob, found: Propensities) -> dict[str, Any]:
    """Return estimated propensities as the result of a job."""
    has_intervals = not np.isnan(found.lower).all()
    return {
        "click_log_id": spec.click_log_id,
        "method": found.method,
        "propensities": found.values.tolist(),
        "lower": found.lower.tolist() if has_intervals else None,
        "upper": found.upper.tolist() if has_intervals else None,
        "impressions": [int(count) for count in found.impressions],
        "pairs": found.n_pairs,
        "units": found.units,
        "failed_resamples": found.failed_resamples,
        "sentence": found.summary,
    }


def _features(run: JobRun, log: ClickLog, dataset_id: str) -> Float32Array:
    """Return the features of the pairs of a log, NaN for those that the dataset does not have."""
    dataset = load_dataset(run.store, run.caches, dataset_id).dataset
    rows = rows_of_pairs(log, dataset)
    features = np.full((log.n_pairs, dataset.n_features), np.nan, np.float32)
    known = np.flatnonzero(rows >= 0)
    features[known] = dataset.features[rows[known]]
    return features
