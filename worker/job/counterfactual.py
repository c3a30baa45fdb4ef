"""Estimate a metric of systems from a click log."""

from collections.abc import Sequence
from typing import cast

from core.clicks.counterfactual import (
    CounterfactualResult,
    Estimator,
    NewRanking,
    counterfactual_result,
    evaluate_rankings,
    join_scores,
    rank_weights,
)
from core.evaluation import CounterfactualRule
from core.jobs import JobSpec, System
from core.jobs.clicks import CounterfactualJob
from worker.job.click_logs import load_click_log
from worker.job.datasets import load_dataset
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.systems import score_system

# Both have the options of an estimate.
_Estimation = CounterfactualJob | CounterfactualRule


def estimate_systems(
    run: JobRun, spec: JobSpec, systems: Sequence[System], estimation: _Estimation, seed: int
) -> tuple[CounterfactualResult, list[Values]]:
    """Rank a dataset by every system and estimate the metric of the rankings; return findings, too.

    Raises:
        InvalidInput: The log lacks data that the estimator needs, or has no query that all systems rank.
        NotFound: The log, the dataset or a system was deleted.
        FeaturesAbsent: The dataset lacks most features that a model uses.
    """
    run.reporter.phase("loading")
    log = load_click_log(run, estimation.click_log_id)
    dataset = load_dataset(run.store, run.caches, str(estimation.dataset_id)).dataset
    rankings: list[NewRanking] = []
    findings: list[Values] = []
    for system in systems:
        run.reporter.phase(f"scoring by {system.name}")
        ranked = score_system(run, spec, system, dataset)
        judged = ranked.judgments
        ids = (judged.query_ids, judged.document_ids)
        rankings.append(join_scores(system.name, log, *ids, judged.query_boundaries, ranked.scores))
        findings += ranked.findings_json or ()
    run.reporter.phase("estimating")
    estimates = evaluate_rankings(
        log,
        rankings,
        rank_weights(estimation.metric),
        cast("Estimator", estimation.estimator),
        normalised=estimation.normalised,
        clip=estimation.clip,
        examination=estimation.examination,
        examination_errors=estimation.examination_errors,
        seed=seed,
        threads=run.threads,
    )
    return counterfactual_result(estimation.metric, estimation.estimator, estimates), findings
