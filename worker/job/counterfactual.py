"""Estimate a metric of systems from a click log."""

from collections.abc import Sequence
from typing import Protocol, cast

from core.clicks.counterfactual import (
    CounterfactualResult,
    Estimator,
    NewRanking,
    counterfactual_result,
    evaluate_rankings,
    join_scores,
    rank_weights,
)
from core.jobs import JobSpec, System
from worker.job.click_logs import load_click_log
from worker.job.datasets import load_dataset
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.systems import rank_by


class Estimation(Protocol):
    """The options of an estimate, see `core.jobs.counterfactual.CounterfactualJob`."""

    @property
    def click_log_id(self) -> str:
        """Return the id of the click log."""

    @property
    def dataset_id(self) -> str | None:
        """Return the id of the dataset with the documents that the systems rank."""

    @property
    def metric(self) -> str:
        """Return the name of the metric, such as `dcg@10`."""

    @property
    def estimator(self) -> str:
        """Return the name of the estimator."""

    @property
    def normalised(self) -> bool:
        """Return whether the estimator divides by the mean weight."""

    @property
    def clip(self) -> float | None:
        """Return the largest weight, None for no clipping."""

    @property
    def examination(self) -> tuple[float, ...] | None:
        """Return the examination probability of each rank from 1, or None."""


def estimate_systems(
    run: JobRun, spec: JobSpec, systems: Sequence[System], estimation: Estimation, seed: int
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
        ranked = rank_by(run, spec, system, dataset)
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
        seed=seed,
        threads=run.threads,
    )
    return counterfactual_result(estimation.metric, estimation.estimator, estimates), findings
