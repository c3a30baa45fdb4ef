"""Run counterfactual evaluations."""

from dataclasses import asdict
from typing import cast

from core.clicks.counterfactual import (
    Estimator,
    NewRanking,
    counterfactual_result,
    evaluate_rankings,
    join_scores,
    rank_weights,
)
from core.jobs.counterfactual import CounterfactualJob
from worker.job.click_logs import load_click_log
from worker.job.datasets import load_dataset
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.systems import rank_by


def run_counterfactual(run: JobRun, spec: CounterfactualJob) -> None:
    """Rank a dataset by every system and estimate the metric of the rankings from a click log.

    Raises:
        InvalidInput: The log lacks what the estimator needs, or has no query that all systems rank.
        NotFound: The log, the dataset or a system is gone.
        FeaturesAbsent: The dataset lacks most features that a model uses.
    """
    run.reporter.phase("loading")
    log = load_click_log(run, spec.click_log_id)
    dataset = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    rankings: list[NewRanking] = []
    findings: list[Values] = []
    for system in spec.systems:
        run.reporter.phase(f"scoring by {system.name}")
        ranked = rank_by(run, spec, system, dataset)
        judged = ranked.judgments
        ids = (judged.query_ids, judged.document_ids)
        rankings.append(join_scores(system.name, log, *ids, judged.query_boundaries, ranked.scores))
        findings += ranked.findings_json or ()
    run.reporter.phase("estimating")
    estimates = evaluate_rankings(
        log,
        rankings,
        rank_weights(spec.metric),
        cast("Estimator", spec.estimator),
        normalised=spec.normalised,
        clip=spec.clip,
        examination=spec.examination,
        seed=spec.seed,
        threads=run.threads,
    )
    run.reporter.report(findings=findings or None)
    result = counterfactual_result(spec.metric, spec.estimator, estimates)
    with run.succeeding({"click_log_id": spec.click_log_id, **asdict(result)}):
        pass
