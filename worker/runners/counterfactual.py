"""Run counterfactual evaluations."""

from dataclasses import asdict

from core.jobs.counterfactual import CounterfactualJob
from worker.job.counterfactual import estimate_systems
from worker.job.run import JobRun


def run_counterfactual(run: JobRun, spec: CounterfactualJob) -> None:
    """Rank a dataset by every system and estimate the metric of the rankings from a click log.

    Raises:
        InvalidInput: The log lacks data that the estimator needs, or has no query that all systems rank.
        NotFound: The log, the dataset or a system was deleted.
        FeaturesAbsent: The dataset lacks most features that a model uses.
    """
    result, findings = estimate_systems(run, spec, spec.systems, spec, spec.seed)
    run.reporter.report(findings=findings or None)
    with run.succeeding({"click_log_id": spec.click_log_id, **asdict(result)}):
        pass
